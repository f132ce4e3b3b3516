"""One job or one fault out of a folder that a test has written."""

from collections.abc import Callable
from pathlib import Path

import pytest

from scheduler.definitions import DefinitionError, Problem, load_folder
from scheduler.jobs import Job, Schedule

Write = Callable[..., Path]

_JOB = "defaults: {{timezone: UTC}}\njobs:\n  - id: a\n    {}\n"


def problems_of(folder: Path) -> tuple[Problem, ...]:
    with pytest.raises(DefinitionError) as caught:
        load_folder(folder)
    return caught.value.problems


def problem_of(write: Write, line: str) -> Problem:
    """The one problem of a job that has `line` on line 4."""
    found = problems_of(write(_JOB.format(line)))
    assert len(found) == 1, [str(problem) for problem in found]
    assert found[0].line == 4
    return found[0]


def faults_of(folder: Path) -> list[str]:
    """What a user reads of each problem, without the name of the file: `4: jobs[0].overlap: 'x' is ...; use ...`."""
    return [str(problem).removeprefix(f"{problem.file}:") for problem in problems_of(folder)]


def fault_of(write: Write, line: str) -> str:
    """What a user reads about the one problem of a job that has `line`, behind `jobs[0].`."""
    problem = problem_of(write, line)
    return str(problem).removeprefix(f"{problem.file}:4: jobs[0].")


def job_of(write: Write, line: str) -> Job:
    return load_folder(write(_JOB.format(line))).jobs[0]


def schedule_of(write: Write, text: str) -> Schedule:
    schedule = job_of(write, f"schedule: {text}").schedule
    assert schedule is not None
    return schedule
