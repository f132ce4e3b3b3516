"""Slots as iCalendar text, read back by a strict reader of the RFC."""

from datetime import datetime, timedelta

import pytest
from explaining.asking import at, cron, job
from explaining.calendar_reading import MalformedError, read_calendar, unfolded
from hypothesis import given
from hypothesis import strategies as st

from scheduler.icalendar import MAX_EVENTS, CalendarTextError, calendar_text
from scheduler.jobs import OnTime
from scheduler.timelaw import jitter_of

TWO = at("2026-05-05T02:00:00Z")
DAILY = cron("0 2 * * *")


def event_of(**keys: object) -> dict[str, str]:
    """The properties of the one event of a slot."""
    (event,) = read_calendar(calendar_text(job(DAILY, **keys), [TWO], {})).inside
    return event.properties


def test_a_slot_is_an_event_whose_every_property_follows_from_the_slot() -> None:
    assert event_of() == {
        "UID": "billing@2026-05-05T02:00:00Z@tepat",
        "DTSTAMP": "20260505T020000Z",
        "DTSTART": "20260505T020000Z",
        "DTEND": "20260505T020500Z",
        "SUMMARY": "billing",
        "STATUS": "CONFIRMED",
        "TRANSP": "TRANSPARENT",
    }


def test_owner_impact_and_runbook_are_in_the_description() -> None:
    about = event_of(description="Monthly statements", owner="team, billing; EU", impact="No\nstatement", runbook="r")
    assert about["DESCRIPTION"] == ("Monthly statements\nOwner: team, billing; EU\nImpact: No\nstatement\nRunbook: r")


def test_an_event_is_as_long_as_the_run_may_take() -> None:
    limit = OnTime(complete_within=timedelta(minutes=45))
    assert event_of(on_time=limit)["DTEND"] == "20260505T024500Z"


def test_a_slot_with_jitter_says_when_its_run_starts() -> None:
    schedule = cron("0 2 * * *", jitter=timedelta(minutes=10))
    start = TWO + jitter_of("billing", schedule, TWO)
    (event,) = read_calendar(calendar_text(job(schedule), [TWO], {})).inside
    assert event.properties["DESCRIPTION"] == f"Starts: {start:%Y-%m-%dT%H:%M:%SZ} (slot and jitter)"


def test_a_skipped_slot_starts_at_no_time() -> None:
    schedule = cron("0 2 * * *", jitter=timedelta(minutes=10))
    (event,) = read_calendar(calendar_text(job(schedule), [], {TWO: "holiday"})).inside
    assert "DESCRIPTION" not in event.properties


def test_a_skipped_slot_is_cancelled_and_says_why_between_the_others() -> None:
    later = [TWO + timedelta(days=number) for number in range(3)]
    events = read_calendar(calendar_text(job(DAILY), [later[0], later[2]], {later[1]: "holiday"})).inside
    assert [(event.properties["SUMMARY"], event.properties["STATUS"]) for event in events] == [
        ("billing", "CONFIRMED"), ("billing (skipped: holiday)", "CANCELLED"), ("billing", "CONFIRMED"),
    ]  # fmt: skip
    assert [event.properties["DTSTART"][:8] for event in events] == ["20260505", "20260506", "20260507"]


@given(
    st.text(max_size=300) | st.text(alphabet="\\,;:\n\r\t\x00\x85\u2028é漢😀 a", max_size=300),
    st.text(alphabet="\\,;n\n", max_size=30),
)
def test_whatever_a_description_holds_the_text_stays_sound_and_comes_back(description: str, owner: str) -> None:
    (event,) = read_calendar(calendar_text(job(DAILY, description=description, owner=owner), [TWO], {})).inside
    whole = [description] if description else []
    kept = "\n".join("\n".join(whole + ([f"Owner: {owner}"] if owner else [])).splitlines())
    plain = "".join(char for char in kept if char in "\n\t" or not (ord(char) < 32 or 127 <= ord(char) < 160))
    assert event.properties.get("DESCRIPTION", "") == plain


@pytest.mark.parametrize("size", [58, 59, 60, 61, 134, 135])
@pytest.mark.parametrize("char", ["a", "é", "漢", "😀"])
def test_a_line_is_folded_at_seventy_five_octets_and_inside_no_character(size: int, char: str) -> None:
    text = calendar_text(job(DAILY, description=char * size), [TWO], {})
    assert f"DESCRIPTION:{char * size}" in unfolded(text)
    longest = max(len(line.encode()) for line in text.split("\r\n"))
    assert 75 - len(char.encode()) < longest <= 75 or size * len(char.encode()) < 63


def test_slots_within_one_second_keep_ids_of_their_own() -> None:
    slots = [TWO, TWO + timedelta(milliseconds=500)]
    events = read_calendar(calendar_text(job(DAILY), slots, {})).inside
    assert len({event.properties["UID"] for event in events}) == 2
    assert len({event.properties["DTSTART"] for event in events}) == 1


@pytest.mark.parametrize(("owed", "skipped"), [(MAX_EVENTS - 1, 0), (MAX_EVENTS, 0), (MAX_EVENTS - 1, 1)])
def test_ten_thousand_events_fit_into_a_calendar(owed: int, skipped: int) -> None:
    slots, excused = every_minute(owed, skipped)
    assert calendar_text(job(DAILY), slots, excused).count("BEGIN:VEVENT") == owed + skipped


@pytest.mark.parametrize(("owed", "skipped"), [(MAX_EVENTS + 1, 0), (MAX_EVENTS, 1)])
def test_more_events_than_that_are_refused_with_the_remedy(owed: int, skipped: int) -> None:
    with pytest.raises(CalendarTextError, match=r"10001 slots are more than .* ask for a shorter range"):
        calendar_text(job(DAILY), *every_minute(owed, skipped))


def test_a_calendar_without_any_slot_is_refused_because_the_rfc_wants_one() -> None:
    with pytest.raises(CalendarTextError, match="ask for a longer range"):
        calendar_text(job(DAILY), [], {})


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("\r\n", "\n"),
        ("SUMMARY:billing", "SUMMARY:bill,ing"),
        ("SUMMARY:billing", "SUMMARY:" + "b" * 80),
        ("END:VEVENT\r\n", ""),
        ("DTSTAMP:20260505T020000Z\r\n", ""),
        ("VERSION:2.0\r\n", ""),
    ],
)
def test_the_reader_of_these_tests_refuses_broken_text(old: str, new: str) -> None:
    text = calendar_text(job(DAILY), [TWO], {})
    with pytest.raises((MalformedError, ValueError)):
        read_calendar(text.replace(old, new))


def every_minute(owed: int, skipped: int) -> tuple[list[datetime], dict[datetime, str]]:
    slots = [TWO + timedelta(minutes=number) for number in range(owed + skipped)]
    return slots[:owed], dict.fromkeys(slots[owed:], "window")
