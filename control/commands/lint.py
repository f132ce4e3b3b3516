"""`tepat lint`: what is wrong, or unwise, in a folder of job and SLO files. Exit code 1 when something is wrong."""

import json
from argparse import ArgumentParser, Namespace
from dataclasses import asdict
from pathlib import Path
from typing import Any

from control import inputs
from scheduler.definitions import DefinitionError, Problem, load_folder


def configure(parser: ArgumentParser) -> None:
    """The arguments of `tepat lint`."""
    parser.add_argument("dir", type=Path, metavar="DIR", help="the folder of job and SLO files")
    parser.add_argument("--json", action="store_true", help='{"findings": [{"level", "code", "where", "message"}]}')


def run(arguments: Namespace) -> int:
    """Print the findings; 1 when one of them is an error."""
    found = findings(inputs.folder(arguments.dir))
    if arguments.json:
        print(json.dumps({"findings": found}, indent=2))
    else:
        for finding in found:
            print(f"{finding['level']}: {finding['where']}: {finding['message']} [{finding['code']}]")
        print(_summary(found))
    return 1 if any(finding["level"] == "error" for finding in found) else 0


def findings(folder: Path) -> list[dict[str, Any]]:
    """Errors of the files, each once; warnings only when there are none, because they speak of what the files mean."""
    from slo.objectives import lint_warnings, load_slo_files

    problems: list[Problem] = []
    for load in (load_folder, load_slo_files):
        try:
            load(folder)
        except DefinitionError as error:
            problems += error.problems
    if problems:
        return list({str(problem): _error(problem) for problem in problems}.values())
    return [asdict(found) for found in lint_warnings(load_slo_files(folder).objectives, load_folder(folder).jobs)]


def _error(problem: Problem) -> dict[str, str]:
    where = f"{problem.file}:{problem.line}" if problem.line else problem.file
    return {"level": "error", "code": "definition", "where": where, "message": str(problem).removeprefix(f"{where}: ")}


def _summary(found: list[dict[str, Any]]) -> str:
    errors = sum(finding["level"] == "error" for finding in found)
    return f"errors: {errors}, warnings: {len(found) - errors}"
