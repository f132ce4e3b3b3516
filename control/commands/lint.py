"""`tepat lint`: what is wrong, or unwise, in a folder of job and SLO files. Exit code 1 when something is wrong."""

import json
import os
from argparse import ArgumentParser, Namespace
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path

from control import inputs
from control.commands import UnreachableError, UsageError
from scheduler.clock import now
from scheduler.files import DefinitionError
from scheduler.findings import Finding
from scheduler.linting.jobs import job_findings
from scheduler.linting.problems import problem_finding

FIRST_YEAR, LAST_YEAR = 1970, 2199


def configure(parser: ArgumentParser) -> None:
    """The arguments of `tepat lint`."""
    parser.add_argument("dir", type=Path, metavar="DIR", help="the folder of job and SLO files")
    parser.add_argument("--year", type=int, metavar="Y", help="whose dates and clock changes to look at (default: now)")
    parser.add_argument("--service", action="store_true", help="hold measured durations (of TEPAT_URL) against limits")
    parser.add_argument("--json", action="store_true", help='{"findings": [{"level", "code", "where", "message"}]}')


def run(arguments: Namespace) -> int:
    """Print the findings; 1 when one of them is an error, 3 when a service was asked for and does not answer."""
    folder, year = inputs.folder(arguments.dir), _year(arguments.year)
    found = findings(folder, year, _durations() if arguments.service else {})
    if arguments.json:
        print(json.dumps({"findings": [asdict(finding) for finding in found]}, indent=2))
    else:
        for finding in found:
            print(f"{finding.level}: {finding.where}: {finding.message} [{finding.code}]")
        print(_summary(found))
    return 1 if any(finding.level == "error" for finding in found) else 0


def findings(folder: Path, year: int, measured: Mapping[str, float]) -> list[Finding]:
    """What is wrong with the files, each once; when nothing is, what is doubtful about what they mean.

    `measured` holds durations in seconds by job, as in `scheduler.linting.jobs`.
    """
    from slo.objectives import lint_warnings, load_configuration

    try:
        definitions, files = load_configuration(folder)
    except DefinitionError as error:
        return list(dict.fromkeys(map(problem_finding, error.problems)))
    doubts = job_findings(definitions.jobs, definitions.sources, year, measured)
    return [*doubts, *lint_warnings(files.objectives, definitions.jobs)]


def _year(given: int | None) -> int:
    year = now().year if given is None else given
    if not FIRST_YEAR <= year <= LAST_YEAR:
        raise UsageError(f"--year {year}: give a year from {FIRST_YEAR} to {LAST_YEAR}")
    return year


def _durations() -> dict[str, float]:
    """How many seconds 95 of 100 of each job's runs of the last day took at most, as the service counted them."""
    from control.service_client import call, endpoint

    url, token = endpoint(os.environ)
    answer = call("GET", f"{url}/api/v1/jobs", token)
    try:
        found = {item["id"]: item["duration_seconds"]["p95"] for item in answer["items"]}
        return {job: float(seconds) for job, seconds in found.items() if seconds is not None}
    except (TypeError, KeyError, ValueError):
        raise UnreachableError(f"{url} does not answer as Tepat does; check TEPAT_URL") from None


def _summary(found: list[Finding]) -> str:
    errors = sum(finding.level == "error" for finding in found)
    return f"errors: {errors}, warnings: {len(found) - errors}"
