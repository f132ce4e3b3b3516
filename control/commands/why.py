"""`tepat why`: why a job did or did not run at an instant, or what became of a run, in words. Decides nothing."""

import json
import os
from argparse import ArgumentParser, Namespace
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

from control import inputs
from control.commands import UnreachableError, UsageError
from scheduler.instants import format_instant
from scheduler.jobs import Job

NO_RUNS = "This comes from the files alone, which know no runs; without --dir the service is asked."


def configure(parser: ArgumentParser) -> None:
    """The arguments of `tepat why`."""
    parser.add_argument("what", metavar="JOB|RUN", help="a job with --at, or a run's id (with @ or ! in it)")
    parser.add_argument("--at", metavar="T", help="the instant in question (RFC 3339)")
    parser.add_argument("--dir", type=Path, metavar="DIR", help="answer from job files alone; they know no runs")
    parser.add_argument("--json", action="store_true", help='{"job", "run", "at", "slot", "owed", "code", "sentences"}')


def run(arguments: Namespace) -> int:
    """Print the sentences; 2 when job, run or instant can't be used, 3 when the service can't be reached."""
    is_run = "@" in arguments.what or "!" in arguments.what
    if is_run == (arguments.at is not None):
        raise UsageError("give either a JOB with --at T, or a RUN (such as billing@2026-03-29T00:30:00Z) without it")
    answer = _of_files(arguments, is_run) if arguments.dir else _of_service(arguments, is_run)
    if arguments.json:
        print(json.dumps(answer, indent=2))
    else:
        for sentence in answer["sentences"]:
            print(sentence)
    return 0


def _of_files(arguments: Namespace, is_run: bool) -> dict[str, Any]:
    from scheduler.explaining.why import OutOfRangeError, Version, explain

    name, _, text = arguments.what.partition("@") if is_run else (arguments.what, "", arguments.at)
    if not text:
        raise UsageError(f"{arguments.what} belongs to no slot, and files know no runs; ask the service, without --dir")
    at = inputs.instant(arguments.what if is_run else "--at", text)
    job = _job(arguments.dir, name)
    try:
        found = explain([Version(job=job, valid_from=job.valid_from)], at)
    except OutOfRangeError as error:
        raise UsageError(str(error)) from None
    return {
        "job": job.id,
        "run": None,
        "at": format_instant(found.at),
        "slot": None if found.slot is None else format_instant(found.slot),
        "owed": found.owed,
        "code": found.code,
        "sentences": [*found.sentences, NO_RUNS],
    }


def _job(folder: Path, name: str) -> Job:
    jobs = {job.id: job for job in inputs.definitions(folder).jobs}
    if name not in jobs:
        known = ", ".join(sorted(jobs)[:20]) or "none"
        raise UsageError(f"{name!r} is not a job of {folder}; it has: {known}")
    return jobs[name]


def _of_service(arguments: Namespace, is_run: bool) -> dict[str, Any]:
    from control.service_client import call, endpoint

    url, token = endpoint(os.environ)
    what = quote(arguments.what, safe="")
    if is_run:
        answer = call("GET", f"{url}/api/v1/runs/{what}/why", token)
    else:
        at = format_instant(inputs.instant("--at", arguments.at))
        answer = call("GET", f"{url}/api/v1/jobs/{what}/why?{urlencode({'at': at})}", token)
    if not isinstance(answer, dict) or not isinstance(answer.get("sentences"), list):
        raise UnreachableError(f"{url} does not answer as Tepat does; check TEPAT_URL")
    return answer
