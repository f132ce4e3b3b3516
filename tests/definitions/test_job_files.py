"""Job files: what is right becomes a job, what is wrong is named with file, line, field and remedy, all at once."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import yaml
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scheduler.definitions import DefinitionError, Problem, define, load_folder
from scheduler.files import Document
from scheduler.jobs import Command, Job, OnTime, Retry, Schedule
from scheduler.problems import UNAVAILABLE

Write = Callable[..., Path]


def problems_of(folder: Path) -> tuple[Problem, ...]:
    with pytest.raises(DefinitionError) as caught:
        load_folder(folder)
    return caught.value.problems


def problem_of(write: Write, line: str) -> Problem:
    """The one problem of a job that has `line` on line 4."""
    found = problems_of(write(f"defaults: {{timezone: UTC}}\njobs:\n  - id: a\n    {line}\n"))
    assert len(found) == 1, [str(problem) for problem in found]
    assert found[0].line == 4
    return found[0]


def job_of(write: Write, line: str) -> Job:
    return load_folder(write(f"defaults: {{timezone: UTC}}\njobs:\n  - id: a\n    {line}\n")).jobs[0]


def test_a_job_with_every_key_is_read_whole(write: Write) -> None:
    folder = write("""
        jobs:
          - id: billing-statement
            description: Monthly statements
            owner: team-billing
            impact: Customers get no statement
            type: report
            runbook: Call them
            labels: {class: daily, tier: critical}
            schedule: {cron: "0 2 * * *", timezone: Asia/Jakarta, dst: once, jitter: 10s}
            on_time: {start_within: 2m, complete_within: 45m}
            run: {command: [./statement, --month, last], timeout: 40m, grace: 60s, cwd: work, env: {A: b}}
            retry: {attempts: 4, initial: 5s, factor: 2, max: 5m, jitter: none, on_exit: [75]}
            overlap: allow
            catch_up: all
            priority: critical
            queue: billing
            tenant: finance
            concurrency: 1
            early: 5m
            deadline: {run: 1h}
            enabled: false
            valid_from: 2026-01-01T00:00:00Z
        """)
    definitions = load_folder(folder)
    assert definitions.sources == {"billing-statement": "jobs.yaml#billing-statement"}
    assert definitions.jobs == (
        Job(
            id="billing-statement",
            description="Monthly statements",
            owner="team-billing",
            impact="Customers get no statement",
            type="report",
            runbook="Call them",
            labels={"class": "daily", "tier": "critical"},
            schedule=Schedule(timezone="Asia/Jakarta", cron="0 2 * * *", jitter=timedelta(seconds=10)),
            on_time=OnTime(start_within=timedelta(minutes=2), complete_within=timedelta(minutes=45)),
            run=Command(
                argv=("./statement", "--month", "last"),
                timeout=timedelta(minutes=40),
                grace=timedelta(minutes=1),
                cwd=str(folder / "work"),
                env={"A": "b"},
            ),
            retry=Retry(attempts=4, jitter="none", on_exit=(75,)),
            overlap="allow",
            catch_up="all",
            priority="critical",
            queue="billing",
            tenant="finance",
            concurrency=1,
            early=timedelta(minutes=5),
            run_deadline=timedelta(hours=1),
            enabled=False,
            valid_from=datetime(2026, 1, 1, tzinfo=UTC),
        ),
    )


def test_a_job_of_an_id_alone_has_the_defaults(write: Write) -> None:
    assert load_folder(write("jobs: [{id: a}]\n")).jobs == (Job(id="a"),)


def test_defaults_of_one_file_hold_for_jobs_of_another_and_a_job_overrules_them(write: Write) -> None:
    write("defaults: {timezone: Asia/Jakarta, owner: platform}\n", "tepat.yaml")
    folder = write("""
        jobs:
          - {id: a, schedule: {every: 15m}}
          - {id: b, schedule: {every: 15m, timezone: UTC}, owner: ""}
        """)
    first, second = load_folder(folder).jobs
    assert first.schedule is not None
    assert second.schedule is not None
    assert (first.schedule.timezone, first.owner) == ("Asia/Jakarta", "platform")
    assert (second.schedule.timezone, second.owner) == ("UTC", "")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("{}", OnTime(start_within=timedelta(minutes=1))),
        ("{start_within: 2m}", OnTime(start_within=timedelta(minutes=2))),
        ("{complete_within: 2m}", OnTime(start_within=None, complete_within=timedelta(minutes=2))),
    ],
)
def test_one_minute_to_start_holds_only_when_no_limit_is_given(write: Write, text: str, expected: OnTime) -> None:
    assert job_of(write, f"on_time: {text}").on_time == expected


@pytest.mark.parametrize(
    ("macro", "fields"),
    [
        ("@hourly", "0 * * * *"),
        ("@daily", "0 0 * * *"),
        ("@midnight", "0 0 * * *"),
        ("@weekly", "0 0 * * 0"),
        ("@monthly", "0 0 1 * *"),
        ("@yearly", "0 0 1 1 *"),
        ("@annually", "0 0 1 1 *"),
    ],
)
def test_macros_become_five_fields(write: Write, macro: str, fields: str) -> None:
    schedule = job_of(write, f'schedule: {{cron: "{macro}"}}').schedule
    assert schedule is not None
    assert schedule.cron == fields


@pytest.mark.parametrize(
    ("cron", "word"),
    [
        ("61 * * * *", "Bad minute"),
        ("* * * *", "five fields"),
        ("0 0 12 ? * MON-FRI", "five fields"),
        ("@reboot", "known macro"),
        ("CRON_TZ=Asia/Tokyo 5 9 * * *", "time zone"),
        ("0 0 30 2 *", "can never fire"),
        ("0 0 31 4,6,9,11 *", "can never fire"),
        ("0 0 31 2 *", "can never fire"),
        ("5-2 * * * *", "Bad minute"),
        ("", "five fields"),
        ("1," * 200 + "1 * * * *", "200 characters"),
    ],
)
def test_a_cron_text_that_names_no_slots_is_refused_with_a_remedy(write: Write, cron: str, word: str) -> None:
    problem = problem_of(write, f'schedule: {{cron: "{cron}"}}')
    assert problem.field == "jobs[0].schedule.cron"
    assert word in f"{problem.message}; {problem.remedy}"
    assert problem.remedy


def test_a_day_that_comes_once_in_four_years_is_no_never(write: Write) -> None:
    assert job_of(write, 'schedule: {cron: "0 0 29 2 *"}').schedule is not None


@pytest.mark.parametrize(
    ("schedule", "field", "word"),
    [
        ("{}", "", "none of cron"),
        ('{cron: "@daily", every: 1h}', "", "cron and every"),
        ("{every: 0s}", ".every", "shortest interval"),
        ("{every: 30}", ".every", "no unit"),
        ("{every: soon}", ".every", "not a duration"),
        ("{every: 9999999999999999999999d}", ".every", "longer than"),
        ("{every: 1m, jitter: 1m}", "", "as long as its interval"),
        ('{cron: "@daily", anchor: 2026-01-01T00:00:00Z}', "", "anchor without"),
        ("{at: 2026-01-01T00:00:00}", ".at[0]", "offset"),
        ("{at: []}", ".at", "empty"),
        ("{every: 1m, timezone: Asia/Jakata}", ".timezone", "Asia/Jakarta"),
        ("{every: 1m, timezone: ../../etc/passwd}", ".timezone", "not a time zone"),
        ("{every: 1m, timezone: No}", ".timezone", "read as false"),
        ("{every: 1m, dst: skip}", ".dst", "not available in this version"),
        ("[{every: 1m}]", "", "several schedules"),
        ("soon", "", "not a mapping"),
    ],
)
def test_a_wrong_schedule_is_refused(write: Write, schedule: str, field: str, word: str) -> None:
    problem = problem_of(write, f"schedule: {schedule}")
    assert problem.field == f"jobs[0].schedule{field}"
    assert word in f"{problem.message}; {problem.remedy}"
    assert problem.remedy


def test_jitter_just_below_the_interval_is_fine(write: Write) -> None:
    schedule = job_of(write, "schedule: {every: 1m, jitter: 59999ms}").schedule
    assert schedule is not None
    assert schedule.jitter == timedelta(milliseconds=59_999)


def test_a_schedule_without_a_zone_anywhere_is_refused(write: Write) -> None:
    (problem,) = problems_of(write("jobs:\n  - id: a\n    schedule: {every: 1m}\n"))
    assert (problem.line, problem.message) == (3, "has no time zone")


@pytest.mark.parametrize(
    ("run", "word"),
    [
        ('{command: "df -h"}', "shell: true"),
        ("{command: [df], shell: true}", "remove shell"),
        ("{command: []}", "write a list"),
        ("{command: [sleep, 5]}", "quote it"),
        ('{command: [""]}', "no program"),
        ('{command: "a\\0b", shell: true}', "NUL"),
        ('{command: [df], cwd: "a\\0b"}', "NUL"),
        ('{command: [df], env: {A: "a\\0b"}}', "NUL"),
        ("{command: [df], timeout: 0s}", "above zero"),
        ("{command: [df], env: {A: yes}}", "read as true"),
        ("{command: [df], env: {A-B: x}}", "A-B"),
        ("{http: {url: x}, command: [df]}", "not available"),
    ],
)
def test_a_wrong_command_is_refused(write: Write, run: str, word: str) -> None:
    problem = problem_of(write, f"run: {run}")
    assert word in f"{problem.message}; {problem.remedy}"


def test_a_shell_command_is_one_text_and_runs_in_the_folder_of_its_file(write: Write) -> None:
    folder = write("jobs: [{id: a, run: {command: 'df | tail -1', shell: true}}]\n", "sub/a.yaml")
    assert load_folder(folder).jobs[0].run == Command(argv=("df | tail -1",), shell=True, cwd=str(folder / "sub"))


@pytest.mark.parametrize("key", sorted(UNAVAILABLE - {"calendars", "maintenance", "tenants"}))
def test_a_key_of_a_later_version_is_refused_by_name_and_never_ignored(write: Write, key: str) -> None:
    problem = problem_of(write, f"{key}: x")
    assert (problem.field, problem.message) == (f"jobs[0].{key}", "is not available in this version")


@pytest.mark.parametrize("key", ["calendars", "maintenance", "tenants"])
def test_a_part_of_a_later_version_is_refused_by_name(write: Write, key: str) -> None:
    (problem,) = problems_of(write(f"{key}: {{}}\n"))
    assert problem.message == "is not available in this version"


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ("concurency: 3", "did you mean `concurrency`?"),
        ("overlap: replace", "not available in this version"),
        ("overlap: maybe", "'forbid' or 'allow'"),
        ("catch_up: {mode: all, limit: 3}", "not available in this version"),
        ("owner: No", 'quote the value: "No"'),
        ("labels: {year: 2026}", 'quote the value: "2026"'),
        ("labels: {queue: x}", "field of the job"),
        ("labels: {0a: x}", "0a"),
        ("enabled: 'yes'", "write true or false"),
        ("retry: {attempts: 0}", "greater than or equal to 1"),
        ("retry: {factor: .nan}", "finite"),
        ("retry: {on_exit: 0}", "greater than or equal to 1"),
        ("retry: {on_exit: ['75']}", "integer"),
        ("concurrency: true", "integer"),
        ("queue: a b", "not an id"),
        ("deadline: {start: 1m, run: 1h}", "not available in this version"),
        ("description: [x]", "string"),
    ],
)
def test_a_wrong_value_is_answered_with_what_to_write(write: Write, line: str, word: str) -> None:
    problem = problem_of(write, line)
    assert word in f"{problem.message}; {problem.remedy}"


def test_a_value_of_the_environment_is_never_repeated(write: Write) -> None:
    problem = problem_of(write, "run: {command: [df], env: {PIN: 471199}}")
    assert problem.field == "jobs[0].run.env.PIN"
    assert "471199" not in str(problem)


def test_all_problems_of_all_files_are_reported_together(write: Write) -> None:
    write("jobs:\n  - {id: a}\n  - owner: x\njbos: []\n", "a.yaml")
    write("defaults: {timezone: Nowhere}\njobs:\n  - {id: a, queue: ''}\n", "b.yaml")
    write("defaults: {owner: y}\nx: [\n", "c.yaml")
    write("just text\n", "d.yaml")
    folder = write("defaults: {owner: y}\njobs: {id: a}\n", "e.yaml")
    found = [(Path(problem.file).name, problem.line, problem.field) for problem in problems_of(folder)]
    assert found == [
        ("a.yaml", 3, "jobs[1].id"),
        ("a.yaml", 4, "jbos"),
        ("b.yaml", 1, "defaults.timezone"),
        ("b.yaml", 3, "jobs[0].id"),
        ("b.yaml", 3, "jobs[0].queue"),
        ("c.yaml", 3, ""),
        ("d.yaml", 1, ""),
        ("e.yaml", 1, "defaults"),
        ("e.yaml", 2, "jobs"),
    ]


def test_an_id_that_stands_twice_names_both_places(write: Write) -> None:
    write("jobs:\n  - {id: a}\n", "a.yaml")
    folder = write("jobs:\n  - {id: b}\n  - {id: a}\n", "b.yaml")
    (problem,) = problems_of(folder)
    assert (problem.file, problem.line, problem.field) == (str(folder / "b.yaml"), 3, "jobs[1].id")
    assert f"{folder / 'a.yaml'}:2" in problem.message


def test_empty_files_and_empty_parts_are_fine(write: Write) -> None:
    write("# nothing yet\n", "a.yaml")
    folder = write("jobs:\ndefaults:\nslos: []\n", "b.yaml")
    assert load_folder(folder).jobs == ()


_KEYS = ["id", "schedule", "cron", "every", "at", "timezone", "run", "command", "shell", "env", "retry", "on_exit"]
_WORDS = st.sampled_from([*_KEYS, "labels", "catch_up", "on_time", "1m", "@daily", "UTC", "a", "", "x\ny", "\x00", "é"])
_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | _WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_WORDS, inner, max_size=4),
    max_leaves=12,
)


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(_VALUES, _VALUES)
def test_whatever_stands_in_a_job_the_answer_is_a_job_or_problems(jobs: object, defaults: object) -> None:
    value = {"jobs": [jobs] if isinstance(jobs, dict) else jobs, "defaults": defaults}
    document = Document("x.yaml", "x.yaml", Path("/"), value, {(): 1}, {})
    definitions, problems = define([document])
    assert problems or definitions.jobs or not jobs
    assert yaml.safe_dump([str(problem) for problem in problems])
