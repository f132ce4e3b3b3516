"""What belonged to another version, came before the first, or has no slots at all (C15)."""

import pytest
from explaining.asking import ask, at, cron, job, said, versions

from scheduler.explaining.why import Version, explain
from scheduler.jobs import REBOOT

CHANGED = "2024-12-30T10:07:00Z"
C15 = versions(CHANGED, cron("0 */12 * * *"), cron("*/15 * * * *"))


def test_c15_a_change_invents_no_slot_before_it_and_the_new_version_is_named() -> None:
    found = explain(C15, at("2024-12-30T10:00:00Z"))
    assert (found.owed, found.code) == (False, "version")
    assert "the hour field `*/12` allows 0 and 12" in said(found)
    assert (
        "Another version, `*/15 * * * *`, would name it, but is valid only from 2024-12-30T10:07:00Z on:"
        " a change neither invents slots nor loses any."
    ) in found.sentences


@pytest.mark.parametrize(
    ("instant", "owed"),
    [
        ("2024-12-30T00:00:00Z", True),
        ("2024-12-30T00:15:00Z", False),
        ("2024-12-30T10:15:00Z", True),
        ("2024-12-30T10:30:00Z", True),
    ],
)
def test_c15_each_slot_belongs_to_the_version_that_was_valid_then(instant: str, owed: bool) -> None:
    assert explain(C15, at(instant)).owed == owed


def test_c15_the_nearest_slots_are_those_of_both_versions() -> None:
    found = explain(C15, at("2024-12-30T10:00:00Z"))
    assert found.sentences[-1] == (
        "The slot before is Monday 2024-12-30 00:00 UTC; the next is Monday 2024-12-30 10:15 UTC."
    )


def test_a_slot_of_a_version_that_has_ended_is_named_with_its_end() -> None:
    found = explain(versions(CHANGED, cron("30 3 * * *"), cron("0 4 * * *")), at("2024-12-31T03:30:00Z"))
    assert found.code == "version"
    assert "`30 3 * * *`, would name it, but was valid only until 2024-12-30T10:07:00Z" in said(found)


@pytest.mark.parametrize(
    ("instant", "code"),
    [
        ("2024-12-30T10:06:59.999999Z", "before_valid_from"),
        ("2024-12-30T10:07:00Z", "slot"),
        ("2024-12-30T10:07:00.000001Z", "slot"),
    ],
)
def test_before_the_first_version_nothing_is_owed(instant: str, code: str) -> None:
    found = explain([Version(job=job(cron("* * * * *")), valid_from=at(CHANGED))], at(instant))
    assert found.code == code
    assert ("valid from 2024-12-30T10:07:00Z on" in said(found)) == (code == "before_valid_from")


def test_a_removed_job_says_when_it_was_removed_and_when_it_came_back() -> None:
    gone = Version(job=job(cron("0 * * * *")), valid_until=at("2024-12-30T10:07:00Z"))
    back = Version(job=job(cron("0 * * * *")), valid_from=at("2025-01-02T00:00:00Z"))
    assert explain([gone], at("2024-12-30T11:00:00Z")).code == "removed"
    found = explain([gone, back], at("2024-12-30T11:00:00Z"))
    assert "it was removed at 2024-12-30T10:07:00Z and is defined again from 2025-01-02T00:00:00Z on" in said(found)


def test_a_disabled_job_owes_none_of_its_slots() -> None:
    found = ask(cron("0 * * * *"), "2026-05-05T02:00:00Z", enabled=False)
    assert (found.owed, found.code) == (False, "disabled")
    assert found.sentences[1] == "The job is disabled (`enabled: false`), so no run is owed."


def test_an_instant_that_is_no_slot_of_a_disabled_job_says_both() -> None:
    found = ask(cron("0 * * * *"), "2026-05-05T02:10:00Z", enabled=False)
    assert found.code == "minute"
    assert "Besides, the job is disabled (`enabled: false`)." in found.sentences


def test_a_run_at_the_hosts_start_has_no_slots() -> None:
    found = ask(cron(REBOOT), "2026-05-05T02:00:00Z")
    assert (found.owed, found.code) == (False, "reboot")
    assert "it has no slots" in said(found)


def test_a_job_without_a_schedule_owes_nothing() -> None:
    found = ask(None, "2026-05-05T02:00:00Z")
    assert (found.owed, found.code) == (False, "no_schedule")
    assert "billing has no schedule" in said(found)
