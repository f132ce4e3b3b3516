"""The command of a systemd service as the `run` of a job. Pure.

systemd's command lines are no shell's: words are split, `$NAME` and `%i` are filled in. Where that makes a difference,
it is said, and a shell fills in the variables.
"""

import re
import shlex
from dataclasses import dataclass, field

from scheduler.importers.imported import NO_LIMIT, Document, Gathering
from scheduler.importers.masking import looks_secret, masked, without_secrets
from scheduler.importers.time_spans import systemd_span
from scheduler.importers.units import Unit, Value
from scheduler.instants import format_duration
from scheduler.jobs import Command
from scheduler.linting.commands import command_notes

_CARRIED = frozenset(
    {"ExecStart", "Environment", "WorkingDirectory", "TimeoutStartSec", "TimeoutSec", "TimeoutStopSec", "RuntimeMaxSec"}
)
_PREFIX = re.compile(r"[-@:+!|]*")
_SPECIFIER = re.compile(r"%[A-Za-z]")


@dataclass(slots=True)
class _Service:
    unit: Unit
    gathering: Gathering
    wrong: bool = False
    secrets: list[str] = field(default_factory=list)

    def say(self, code: str, value: Value | None, message: str) -> None:
        where = f"{self.unit.name}:{value.line}" if value else self.unit.name
        self.gathering.say(code, where, message)


def read_service(unit: Unit, gathering: Gathering) -> Document | None:
    """The `run` of a job, or None when there is no command that could be carried over; findings say why."""
    service = _Service(unit, gathering)
    commands = unit.all("Service", "ExecStart")
    if not commands:
        service.say("no_command", None, "there is no ExecStart= in the service; the job is only watched")
    words = [_words(service, value) for value in commands]
    _left_behind(service)
    if not words or service.wrong:
        return None
    run = _command(service, words)
    folder = unit.last("Service", "WorkingDirectory").removeprefix("-")
    env = _environment(service)
    extra = {"cwd": folder if folder.startswith("/") else None, "env": env or None}
    return run | {key: value for key, value in extra.items() if value} | _limits(service)


def _words(service: _Service, value: Value) -> str:
    """One command line as a shell reads it, and what its prefixes and specifiers mean said."""
    prefix = _PREFIX.match(value.text)
    assert prefix is not None
    text = value.text[prefix.end() :]
    if "-" in prefix[0]:
        service.say(
            "exit_code_hidden",
            value,
            "the - before the command makes its failure a success; the last command's is seen here",
        )
    others = prefix[0].replace("-", "")
    if others:
        service.say("not_carried", value, f"the {others} before the command changes how systemd starts it")
    if _SPECIFIER.search(text.replace("%%", "")):
        service.wrong = True
        found = _SPECIFIER.search(text.replace("%%", ""))
        assert found is not None
        service.say(
            "specifier", value, f"{found[0]} in {_shown(text)} is filled in by systemd alone; write the value out"
        )
    return text.replace("%%", "%")


def _command(service: _Service, lines: list[str]) -> Document:
    """A list of words where nothing needs a shell; else a shell text that stops at the first failure."""
    first = service.unit.all("Service", "ExecStart")[0]
    plain = len(lines) == 1 and "$" not in lines[0] and without_secrets(lines[0])[0] == lines[0]
    try:
        split = [shlex.split(line) for line in lines]
    except ValueError as error:
        service.say("expansion", first, f"the quotes of ExecStart are not a shell's ({error}); check the command")
        split = []
    if plain and split:
        _say_of_shells(service, first, split[0])
        return {"command": split[0]}
    if any("$" in line for line in lines):
        said = "systemd fills in $NAME itself; here a shell does, which also splits an unquoted one at blanks"
        service.say("expansion", first, said)
    ignored = [value.text.startswith("-") for value in service.unit.all("Service", "ExecStart")]
    steps = [_quoted(line) for line in lines]
    # A failure that systemd passes over must not keep the next command from starting.
    steps = [
        f"{{ {step} || true; }}" if skip else step for step, skip in zip(steps[:-1], ignored, strict=False)
    ] + steps[-1:]
    text, names = without_secrets(" && ".join(steps))
    for name in names:
        said = f"the command holds what looks like a secret: the variable {name} takes its place; set it from a file"
        service.say("secret", first, said)
    return {"command": text, "shell": True}


def _say_of_shells(service: _Service, value: Value, words: list[str]) -> None:
    for note in command_notes(Command(argv=tuple(words))):
        service.say(note.code, value, f"the command {masked(note.message)}")


def _quoted(line: str) -> str:
    # A systemd line has no joining signs: `;` or `|` is a word like any other, and a shell must not act on it.
    return re.sub(r"(?<!\S)([;|&<>]+)(?!\S)", r"'\1'", line)


def _environment(service: _Service) -> dict[str, str]:
    found: dict[str, str] = {}
    for value in service.unit.all("Service", "Environment"):
        try:
            pairs = shlex.split(value.text)
        except ValueError:
            service.say("not_carried", value, "Environment= has quotes that can't be read; write it as `run.env`")
            continue
        for pair in pairs:
            name, _, text = pair.partition("=")
            if looks_secret(name, text):
                said = f"{name} looks like a secret: its value is not written into the job file; read it from a file"
                service.say("secret", value, said)
            else:
                found[name] = text.replace("%%", "%")
    return found


def _limits(service: _Service) -> Document:
    unit = service.unit
    oneshot = unit.last("Service", "Type") == "oneshot"
    keys = ("RuntimeMaxSec", "TimeoutStartSec", "TimeoutSec") if oneshot else ("RuntimeMaxSec",)
    spans = [span for span in (systemd_span(unit.last("Service", key)) for key in keys) if span]
    limit = min(spans) if spans else NO_LIMIT
    if not spans:
        said = (
            f"systemd never ends a run of it: written as `timeout: {format_duration(limit)}`; set what the job may need"
        )
        service.say("no_time_limit", None, said)
    stop = systemd_span(unit.last("Service", "TimeoutStopSec"))
    return {"timeout": format_duration(limit)} | ({"grace": format_duration(stop)} if stop is not None else {})


def _left_behind(service: _Service) -> None:
    for section, keys in service.unit.sections.items():
        carried = _CARRIED if section == "Service" else {"Description"} if section == "Unit" else frozenset()
        for key, values in keys.items():
            if key in carried or not values or section == "Install" or (key == "Type" and values[-1].text == "oneshot"):
                continue
            shown = ", ".join(_shown(value.text) for value in values[:3])
            service.say("not_carried", values[-1], f"{key}={shown} of [{section}] has no key in a job file")


def _shown(text: str) -> str:
    return masked(" ".join(text.split()))[:120]
