"""Quartz, Spring and AWS schedules as watched jobs and findings. F09, F18, C19."""

from datetime import UTC, datetime, timedelta

import pytest
from importing.conftest import Load, codes, errors, options, said, sample

from scheduler.importers.imported import Imported, Source
from scheduler.importers.quartz import read_quartz
from scheduler.instants import format_instant
from scheduler.jobs import Job
from scheduler.timelaw import next_slot, slots_between


def quartz(text: str, **given: object) -> Imported:
    return read_quartz([Source("q", text)], options(**given))


def first(job: Job, after: datetime) -> str:
    assert job.schedule is not None
    found = next_slot(job.schedule, after)
    assert found is not None
    return format_instant(found)


def test_f09_a_rate_counts_from_its_creation(load: Load) -> None:
    imported = read_quartz([sample("serverless.yml")], options(dialect="aws"))
    schedule = load(imported)["everyMinute"].schedule
    assert schedule is not None and schedule.every == timedelta(minutes=1)
    (finding,) = said(imported, "anchor")
    assert finding.startswith("serverless.yml:8: ") and "creation of the rule, not from the wall clock" in finding


def test_f09_a_cron_of_aws_has_the_minute_first_and_the_year_last(load: Load) -> None:
    schedule = load(read_quartz([sample("serverless.yml")], options(dialect="aws")))["weekdays"].schedule
    assert schedule is not None and (schedule.dialect, schedule.timezone) == ("aws", "UTC")
    slots = slots_between(schedule, datetime(2026, 1, 2, 23, 57, tzinfo=UTC), datetime(2026, 1, 5, 0, 3, tzinfo=UTC))
    assert list(map(format_instant, slots)) == ["2026-01-02T23:58:00Z", "2026-01-05T00:00:00Z", "2026-01-05T00:02:00Z"]


def test_f09_what_stands_beside_an_expression_goes_with_it(load: Load) -> None:
    job = load(read_quartz([sample("serverless.yml")], options(dialect="aws")))["report"]
    assert job.schedule is not None
    assert (job.enabled, job.schedule.timezone, job.schedule.dst) == (False, "America/New_York", "skip")


def test_c19_weekday_four_is_wednesday_in_quartz_and_aws_and_thursday_in_spring(load: Load) -> None:
    after = datetime(2018, 2, 10, tzinfo=UTC)
    assert first(load(quartz("a = 0 30 7 ? * 4"))["a"], after) == "2018-02-14T07:30:00Z"
    assert first(load(quartz("a = 30 7 ? * 4 *", dialect="aws"))["a"], after) == "2018-02-14T07:30:00Z"
    assert first(load(quartz("a = 0 30 7 * * 4", dialect="spring"))["a"], after) == "2018-02-15T07:30:00Z"


def test_c19_words_for_days_keep_their_meaning(load: Load) -> None:
    jobs = load(read_quartz([sample("quartz.properties")], options()))
    assert first(jobs["month.end"], datetime(2023, 9, 1, tzinfo=UTC)) == "2023-09-29T18:00:00Z"
    assert first(jobs["second.monday"], datetime(2023, 10, 1, tzinfo=UTC)) == "2023-10-09T07:30:00Z"


def test_f18_seconds_come_first_in_quartz(load: Load) -> None:
    job = load(read_quartz([sample("quartz.properties")], options()))["noon.report"]
    assert job.schedule is not None
    week = slots_between(job.schedule, datetime(2026, 6, 1, tzinfo=UTC), datetime(2026, 6, 8, tzinfo=UTC))
    assert [slot.strftime("%a %H:%M:%S") for slot in week] == [
        f"{day} 12:00:00" for day in ("Mon", "Tue", "Wed", "Thu", "Fri")
    ]


def test_property_lines_that_are_no_schedules_are_named_without_their_values() -> None:
    imported = read_quartz([sample("quartz.properties")], options())
    (finding,) = said(imported, "other_kind")
    assert "org.quartz.scheduler.instanceName" in finding and "BackOffice" not in finding
    assert errors(imported) == ["bad_schedule", "placeholder"]
    assert "--dialect spring" in said(imported, "bad_schedule")[0]


def test_a_range_over_the_end_of_a_field_is_two_ranges(load: Load) -> None:
    schedule = load(read_quartz([sample("quartz.properties")], options()))["night"].schedule
    assert schedule is not None
    day = slots_between(
        schedule, datetime(2026, 6, 1, tzinfo=UTC) - timedelta(seconds=1), datetime(2026, 6, 1, 23, 59, tzinfo=UTC)
    )
    assert sorted({slot.hour for slot in day}) == [0, 1, 2, 22, 23] and len(day) == 15


def test_xml_gives_names_zones_and_unescaped_text_and_passes_over_comments(load: Load) -> None:
    imported = read_quartz([sample("quartz_jobs.xml")], options())
    jobs = load(imported)
    assert list(jobs) == ["statement-trigger", "dividend"]
    assert jobs["statement-trigger"].schedule and jobs["statement-trigger"].schedule.timezone == "America/New_York"
    assert first(jobs["dividend"], datetime(2026, 1, 1, tzinfo=UTC)) == "2026-01-01T06:00:00Z"


def test_an_entity_in_xml_is_never_read_from_elsewhere() -> None:
    text = '<!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]><x><cron-expression>&e;</cron-expression></x>'
    assert errors(quartz(text)) == ["bad_schedule"]


def test_spring_and_quartz_in_one_file_keep_their_own_numbering(load: Load) -> None:
    imported = read_quartz([sample("spring.xml")], options())
    jobs = load(imported)
    assert first(jobs["reportJob-send"], datetime(2026, 6, 1, tzinfo=UTC)) == "2026-06-04T07:30:00Z"  # a Thursday
    assert first(jobs["nightTrigger"], datetime(2026, 6, 2, tzinfo=UTC)) == "2026-06-08T03:00:00Z"  # a Monday
    assert errors(imported) == ["monotonic"] and "fixed-delay=5000" in said(imported, "monotonic")[0]


def test_annotations_give_the_methods_name_and_both_days_must_match(load: Load) -> None:
    imported = read_quartz([sample("ReportTasks.java")], options())
    jobs = load(imported)
    assert list(jobs) == ["firstMonday", "weekend"]
    assert first(jobs["firstMonday"], datetime(2026, 6, 2, tzinfo=UTC)) == "2026-07-06T07:00:00Z"
    assert first(jobs["weekend"], datetime(2026, 6, 1, tzinfo=UTC)) == "2026-06-05T00:00:15Z"
    assert "switched off" in said(imported, "not_carried")[0] and errors(imported) == ["monotonic"]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("0 0 9 10-12 * MON", "day_and_weekday"),
        ("30 0 9 1-7 * MON", "day_and_weekday"),
        ("0 0 9 * * 8", "bad_schedule"),
        ("0 0 9 * *", "bad_schedule"),
        ("0 0 0 30 2 *", "never_fires"),
    ],
)
def test_a_spring_text_without_an_exact_form_is_an_error(text: str, code: str) -> None:
    imported = quartz(text, dialect="spring")
    assert errors(imported) == [code] and imported.jobs == ()


@pytest.mark.parametrize(
    ("text", "cron"),
    [
        ("0 0 9 * * 5-7", "0 0 9 ? * FRI,SAT,SUN"),
        ("0 0 9 * * 5L", "0 0 9 ? * FRIL"),
        ("0 0 9 * * MON#2", "0 0 9 ? * MON#2"),
        ("0 0 9 L * *", "0 0 9 L * ?"),
        ("@daily", "0 0 0 * * ?"),
        ("0 0 9 1-7 * MON", "0 9 * * 1#1"),
        ("0 0 9 1,15 * MON", "0 9 */100,1,15 * 1"),
    ],
)
def test_a_spring_text_becomes_one_of_the_same_slots(text: str, cron: str) -> None:
    assert quartz(text, dialect="spring").jobs[0]["schedule"]["cron"] == cron


def test_terraform_gives_the_resources_name_and_one_instant_in_its_zone(load: Load) -> None:
    imported = read_quartz([sample("rules.tf")], options(dialect="aws"))
    jobs = load(imported)
    assert list(jobs) == ["five_minutes", "migration"]
    assert jobs["migration"].schedule and jobs["migration"].schedule.at == (datetime(2026, 11, 20, 4, tzinfo=UTC),)
    assert not jobs["migration"].enabled
    assert errors(imported) == ["bad_schedule"]


@pytest.mark.parametrize("text", ["0 minutes", "1 minutes", "5 minute", "5 weeks", "x"])
def test_a_rate_that_aws_refuses_is_an_error(text: str) -> None:
    assert errors(quartz(f"a: rate({text})", dialect="aws")) == ["bad_schedule"]


def test_one_finding_says_that_the_zone_is_the_programs_own() -> None:
    assert codes(quartz("a = 0 0 12 ? * *\nb = 0 0 13 ? * *")) == ["missing_zone"]
    assert codes(quartz("a = 0 0 12 ? * *", zone="UTC")) == []


def test_bare_expressions_get_numbered_ids() -> None:
    imported = quartz("0 0 12 ? * *\n# comment\n0 0 13 ? * *\n", zone="UTC")
    assert [job["id"] for job in imported.jobs] == ["quartz", "quartz-2"]


@pytest.mark.parametrize("text", ["- schedule: rate(1 minute)", "cron(0/2 * ? * MON-FRI *)"])
def test_an_aws_file_read_as_quartz_is_told_its_dialect(text: str) -> None:
    assert "--dialect aws" in said(quartz(text), "bad_schedule")[0]


def test_a_text_without_schedules_is_an_error() -> None:
    assert errors(quartz("<x/>")) == ["bad_schedule"] and errors(quartz("")) == ["nothing_found"]
