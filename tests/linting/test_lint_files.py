"""Every kind of fault in a file has a code of its own, told from what the reader really says."""

from pathlib import Path
from typing import get_args

import pytest

from scheduler.definitions import load_folder
from scheduler.files import DefinitionError, Problem
from scheduler.linting.codes import FileCode
from scheduler.linting.problems import problem_code, problem_finding

JOB = "jobs: [{id: a, schedule: {cron: '0 9 * * *', timezone: UTC}}]\n"
FAULTS: list[tuple[str, str, str]] = [
    # code, file name, text
    ("yaml_quote", "a.yaml", "jobs:\n  - {id: a, schedule: {cron: @daily, timezone: UTC}}\n"),
    ("yaml_quote", "a.yaml", "jobs:\n  - id: a\n    schedule: * * * * *\n"),
    ("yaml_type", "a.yaml", "jobs: [{id: a, schedule: {cron: '0 9 * * *', timezone: No}}]"),
    ("yaml_type", "a.yaml", "jobs: [{id: a, schedule: {at: 12:30, timezone: UTC}}]"),
    ("yaml_type", "a.yaml", f"jobs: [{{id: {'1' * 41}}}]"),
    ("yaml_syntax", "a.yaml", "jobs: [{id: a}"),
    ("yaml_tag", "a.yaml", "jobs: !!python/object/apply:os.system [id]"),
    ("duplicate", "a.yaml", "jobs: [{id: a, id: b}]"),
    ("duplicate", "a.yaml", "jobs: [{id: a}, {id: a}]"),
    ("unreadable", "b.yml", JOB),
    ("unreadable", "b.yaml", "#" * (1024 * 1024 + 1)),
    ("unreadable", "b.yaml", "[" * 60 + "]" * 60),
    ("unknown_key", "a.yaml", "jobs: [{id: a, shedule: {every: 5m}}]"),
    ("unknown_key", "a.yaml", "jobs: [{<<: {id: a}, id: b}]"),
    ("unavailable", "a.yaml", "jobs: [{id: a, lock: payments}]"),
    ("missing_key", "a.yaml", "jobs: [{owner: me}]"),
    ("missing_zone", "a.yaml", "jobs: [{id: a, schedule: {cron: '0 9 * * *'}}]"),
    ("unknown_zone", "a.yaml", "jobs: [{id: a, schedule: {cron: '0 9 * * *', timezone: Berlin}}]"),
    ("zone_in_cron", "a.yaml", "jobs: [{id: a, schedule: {cron: 'TZ=Europe/Berlin 0 2 * * *', timezone: UTC}}]"),
    ("never_fires", "a.yaml", "jobs: [{id: a, schedule: {cron: '0 0 30 2 *', timezone: UTC}}]"),
    ("bad_cron", "a.yaml", "jobs: [{id: a, schedule: {cron: '_ */3 * * *', timezone: UTC}}]"),
    ("bad_cron", "a.yaml", "jobs: [{id: a, schedule: {cron: '0 0 12 ? * MON-FRI', timezone: UTC}}]"),
    ("bad_cron", "a.yaml", "jobs: [{id: a, schedule: {cron: '@dayly', timezone: UTC}}]"),
    (
        "unknown_calendar",
        "a.yaml",
        "jobs: [{id: a, schedule: {cron: '0 9 * * *', timezone: UTC, calendar: idn, holidays: skip}}]",
    ),
    ("unknown_calendar", "a.yaml", "calendars: {x: {country: ZZ}}"),
    ("unknown_calendar", "a.yaml", "calendars: {x: {country: US, subdivision: QQ}}"),
    ("unknown_calendar", "a.yaml", "calendars: {x: {market: FOO}}"),
    ("unknown_calendar", "a.yaml", "calendars: {x: {union: [nope]}}"),
    ("definition", "a.yaml", "jobs: [{id: a, run: {command: [x], timeout: 5}}]"),
    ("definition", "a.yaml", "jobs: [{id: a, schedule: {at: '09:30', timezone: UTC}}]"),
    ("definition", "a.yaml", "jobs: 5"),
]


def problems(folder: Path, name: str, text: str) -> tuple[Problem, ...]:
    (folder / name).write_text(text)
    with pytest.raises(DefinitionError) as caught:
        load_folder(folder)
    return caught.value.problems


@pytest.mark.parametrize(("code", "name", "text"), FAULTS, ids=[f"{code}-{n}" for n, (code, _, _) in enumerate(FAULTS)])
def test_a_fault_of_a_file_has_the_code_of_its_kind(tmp_path: Path, code: str, name: str, text: str) -> None:
    assert code in [problem_code(problem) for problem in problems(tmp_path, name, text)]


@pytest.mark.parametrize(("code", "name", "text"), FAULTS, ids=[f"{code}-{n}" for n, (code, _, _) in enumerate(FAULTS)])
def test_only_what_has_no_kind_is_called_a_definition(tmp_path: Path, code: str, name: str, text: str) -> None:
    (tmp_path / "good.yaml").write_text(JOB.replace("id: a", "id: good"))
    found = {problem_code(problem) for problem in problems(tmp_path, name, text)}
    # A number to base 60 is also no instant, and both are said.
    assert found <= {code, "definition"}


def test_every_code_of_a_file_is_shown_here_by_a_real_fault() -> None:
    assert {code for code, _, _ in FAULTS} == set(get_args(FileCode))


def test_an_error_says_file_and_line_and_what_the_reader_says(tmp_path: Path) -> None:
    (problem,) = problems(tmp_path, "a.yaml", "jobs:\n  - {id: a, schedule: {cron: '0 0 30 2 *', timezone: UTC}}\n")
    finding = problem_finding(problem)
    assert (finding.level, finding.code, finding.where) == ("error", "never_fires", f"{tmp_path}/a.yaml:2")
    assert finding.message == (
        "jobs[0].schedule.cron: '0 0 30 2 *' can never fire; write a day that one of its months has"
    )


def test_a_file_that_can_not_be_read_has_no_line(tmp_path: Path) -> None:
    (problem,) = problems(tmp_path, "a.yml", JOB)
    assert problem_finding(problem).where == f"{tmp_path}/a.yml"
