"""`tepat run`: asks the service to run a job now, or to make up a slot. The work is done by a worker, not here."""

import json
import os
from argparse import ArgumentParser, Namespace
from typing import Any
from urllib.parse import quote

from control import inputs
from scheduler.instants import format_instant


def configure(parser: ArgumentParser) -> None:
    """The arguments of `tepat run`."""
    parser.add_argument("job", help="the job's id")
    parser.add_argument("--slot", metavar="T", help="make up this slot (RFC 3339) instead of running an extra run")
    parser.add_argument("--key", metavar="KEY", help="deduplication key: the same key again starts nothing new")
    parser.add_argument("--json", action="store_true", help="the service's answer as JSON")


def run(arguments: Namespace) -> int:
    """Ask for the run and print its id; 3 when the service does not answer."""
    from control.service_client import call, endpoint

    url, token = endpoint(os.environ)
    answer = call("POST", f"{url}/api/v1/jobs/{quote(arguments.job, safe='')}/runs", token, _body(arguments))
    if arguments.json:
        print(json.dumps(answer))
    else:
        print(answer.get("run") or answer.get("run_id") or answer.get("id") or json.dumps(answer))
    return 0


def _body(arguments: Namespace) -> dict[str, Any]:
    slot = inputs.instant("--slot", arguments.slot) if arguments.slot else None
    return {"key": arguments.key, "slot": None if slot is None else format_instant(slot)}
