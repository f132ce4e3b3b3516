"""The time law against the oracle: random texts, all zones, the years 1970 to 2100, the three policies."""

from collections import Counter
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from itertools import pairwise, product
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from timelaw.expressions import ZONES, expression, stretch
from timelaw.oracle import POLICIES, Policy, expected, fields_of, slots_on, wall_of

from scheduler.jobs import Schedule
from scheduler.timelaw import NeverError, check_cron, next_slot, previous_slot, slots_between

TICK = timedelta(microseconds=1)
# A seed, not choice after choice: what the property test makes up by itself keeps to few zones and texts.
RANDOMS = st.integers(0, 2**63).map(Random)
SOAK_COMPARISONS = 1_000_000
SOAK_STRETCHES, SOAK_EXPRESSIONS = 8, 70  # of each zone; with three policies a little over a million


def cron(text: str, zone: str, policy: Policy) -> Schedule:
    return Schedule(cron=text, timezone=zone, dst=policy)


def instant(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


# The oracle itself, by hand, before anything is measured with it.
BOTH_TWOS = ("22:00 00:00 01:00 03:00", "22:00 00:00 03:00", "22:00 00:00 01:00 03:00")


@pytest.mark.parametrize(
    ("text", "zone", "after", "once", "skip", "literal"),
    [
        ("0 2 * * *", "Europe/Berlin", "2023-10-28T23:59", "00:00", "00:00", "00:00 01:00"),
        ("0 */2 * * *", "Europe/Berlin", "2023-10-28T21:59", *BOTH_TWOS),
        ("30 2 * * *", "America/New_York", "2026-03-08T06:00", "07:00", "", ""),
        ("0 0 * * *", "America/Santiago", "2025-09-07T03:00", "04:00", "", ""),
        ("0,45 2 * * *", "Australia/Lord_Howe", "2026-10-03T14:00", "15:30 15:45", "15:45", "15:45"),
        ("30 12 30 * *", "Pacific/Apia", "2011-12-30T08:00", "10:00", "", ""),
        ("30 12 * * 6", "Pacific/Kwajalein", "1993-08-21T11:00", "12:00", "", ""),
        ("30 0 * * *", "Africa/Monrovia", "1972-01-07T00:00", "00:45", "", ""),
        ("0 1 * * *", "Africa/Monrovia", "1972-01-06T00:00", "01:44:30", "01:44:30", "01:44:30"),
    ],
)
def test_the_oracle_finds_what_was_worked_out_by_hand(
    text: str, zone: str, after: str, once: str, skip: str, literal: str
) -> None:
    wanted: dict[Policy, str] = {"once": once, "skip": skip, "literal": literal}
    begin = instant(after)
    found = {policy: expected(text, zone, policy, begin, begin + timedelta(hours=6)) for policy in POLICIES}
    shown = {policy: " ".join(f"{slot:%H:%M:%S}".removesuffix(":00") for slot in found[policy]) for policy in POLICIES}
    assert shown == wanted


@pytest.mark.parametrize(
    ("text", "days"),
    [
        ("0 0 */2 * 1", [11, 25]),
        ("0 0 1-7 * MON", [1, 2, 3, 4, 5, 6, 7, 11, 18, 25]),
        ("0 0 13 * 5", [1, 8, 13, 15, 22, 29]),
        ("0 0 * * 0,7", [3, 10, 17, 24, 31]),
        ("0 0 L * *", [31]),
        ("0 0 LW * *", [29]),
        ("0 0 2W,31W * *", [1, 29]),
        ("0 0 * * 5L", [29]),
        ("0 0 * * fri#2", [8]),
    ],
)
def test_the_oracle_reads_the_day_fields_by_the_calendar_of_may_2026(text: str, days: list[int]) -> None:
    fields = fields_of(text)
    may = [datetime(2026, 5, day, tzinfo=UTC).date() for day in range(1, 32)]
    assert [day.day for day in may if fields.on(day)] == days


# The product.

ODD_CHANGES = (
    ("Africa/Monrovia", "1972-01-07"),  # 44 minutes and 30 seconds forward
    ("Pacific/Apia", "2011-12-30"),  # a Friday that never was
    ("Pacific/Kwajalein", "1993-08-21"),
    ("Pacific/Kiritimati", "1994-12-31"),
    ("America/Santiago", "2025-09-07"),  # midnight in the gap
    ("America/Havana", "2026-11-01"),  # midnight twice
    ("America/Goose_Bay", "2010-11-07"),  # at one minute past midnight
    ("America/St_Johns", "1988-04-03"),  # two hours forward, at the same odd minute
    ("Antarctica/Troll", "2026-03-29"),  # two hours
    ("Antarctica/Troll", "2026-10-25"),
    ("Antarctica/Casey", "2020-10-04"),  # three hours, and back half a year later
    ("Australia/Lord_Howe", "2026-04-05"),  # half an hour
    ("Australia/Lord_Howe", "2026-10-04"),
    ("Asia/Pyongyang", "2018-05-05"),  # half an hour before midnight
    ("Asia/Kathmandu", "1986-01-01"),  # a quarter
    ("America/Caracas", "2016-05-01"),
    ("Africa/Casablanca", "2026-02-15"),  # summer time counted below zero
    ("Europe/Dublin", "1990-03-25"),
)
ODD_TEXTS = (
    "*/7 */2 * * *", "30 * * * *", "0 0 * * *", "0,30 0-3 * * *", "15 1,2 * * *", "45 23 * * *", "59 0 * * *",
    "0 */5 * * *", "44,45,46 0 * * *", "1 0/1 * * *", "30 12 30,31 * 5", "0 0 L * 6,7",
)  # fmt: skip


@pytest.mark.parametrize(("zone", "day"), ODD_CHANGES)
def test_the_oddest_changes_of_clocks_are_walked_as_the_oracle_sees_them(zone: str, day: str) -> None:
    after, until = instant(day) - timedelta(hours=30), instant(day) + timedelta(hours=40)
    wall = wall_of(zone, after, until)
    for text, policy in product(ODD_TEXTS, POLICIES):
        schedule, wanted = cron(text, zone, policy), slots_on(wall, fields_of(text), policy)
        assert slots_between(schedule, after, until) == wanted, (text, policy)
        for one, two in pairwise(wanted[:60]):
            assert next_slot(schedule, one) == two, (text, policy, one)
            assert previous_slot(schedule, two - TICK) == one, (text, policy, two)


@settings(max_examples=300)
@given(RANDOMS)
def test_slots_are_those_that_a_scan_of_every_minute_finds(random: Random) -> None:
    zone = random.choice(ZONES)
    after, until = stretch(random, zone)
    wall = wall_of(zone, after, until)
    for text, policy in product(readable(random, 5), POLICIES):
        found = slots_between(cron(text, zone, policy), after, until)
        assert found == slots_on(wall, fields_of(text), policy), (text, zone, policy, after, until)


@settings(max_examples=300)
@given(RANDOMS, st.sampled_from(POLICIES))
def test_walking_forwards_and_backwards_meets_the_same_slots(random: Random, policy: Policy) -> None:
    zone = random.choice(ZONES)
    after, until = stretch(random, zone)
    for text in readable(random, 3):
        schedule = cron(text, zone, policy)
        slots = slots_between(schedule, after, until)
        assert all(one < two for one, two in pairwise(slots)), (text, zone, policy, after, until)
        pairs = list(pairwise(slots))
        for one, two in random.sample(pairs, min(len(pairs), 30)):
            assert next_slot(schedule, one) == two == next_slot(schedule, two - TICK), (text, zone, policy, one)
            assert previous_slot(schedule, two - TICK) == one == previous_slot(schedule, one), (text, zone, policy, two)


@settings(max_examples=200)
@given(RANDOMS, st.sampled_from(POLICIES))
def test_now_lies_between_the_previous_slot_and_the_next(random: Random, policy: Policy) -> None:
    zone = random.choice(ZONES)
    _, now = stretch(random, zone)
    for text in readable(random, 3):
        schedule = cron(text, zone, policy)
        before, after = previous_slot(schedule, now), next_slot(schedule, now)
        assert before is not None and after is not None
        assert before <= now < after, (text, zone, policy, now)
        if after - before < timedelta(days=40):
            assert slots_between(schedule, before - TICK, after) == [before, after], (text, zone, policy, now)


@settings(max_examples=300)
@given(RANDOMS)
def test_a_text_is_refused_exactly_when_no_date_matches_it(random: Random) -> None:
    text = expression(random)
    # A random text nearly always matches some date: these rarely do.
    minute, hour, _, _, weekday = text.split()
    rare = f"{minute} {hour} {random.randint(28, 31)} {random.choice(('2', '2,4', '4,6', '2/12'))} "
    for candidate in (text, rare + "*", rare + weekday, rare + "*/3"):
        assert refused(candidate) is not fields_of(candidate).ever(), candidate


def refused(text: str) -> bool:
    try:
        check_cron(text)
    except NeverError:
        return True
    return False


def readable(random: Random, count: int) -> Iterator[str]:
    """Random texts that match some date; what never comes has a test of its own."""
    while count:
        text = expression(random)
        if not refused(text):
            count -= 1
            yield text


@pytest.mark.soak
def test_a_million_comparisons_with_the_oracle_find_none_that_differs() -> None:
    random = Random(1970)
    counted: Counter[str] = Counter()
    differing: list[str] = []
    for zone in ZONES:
        texts = list(readable(random, SOAK_EXPRESSIONS))
        understood = [(text, fields_of(text)) for text in texts]
        for _ in range(SOAK_STRETCHES):
            after, until = stretch(random, zone)
            wall = wall_of(zone, after, until)
            for text, fields in understood:
                for policy in POLICIES:
                    wanted = slots_on(wall, fields, policy)
                    counted["comparisons"] += 1
                    counted["with slots"] += bool(wanted)
                    counted["slots"] += len(wanted)
                    if slots_between(cron(text, zone, policy), after, until) != wanted:
                        differing.append(f"{text!r} {zone} {policy} ({after}, {until}]")
    print(dict(counted), "differing:", len(differing))
    assert not differing, "\n".join(differing[:50])
    assert counted["comparisons"] >= SOAK_COMPARISONS
