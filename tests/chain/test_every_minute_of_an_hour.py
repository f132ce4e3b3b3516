"""`* 9 * * *` is due sixty times: which of them a run stands for, and when silence misses the next."""

from datetime import timedelta

from collector.facts import Run
from collector.verdicts import claimed_slot, judge, slot_of
from scheduler.instants import parse_instant
from scheduler.jobs import Job, OnTime, Schedule
from scheduler.timelaw import slots_between

JOB = Job(
    id="pings",
    schedule=Schedule(cron="* 9 * * *", timezone="America/Los_Angeles"),
    on_time=OnTime(start_within=timedelta(minutes=30)),
)
PINGED = parse_instant("2024-05-21T16:34:00Z")
TICK = timedelta(microseconds=1)


def test_a_ping_stands_for_its_own_minute_and_the_next_is_missed_when_its_grace_ends() -> None:  # C10
    assert JOB.schedule is not None
    day = slots_between(JOB.schedule, parse_instant("2024-05-21T07:00:00Z"), parse_instant("2024-05-22T07:00:00Z"))
    assert (len(day), day[0], day[-1]) == (
        60,
        parse_instant("2024-05-21T16:00:00Z"),
        parse_instant("2024-05-21T16:59:00Z"),
    )
    run = Run(
        id="r", job="pings", source="cron", slot=None, outcome="succeeded", started_at=PINGED, first_at=PINGED
    )  # fmt: skip
    assert claimed_slot(JOB, run) == PINGED
    following = slot_of(JOB, PINGED + timedelta(minutes=1))
    missed_at = parse_instant("2024-05-21T17:05:00Z")
    kinds = [judge(following, (), (), at).kind for at in (missed_at - TICK, missed_at, missed_at + TICK)]
    assert kinds == ["pending", "missed", "missed"]
