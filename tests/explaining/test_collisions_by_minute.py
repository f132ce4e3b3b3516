"""When most jobs start at once, and where there is room: exact counts of small ranges; a recount of many jobs."""

from collections import Counter
from dataclasses import replace
from datetime import datetime, timedelta

import pytest
from explaining.asking import OWN, at, cron

from scheduler import collisions as module
from scheduler.collisions import Room, TooManyStartsError, collisions
from scheduler.jobs import Job, Schedule, Window
from scheduler.timelaw import jitter_of, slots_between

MIDNIGHT, NEXT = at("2026-05-05T00:00:00Z"), at("2026-05-06T00:00:00Z")


def named(name: str, text: str, queue: str = "default", zone: str = "UTC", **keys: object) -> Job:
    return Job(id=name, schedule=cron(text, zone), queue=queue, run=OWN, **keys)  # type: ignore[arg-type]


def test_the_fullest_minutes_come_first_with_their_jobs_and_queues() -> None:
    jobs = [
        named("a", "0 2 * * *", "big"),
        named("b", "0 2,3 * * *", "big"),
        named("c", "0 9 * * *", "small", "Asia/Jakarta"),
        named("d", "0 3 * * *"),
    ]
    found = collisions(jobs, MIDNIGHT, NEXT)
    assert found.starts == 5
    assert [(crowd.minute, crowd.jobs, crowd.queues) for crowd in found.crowds] == [
        (at("2026-05-05T02:00:00Z"), ("a", "b", "c"), (("big", 2), ("small", 1))),
        (at("2026-05-05T03:00:00Z"), ("b", "d"), (("big", 1), ("default", 1))),
    ]


def test_minutes_with_one_job_alone_are_no_collision_however_often_it_starts() -> None:
    often = Job(id="often", schedule=Schedule(timezone="UTC", every=timedelta(seconds=10)), run=OWN)
    found = collisions([often], MIDNIGHT, NEXT)
    assert (found.starts, found.crowds) == (8640, ())


@pytest.mark.parametrize(
    ("after", "until", "starts"),
    [
        ("2026-05-05T01:59:59Z", "2026-05-05T02:00:00Z", 1),
        ("2026-05-05T02:00:00Z", "2026-05-05T02:00:01Z", 0),
        ("2026-05-05T01:59:58Z", "2026-05-05T01:59:59Z", 0),
    ],
)
def test_the_range_leaves_its_beginning_out_and_takes_its_end_in(after: str, until: str, starts: int) -> None:
    assert collisions([named("a", "0 2 * * *")], at(after), at(until)).starts == starts


def test_what_the_definition_excuses_does_not_start() -> None:
    night = Window(start=22 * 3600, end=5 * 3600, timezone="UTC")
    jobs = [
        named("off", "0 2 * * *", enabled=False),
        named("outside", "0 9 * * *", window=night),
        named("inside", "0 2 * * *", window=night),
        Job(id="by-hand", run=OWN),
    ]
    assert collisions(jobs, MIDNIGHT, NEXT).starts == 1


def test_jitter_moves_starts_between_minutes_and_over_the_edges_of_the_range() -> None:
    schedule = cron("0 * * * *", jitter=timedelta(minutes=30))
    jobs = [Job(id=f"j{number}", schedule=schedule, run=OWN) for number in range(20)]
    after, until = at("2026-05-05T02:10:00Z"), at("2026-05-05T03:10:00Z")
    starts = [
        slot + jitter_of(job.id, schedule, slot) for job in jobs for slot in slots_between(schedule, MIDNIGHT, NEXT)
    ]
    inside = Counter(start.replace(second=0, microsecond=0) for start in starts if after < start <= until)
    found = collisions(jobs, after, until, top=60)
    assert found.starts == inside.total()
    assert {crowd.minute: len(crowd.jobs) for crowd in found.crowds} == {m: n for m, n in inside.items() if n > 1}


def test_of_jobs_that_others_run_the_slots_are_counted_as_they_stand() -> None:
    watched = Job(id="watched", schedule=cron("0 2 * * *", jitter=timedelta(minutes=30)))
    (crowd,) = collisions([watched, named("a", "0 2 * * *")], MIDNIGHT, NEXT).crowds
    assert crowd.minute == at("2026-05-05T02:00:00Z")


def test_about_one_job_only_the_minutes_in_which_it_starts_are_told() -> None:
    jobs = [named("a", "0 2 * * *"), named("b", "0 2,3 * * *"), named("c", "0 3 * * *")]
    (crowd,) = collisions(jobs, MIDNIGHT, NEXT, only="a").crowds
    assert crowd.jobs == ("a", "b")


def test_room_is_the_widest_stretch_of_minutes_with_the_fewest_starts() -> None:
    found = collisions([named("a", "0,10,50 * * * *"), named("b", "0 2 * * *")], MIDNIGHT, NEXT)
    assert found.hour[0] == Room(first=11, minutes=39, starts=0)
    assert found.hour[0].middle == 30
    assert [room.minutes for room in found.hour] == [39, 9, 9]


def test_room_may_run_over_the_end_of_the_hour_and_the_day() -> None:
    found = collisions([named("a", "20,40 12 * * *")], MIDNIGHT, NEXT)
    assert found.hour[0] == Room(first=41, minutes=39, starts=0)
    assert found.day[0] == Room(first=12 * 60 + 41, minutes=1440 - 21, starts=0)


def test_where_no_minute_is_empty_the_least_busy_ones_are_room() -> None:
    jobs = [named("a", "* * * * *"), named("b", "0-29 * * * *")]
    found = collisions(jobs, MIDNIGHT, NEXT)
    assert found.hour == (Room(first=30, minutes=30, starts=30 * 24),)


def test_minutes_that_the_range_does_not_hold_are_no_room() -> None:
    found = collisions([named("a", "5 * * * *")], MIDNIGHT, at("2026-05-05T00:10:00Z"))
    assert found.hour == (Room(first=6, minutes=5, starts=0), Room(first=1, minutes=4, starts=0))


def test_minutes_past_the_last_whole_hour_are_not_counted_twice() -> None:
    # 90 minutes: the first half of an hour comes twice, and would seem busier than the second.
    found = collisions([named("a", "* * * * *")], MIDNIGHT, at("2026-05-05T01:30:00Z"))
    assert found.hour == (Room(first=0, minutes=60, starts=60),)


def test_nothing_to_start_leaves_the_whole_day_free() -> None:
    found = collisions([], MIDNIGHT, NEXT)
    assert (found.starts, found.crowds, found.day) == (0, (), (Room(first=0, minutes=1440, starts=0),))


def test_past_the_bound_the_question_is_refused_with_the_remedy(monkeypatch: pytest.MonkeyPatch) -> None:
    jobs = [named("a", "* * * * *")]
    for bound, fits in ((1439, False), (1440, True), (1441, True)):
        monkeypatch.setattr(module, "MAX_STARTS", bound)
        if fits:
            assert collisions(jobs, MIDNIGHT, NEXT).starts == 1440
        else:
            with pytest.raises(TooManyStartsError, match=r"more than 1439 slots .* ask for a shorter one"):
                collisions(jobs, MIDNIGHT, NEXT)


def test_a_wrong_year_is_refused_before_it_is_counted_to_its_end() -> None:
    with pytest.raises(TooManyStartsError):
        collisions([named("a", "* * * * *")], MIDNIGHT, datetime.fromisoformat("8999-01-01T00:00:00+00:00"))


def test_a_thousand_mixed_jobs_agree_with_a_recount() -> None:
    texts = ("0 * * * *", "*/15 * * * *", "0 2 * * *", "30 2 * * 1-5", "0 0 1 * *")
    zones = ("UTC", "Asia/Jakarta", "Europe/Berlin", "America/New_York")
    jobs = [named(f"j{n}", texts[n % 5], f"q{n % 7}", zones[n % 4]) for n in range(1000)]
    jobs = [replace(job, enabled=number % 11 != 0) for number, job in enumerate(jobs)]
    counted: Counter[datetime] = Counter()
    for job in jobs:
        assert job.schedule is not None
        if job.enabled:
            counted.update(slots_between(job.schedule, MIDNIGHT, NEXT))
    found = collisions(jobs, MIDNIGHT, NEXT, top=2000)
    assert found.starts == counted.total()
    assert {crowd.minute: len(crowd.jobs) for crowd in found.crowds} == {m: n for m, n in counted.items() if n > 1}
