"""The `run` of a crontab line: the same command, in the same shell, with the same input and variables. Pure."""

import re
import shlex
from collections.abc import Mapping

from scheduler.importers.imported import NO_LIMIT, Document
from scheduler.importers.masking import masked, without_secrets
from scheduler.instants import format_duration


def run_of(command: str, given: str | None, variables: Mapping[str, str], job_id: str) -> tuple[Document, list[str]]:
    """The `run`, and what is to be said of secrets in it. `given` is the command's standard input."""
    safe, names = without_secrets(command, re.sub(r"[^A-Z0-9]+", "_", f"{job_id}_secret".upper()).lstrip("0123456789_"))
    notes = [_secret_said(name) for name in names]
    shell = variables.get("SHELL", "/bin/sh")
    start: Document = {"command": safe, "shell": True} if shell == "/bin/sh" else {"command": [shell, "-c", safe]}
    if given is not None:
        shown = masked(given)
        if shown != given:
            notes.append("the command's input holds what looks like a secret, written as ***; read it from a file")
        # Cron adds a last line end where there is none.
        fed = shlex.quote(shown if shown.endswith("\n") else f"{shown}\n")
        start = {"command": f"printf '%s' {fed} | {shell} -c {shlex.quote(safe)}", "shell": True}
    home = variables.get("HOME", "")
    cwd: Document = {"cwd": home} if home.startswith("/") else {}
    env: Document = {"env": dict(variables)} if variables else {}
    return start | cwd | env | {"timeout": format_duration(NO_LIMIT)}, notes


def _secret_said(name: str) -> str:
    return (
        f"the command holds what looks like a secret: the job file has the variable {name} in its place, and the job"
        f" ends at once without it. Put the value into a file that only the worker can read, and begin the command"
        f' with: {name}="$(cat /run/secrets/{name.lower()})";'
    )
