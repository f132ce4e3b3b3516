"""Job files: what is right becomes a job, what is wrong is named with file, line, field and remedy, all at once."""

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import pytest
import yaml
from definitions.reading import Write, job_of, problem_of, problems_of
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from scheduler.definitions import define, load_folder
from scheduler.files import Document
from scheduler.jobs import Calendar, Command, History, Job, OnTime, Retry, Schedule, Window
from scheduler.problems import UNAVAILABLE, UNAVAILABLE_TOP
from scheduler.schema_models import JobModel

EVERY_KEY = """
jobs:
  - id: billing-statement
    description: Monthly statements
    owner: team-billing
    impact: Customers get no statement
    type: report
    runbook: Call them
    labels: {class: daily, tier: critical}
    schedule:
      cron: "0 2 * * *"
      dialect: crontab
      timezone: Asia/Jakarta
      dst: literal
      calendar: bank
      holidays: next_business_day
      business_day_starts: "06:00"
      jitter: 10s
    window: {from: "22:00", to: "05:30"}
    on_time: {start_within: 2m, complete_within: 45m}
    run: {command: [./statement, --month, last], timeout: 40m, grace: 60s, cwd: work, env: {A: b}}
    retry: {attempts: 4, initial: 5s, factor: 2, max: 5m, jitter: none, on_exit: [75]}
    overlap: queue
    catch_up: {mode: all, limit: 20, deadline: 6h}
    priority: critical
    queue: billing
    tenant: finance
    concurrency: 1
    early: 5m
    deadline: {start: 200s, run: 1h}
    history: {succeeded: 3, failed: 0}
    enabled: false
    valid_from: 2026-01-01T00:00:00Z
calendars: {bank: {country: ID, add: [2026-12-26]}}
"""
SCHEDULE = Schedule(
    timezone="Asia/Jakarta",
    cron="0 2 * * *",
    dst="literal",
    calendar=Calendar(name="bank", country="ID", add=(date(2026, 12, 26),)),
    holidays="next_business_day",
    business_day_starts=6 * 3600,
    jitter=timedelta(seconds=10),
)
COMMAND = Command(
    argv=("./statement", "--month", "last"), timeout=timedelta(minutes=40), grace=timedelta(minutes=1), env={"A": "b"}
)


def job_of_every_key(folder: Path) -> Job:
    return Job(
        id="billing-statement",
        description="Monthly statements",
        owner="team-billing",
        impact="Customers get no statement",
        type="report",
        runbook="Call them",
        labels={"class": "daily", "tier": "critical"},
        schedule=SCHEDULE,
        window=Window(start=22 * 3600, end=5 * 3600 + 1800, timezone="Asia/Jakarta"),
        on_time=OnTime(start_within=timedelta(minutes=2), complete_within=timedelta(minutes=45)),
        run=replace(COMMAND, cwd=str(folder / "work")),
        retry=Retry(attempts=4, jitter="none", on_exit=(75,)),
        overlap="queue",
        catch_up="all",
        catch_up_limit=20,
        catch_up_deadline=timedelta(hours=6),
        priority="critical",
        queue="billing",
        tenant="finance",
        concurrency=1,
        early=timedelta(minutes=5),
        start_deadline=timedelta(seconds=200),
        run_deadline=timedelta(hours=1),
        history=History(succeeded=3, failed=0),
        enabled=False,
        valid_from=datetime(2026, 1, 1, tzinfo=UTC),
    )


def test_a_job_with_every_key_is_read_whole(write: Write) -> None:
    folder = write(EVERY_KEY)
    definitions = load_folder(folder)
    assert definitions.sources == {"billing-statement": "jobs.yaml#billing-statement"}
    assert definitions.jobs == (job_of_every_key(folder),)


def test_no_key_of_a_job_is_missing_from_the_job_with_every_key() -> None:
    (job,) = yaml.safe_load(EVERY_KEY)["jobs"]
    assert set(job) == set(JobModel.model_fields)


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
        ("{kubernetes: {image: x}, command: [df]}", "not available"),
        ("{http: {url: 'https://example.org/'}, command: [df]}", "both command and http"),
        ("{timeout: 5s}", "neither command nor http"),
    ],
)
def test_a_wrong_command_is_refused(write: Write, run: str, word: str) -> None:
    problem = problem_of(write, f"run: {run}")
    assert word in f"{problem.message}; {problem.remedy}"


def test_a_shell_command_is_one_text_and_runs_in_the_folder_of_its_file(write: Write) -> None:
    folder = write("jobs: [{id: a, run: {command: 'df | tail -1', shell: true}}]\n", "sub/a.yaml")
    assert load_folder(folder).jobs[0].run == Command(argv=("df | tail -1",), shell=True, cwd=str(folder / "sub"))


@pytest.mark.parametrize("key", sorted(UNAVAILABLE - UNAVAILABLE_TOP))
def test_a_key_of_a_later_version_is_refused_by_name_and_never_ignored(write: Write, key: str) -> None:
    problem = problem_of(write, f"{key}: x")
    assert (problem.field, problem.message) == (f"jobs[0].{key}", "is not available in this version")


@pytest.mark.parametrize("key", sorted(UNAVAILABLE_TOP))
def test_a_part_of_a_later_version_is_refused_by_name(write: Write, key: str) -> None:
    (problem,) = problems_of(write(f"{key}: {{}}\n"))
    assert problem.message == "is not available in this version"


@pytest.mark.parametrize(
    ("line", "word"),
    [
        ("concurency: 3", "did you mean `concurrency`?"),
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
_KEYS += ["repeat", "on", "time", "dialect", "quartz", "calendar", "holidays", "skip", "window", "from", "to", "union"]
_KEYS += ["country", "dates", "history", "deadline", "start", "mode", "limit", "labels", "catch_up", "on_time"]
_WORDS = st.sampled_from([*_KEYS, "1m", "month", "06:00", "@daily", "@reboot", "UTC", "a", "", "x\ny", "\x00", "é"])
_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | _WORDS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_WORDS, inner, max_size=4),
    max_leaves=12,
)


@settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
@given(_VALUES, _VALUES, _VALUES)
def test_whatever_stands_in_a_file_the_answer_is_jobs_or_problems(
    jobs: object, defaults: object, calendars: object
) -> None:
    value = {"jobs": [jobs] if isinstance(jobs, dict) else jobs, "defaults": defaults, "calendars": calendars}
    document = Document("x.yaml", "x.yaml", Path("/"), value, {(): 1}, {})
    definitions, problems = define([document])
    assert problems or definitions.jobs or not jobs
    assert yaml.safe_dump([str(problem) for problem in problems])
