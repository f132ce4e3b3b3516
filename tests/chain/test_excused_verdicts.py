"""Slots that the definition excuses, as the chain judges them: expected, skipped for their reason, out of the count."""

from datetime import UTC, date, datetime, timedelta

import pytest
from chain.making import at, minutely, objective, play, ran

from collector.reports import coming_slots, schedule_text
from collector.slots import Desk
from collector.verdicts import judge, slot_of
from scheduler.instants import format_instant
from scheduler.jobs import REBOOT, Calendar, Job, Repeat, Schedule, Window
from scheduler.registry import JobVersion
from slo.replay import Replay, Span

SECOND, DAY = timedelta(seconds=1), timedelta(days=1)
# Minutes 1 and 2 after midnight UTC are open: 01:01 and 01:02 in Berlin.
OPEN = Window(start=3600 + 60, end=3600 + 180, timezone="Europe/Berlin")


@pytest.mark.parametrize(("second", "reason"), [(0, "window"), (60, None), (120, None), (180, "window")])
def test_a_slot_outside_its_batch_window_is_skipped_by_that_name(second: float, reason: str | None) -> None:
    assert slot_of(minutely(window=OPEN), at(second)).skipped == reason


@pytest.mark.parametrize(
    ("instant", "reason"),
    [
        (datetime(2026, 1, 1, 16, 59, tzinfo=UTC), "holiday"),
        (datetime(2026, 1, 1, 17, 0, tzinfo=UTC), None),
        (datetime(2025, 12, 31, 16, 59, tzinfo=UTC), None),
        (datetime(2025, 12, 31, 17, 0, tzinfo=UTC), "holiday"),
    ],
)
def test_a_slot_on_a_holiday_of_its_own_zone_is_skipped(instant: datetime, reason: str | None) -> None:
    schedule = Schedule(
        timezone="Asia/Jakarta", cron="* * * * *", calendar=Calendar(dates=(date(2026, 1, 1),)), holidays="skip"
    )
    verdict = judge(slot_of(Job(id="job", schedule=schedule), instant), (), (), instant)
    assert (verdict.kind, verdict.reason) == (("skipped", reason) if reason else ("pending", verdict.reason))


def test_excused_slots_stay_expected_and_leave_the_rate() -> None:
    found = play([minutely(window=OPEN)], ran(minutely(), 60, 1), 600)["jobs"]["job"]
    assert found["slots"] == {
        "expected": 10, "on_time": 1, "late": 0, "missed": 1, "unknown": 0, "pending": 0, "skipped": {"window": 8},
    }  # fmt: skip
    assert found["on_time_rate"] == 0.5


def test_excused_slots_spend_no_budget() -> None:
    report = play([minutely(window=OPEN)], ran(minutely(), 60, 1), 600, [objective("50")])
    assert (report["slos"]["goal"]["expected"], report["slos"]["goal"]["bad"]) == (2, 1)


def test_the_newest_due_slot_is_the_newest_that_is_owed() -> None:
    job = minutely(window=OPEN)
    desk = Desk(at(0))
    desk.set_versions([JobVersion(job, 1, at(0), None)])
    assert [slot.at for slot in desk.owe(at(600)) if slot.skipped is None] == [at(60), at(120)]
    replay = Replay([job], (), Span(since=at(0), until=at(600), step=timedelta(minutes=1)))
    for newest in (desk.newest_due, replay._newest_due):
        assert [newest("job", at(second)) for second in (59, 60, 600)] == [None, at(60), at(120)]


def test_a_run_of_an_excused_slot_is_an_extra_run() -> None:
    report = play([minutely(window=OPEN)], ran(minutely(), 240, 1), 300)["jobs"]["job"]
    assert (report["runs"]["succeeded"], report["slots"]["skipped"]) == (1, {"window": 3})


def test_limits_count_from_the_widest_jitter_where_others_run_the_job() -> None:
    wide = Schedule(timezone="UTC", every=DAY, jitter=45 * SECOND)
    schedule = Schedule(timezone="UTC", cron="0 * * * *", jitter=10 * SECOND, also=(wide,))
    assert slot_of(Job(id="job", schedule=schedule), at(0)).base == at(45)
    own = slot_of(Job(id="job", schedule=schedule, run=minutely(own=True).run), at(0))
    assert at(0) < own.base < at(10)


def test_a_schedule_is_told_in_the_words_of_its_file() -> None:
    friday = Repeat(count=2, unit="week", times=(18 * 3600,), starting=date(2026, 1, 2), on=("friday",))
    monthly = Repeat(count=1, unit="month", times=(0, 61), starting=date(2026, 1, 1), on=("15", "last business day"))
    daily = Repeat(count=1, unit="day", times=(6 * 3600, 43_200, 64_800), starting=date(2026, 1, 1))
    told = {
        "0 2 * * *": Schedule(timezone="UTC", cron="0 2 * * *"),
        "every 15m": Schedule(timezone="UTC", every=900 * SECOND),
        "every 2 weeks on friday at 18:00": Schedule(timezone="UTC", repeat=friday),
        "every month on 15 and last business day at 00:00 and 00:01:01": Schedule(timezone="UTC", repeat=monthly),
        "every day at 06:00, 12:00 and 18:00": Schedule(timezone="UTC", repeat=daily),
        "at 2026-01-01T00:00:00Z": Schedule(timezone="UTC", at=(at(0),)),
        f"at {format_instant(at(0))} and {format_instant(at(60))}": Schedule(timezone="UTC", at=(at(0), at(60))),
        "@reboot": Schedule(timezone="UTC", cron=REBOOT),
    }
    assert {schedule_text(schedule) for schedule in told.values()} == set(told)


def test_several_schedules_are_joined_and_differing_zones_named() -> None:
    hourly = Schedule(timezone="UTC", every=timedelta(hours=1))
    assert schedule_text(Schedule(timezone="UTC", cron="5 * * * *", also=(hourly,))) == "5 * * * *; every 1h"
    abroad = Schedule(timezone="Asia/Jakarta", cron="0 2 * * *", also=(hourly,))
    assert schedule_text(abroad) == "0 2 * * * (Asia/Jakarta); every 1h (UTC)"


def test_the_next_slots_of_a_job_are_those_it_owes() -> None:
    job = minutely(window=OPEN)
    assert coming_slots(job, at(0)) == [at(60), at(120), at(0) + DAY + 60 * SECOND]
    assert coming_slots(minutely(enabled=False), at(0)) == []
    never = Window(start=0, end=1, timezone="UTC")
    assert coming_slots(Job(id="job", schedule=Schedule(timezone="UTC", cron="0 12 * * *"), window=never), at(0)) == []
