"""A job as JSON comes back equal, whatever it holds, and its digest tells equal jobs from different ones."""

import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from scheduler.definitions import digest, job_from_json, job_to_json
from scheduler.jobs import Calendar, Command, History, HttpCall, Job, OnTime, Repeat, Retry, Schedule, Window

_TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=20)
_SPAN = st.timedeltas(timedelta(0), timedelta(days=3660))
_INSTANT = st.datetimes(datetime(1970, 1, 1), datetime(2200, 1, 1), timezones=st.just(UTC))  # noqa: DTZ001
_PAIRS = st.dictionaries(_TEXT, _TEXT, max_size=3)
_SECONDS = st.integers(0, 86_399)
_DATES = st.lists(st.dates(), max_size=3).map(tuple)
_CALENDAR = st.recursive(
    st.builds(
        Calendar,
        name=_TEXT,
        country=st.none() | _TEXT,
        market=st.none() | _TEXT,
        dates=_DATES,
        add=_DATES,
        remove=_DATES,
        weekend=st.none() | st.lists(st.integers(0, 6), max_size=3).map(tuple),
    ),
    lambda inner: st.builds(Calendar, name=_TEXT, union=st.lists(inner, max_size=3).map(tuple)),
    max_leaves=4,
)
_REPEAT = st.builds(
    Repeat,
    count=st.integers(1, 999),
    unit=st.sampled_from(["day", "week", "month", "year"]),
    times=st.lists(_SECONDS, max_size=3).map(tuple),
    starting=st.dates(),
    on=st.lists(_TEXT, max_size=3).map(tuple),
)
_ONE = {
    "timezone": _TEXT,
    "cron": st.none() | _TEXT,
    "dialect": st.sampled_from(["crontab", "quartz", "aws"]),
    "every": st.none() | _SPAN,
    "anchor": _INSTANT,
    "at": st.lists(_INSTANT, max_size=3).map(tuple),
    "repeat": st.none() | _REPEAT,
    "dst": st.sampled_from(["once", "skip", "literal"]),
    "jitter": _SPAN,
    "calendar": st.none() | _CALENDAR,
    "holidays": st.none() | st.sampled_from(["skip", "next_business_day", "previous_business_day"]),
    "business_day_starts": _SECONDS,
}
_SCHEDULE = st.builds(Schedule, also=st.lists(st.builds(Schedule, **_ONE), max_size=2).map(tuple), **_ONE)
_COMMAND = st.builds(
    Command,
    argv=st.lists(_TEXT, min_size=1, max_size=3).map(tuple),
    shell=st.booleans(),
    timeout=_SPAN,
    grace=_SPAN,
    cwd=st.none() | _TEXT,
    env=_PAIRS,
    http=st.none()
    | st.builds(
        HttpCall,
        url=_TEXT,
        method=_TEXT,
        headers=_PAIRS,
        secret_headers=_PAIRS,
        body=st.none() | _TEXT,
        expect=st.lists(st.integers(200, 599), max_size=3).map(tuple),
        idempotency_header=_TEXT,
    ),
)
_RETRY = st.builds(
    Retry,
    attempts=st.integers(1, 100),
    initial=_SPAN,
    factor=st.floats(1, 100),
    max=_SPAN,
    jitter=st.sampled_from(["full", "none"]),
    on_exit=st.lists(st.integers(1, 255), max_size=3).map(tuple),
)
_JOBS = st.builds(
    Job,
    id=_TEXT,
    schedule=st.none() | _SCHEDULE,
    description=_TEXT,
    labels=_PAIRS,
    on_time=st.builds(OnTime, start_within=st.none() | _SPAN, complete_within=st.none() | _SPAN),
    run=st.none() | _COMMAND,
    retry=_RETRY,
    overlap=st.sampled_from(["forbid", "allow", "replace", "queue"]),
    catch_up=st.sampled_from(["none", "latest", "all"]),
    priority=st.sampled_from(["critical", "important", "background"]),
    concurrency=st.none() | st.integers(1, 10_000),
    early=_SPAN,
    catch_up_limit=st.integers(1, 10_000),
    catch_up_deadline=st.none() | _SPAN,
    start_deadline=st.none() | _SPAN,
    run_deadline=st.none() | _SPAN,
    window=st.none() | st.builds(Window, start=_SECONDS, end=_SECONDS, timezone=_TEXT),
    history=st.none() | st.builds(History, succeeded=st.none() | st.integers(0), failed=st.none() | st.integers(0)),
    enabled=st.booleans(),
    valid_from=st.none() | _INSTANT,
)


@given(_JOBS)
def test_a_job_comes_back_from_its_json_text_equal(job: Job) -> None:
    assert job_from_json(json.loads(json.dumps(job_to_json(job)))) == job


@given(_JOBS)
def test_a_job_that_came_back_has_the_same_digest(job: Job) -> None:
    assert digest(job_from_json(job_to_json(job))) == digest(job)


@given(_JOBS, _JOBS)
def test_digests_are_equal_exactly_when_jobs_are(one: Job, other: Job) -> None:
    assert (digest(one) == digest(other)) == (one == other)


def test_the_order_of_labels_does_not_change_the_digest() -> None:
    assert digest(Job(id="a", labels={"x": "1", "y": "2"})) == digest(Job(id="a", labels={"y": "2", "x": "1"}))


@pytest.mark.parametrize("change", [{"enabled": False}, {"queue": "q"}, {"early": timedelta(microseconds=1)}])
def test_any_change_changes_the_digest(change: dict[str, object]) -> None:
    job = Job(id="a")
    assert digest(replace(job, **change)) != digest(job)  # type: ignore[arg-type]


@pytest.mark.parametrize("raw", [{}, {"id": 3}, {"id": "a", "overlap": "maybe"}, {"id": "a", "early": "soon"}])
def test_json_that_is_no_job_is_refused(raw: dict[str, object]) -> None:
    with pytest.raises(msgspec.ValidationError):
        job_from_json(raw)
