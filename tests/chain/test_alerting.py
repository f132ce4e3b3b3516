"""When alerts fire, clear and are told: exact instants against the published table."""

import dataclasses
from collections.abc import Sequence
from datetime import timedelta
from fractions import Fraction
from typing import Any

import pytest
from chain.making import at, ev, minutely, objective, play, ran

from collector.facts import Verdict
from scheduler.events import RunEvent
from scheduler.instants import format_instant
from scheduler.jobs import Job, Schedule
from slo.alerts import Condition as Holds
from slo.alerts import Episode, Step, condition, step
from slo.board import Board
from slo.facts import FactLine
from slo.promises import Objective

LONG_AGO = 40 * 86400


def failing_first_half_hour(job: Job) -> list[RunEvent]:
    """A minutely job, long good, that fails in minutes 0 to 29 and is good again after."""
    minutes = range(-6 * 1440, 600)
    return [e for n in minutes for e in ran(job, n * 60, 0, 0, ok=not 0 <= n < 30)]


def minute(text: str | None) -> int | None:
    return None if text is None else next(n for n in range(2000) if format_instant(at(n * 60)) == text)


def edges(events: Sequence[RunEvent], goal: Objective) -> dict[str, tuple[int | None, int | None]]:
    report = play([minutely()], events, until=600 * 60, objectives=[goal], since=-LONG_AGO)
    return {a["severity"]: (minute(a["started_at"]), minute(a["resolved_at"])) for a in report["alerts"]}


def line_of(pattern: str, spacing: float = 60) -> tuple[FactLine, float]:
    """Facts from a picture: `.` good, `x` bad, one each `spacing` seconds from 0 on; and the last one's instant."""
    line = FactLine()
    for index, mark in enumerate(pattern):
        line.add(at(index * spacing), mark == ".")
    return line, (len(pattern) - 1) * spacing


@pytest.fixture(scope="module")
def half_hour() -> dict[str, Any]:
    goal = objective("99.9", "success", min_bad_page=1)
    return play([minutely()], failing_first_half_hour(minutely()), until=600 * 60, objectives=[goal], since=-LONG_AGO)


def test_burn_alerts_fire_and_clear_at_the_minutes_that_exact_arithmetic_gives(half_hour: dict[str, Any]) -> None:
    found = {a["severity"]: (minute(a["started_at"]), minute(a["resolved_at"])) for a in half_hour["alerts"]}
    # Page: 1h and 5m from minute 0, held by 6h and 30m until 59. Ticket: 3d and 6h is the last to clear.
    assert found == {"page": (0, 59), "ticket": (4, 389)}


def test_one_message_for_each_severity_and_the_tickets_is_held_while_the_page_fires(half_hour: dict[str, Any]) -> None:
    told = [
        (minute(n["at"]), n["id"].split("/")[1][:6].rstrip("@2"), n["status"], n["id"].rsplit("/", 1)[1])
        for n in half_hour["notices"]
    ]
    assert told == [
        (0, "page", "firing", "firing"),
        (59, "page", "resolved", "resolved"),
        (59, "ticket", "firing", "firing"),
        (299, "ticket", "firing", "2"),
        (389, "ticket", "resolved", "resolved"),
    ]


def test_by_default_one_bad_run_pages_nobody() -> None:
    goal = objective("99.9", "success")
    line, last = line_of("." * 200 + "x")
    assert not condition(goal, "page", line, at(last)).firing
    line, last = line_of("." * 200 + "xx")
    assert condition(goal, "page", line, at(last)).firing


def test_a_daily_job_opens_a_ticket_at_its_first_miss_and_pages_at_its_second() -> None:
    goal = objective("99.5")
    for pattern, ticket, page in (
        ("....", False, False),
        ("...x", True, False),
        ("..xx", True, True),
        ("..x.", False, False),
    ):
        line, last = line_of(pattern, spacing=86400)
        now = at(last + 3600)
        assert condition(goal, "ticket", line, now).firing is ticket, pattern
        assert condition(goal, "page", line, now).firing is page, pattern


def test_an_alert_does_not_clear_merely_because_nothing_ran_since() -> None:
    goal = objective("99.5")
    line, last = line_of("..xx", spacing=86400)
    assert condition(goal, "page", line, at(last + 20 * 86400)).firing


def test_reach_back_ends_at_the_start_of_the_objectives_window() -> None:
    goal = objective("99.5")
    line, last = line_of("..xx", spacing=86400)
    assert condition(goal, "page", line, at(last + 29 * 86400 - 1)).firing
    assert not condition(goal, "page", line, at(last + 29 * 86400)).firing


def test_where_no_factor_can_be_reached_the_last_bad_ones_decide() -> None:
    goal = objective("50")  # burns at 2 at most: both page pairs are left out
    line, last = line_of("..x")
    assert not condition(goal, "page", line, at(last)).firing
    line, last = line_of("..xx")
    assert condition(goal, "page", line, at(last)).firing


def test_a_rate_exactly_at_the_factor_does_not_fire() -> None:
    goal = objective("90")  # the ticket's last pair has factor 1: a tenth bad is exactly 1
    line, last = line_of("x........." * 30)
    assert not condition(goal, "ticket", line, at(last)).firing
    line.add(at(last), good=False)
    assert condition(goal, "ticket", line, at(last)).firing


def test_silence_of_a_job_is_missed_slots_and_fires() -> None:
    job = Job(id="job", schedule=Schedule(cron="*/5 * * * *", timezone="UTC"), on_time=minutely().on_time)
    good = [e for n in range(13) for e in ran(job, n * 300, 1)]
    report = play([job], good, until=2 * 3600, objectives=[objective("99")])
    assert report["jobs"]["job"]["slots"]["missed"] == 11
    assert report["alerts"][0]["started_at"] == format_instant(at(13 * 300 + 60))
    assert report["notices"][0]["status"] == "firing"


def test_no_data_is_null_with_a_state_and_nothing_fires() -> None:
    report = play([minutely(enabled=False)], [], until=3600, objectives=[objective("99")])
    found = report["slos"]["goal"]
    assert (found["sli"], found["state"], found["budget"]["remaining"]) == (None, "no_data", None)
    assert set(found["burn"].values()) == {None}
    assert report["alerts"] == []


def test_zero_burn_is_data() -> None:
    job = minutely()
    report = play(
        [job], [e for n in range(1, 11) for e in ran(job, n * 60, 0)], until=600, objectives=[objective("99")]
    )
    found = report["slos"]["goal"]
    assert (found["burn"]["1h"], found["state"], found["good"]) == (0.0, "ok", 10)


def test_a_success_after_three_failures_clears_one_alert() -> None:
    daily = Job(id="job", schedule=Schedule(every=timedelta(days=1), timezone="UTC"))
    events = [
        e for n, ok in enumerate((True, False, False, False, True), start=1) for e in ran(daily, n * 86400, 1, 1, ok)
    ]
    report = play([daily], events, until=6 * 86400, objectives=[objective("99", "success")], step=3600)
    pages = [a for a in report["alerts"] if a["severity"] == "page"]
    assert len(pages) == 1
    assert pages[0]["resolved_at"] == format_instant(at(5 * 86400 + 2))
    assert [n["status"] for n in report["notices"] if "/page@" in n["id"]][-1] == "resolved"


def test_a_run_past_its_deadline_is_bad_until_its_end_says_otherwise() -> None:
    job = minutely(run_deadline=timedelta(seconds=60))
    begun = [ev("started", 60, "r1"), ev("started", 90, "r2"), ev("succeeded", 95, "r2")]
    goal = objective("99", "success")
    for until, bad in ((119, 0), (121, 1)):
        assert play([job], begun, until=until, objectives=[goal])["slos"]["goal"]["bad"] == bad
    flagged = play([job], begun, until=121)["jobs"]["job"]
    assert (flagged["flags"], flagged["duration_seconds"]["max"]) == (["overdue"], 5)
    assert play([job], [*begun, ev("succeeded", 200, "r1")], until=300, objectives=[goal])["slos"]["goal"]["bad"] == 0


def test_the_state_is_frozen_only_while_the_newest_due_slot_is_unknown() -> None:
    newest = at(240)
    board = Board([objective("99")], {"job": minutely()}, lambda _job, _now: newest, None)
    for number in (1, 2, 3):
        settled = Verdict(job="job", slot=at(number * 60), kind="late", reason="", limit=at(300), settled_at=at(300))
        board.verdict_changed(settled)
    board.verdict_changed(Verdict(job="job", slot=newest, kind="unknown", reason="blind", limit=at(300)))
    assert board.judge(at(301)) == []
    newest = at(300)
    assert {ruling.episode.severity for ruling in board.judge(at(302))} == {"page", "ticket"}
    newest = at(240)
    for number in range(5, 200):
        good = Verdict(job="job", slot=at(number * 60), kind="on_time", reason="", limit=at(303), settled_at=at(303))
        board.verdict_changed(good)
    assert board.judge(at(9 * 86400)) == []
    board.verdict_changed(Verdict(job="job", slot=newest, kind="missed", reason="", limit=at(304), settled_at=at(304)))
    assert board.standings["goal"].episodes
    resolved = [ruling.episode.severity for ruling in board.judge(at(9 * 86400)) if ruling.episode.resolved_at]
    assert "page" in resolved


# --- the life of an episode, one look after another -----------------------------------------------------------------

GOAL = objective("99")
FIRES, CLEAR = Holds(firing=True, reason="burn"), Holds(firing=False, reason="calm")


def look(
    episode: Episode | None, holds: Holds, seconds: float, held: str | None = None, goal: Objective = GOAL
) -> Step:
    fresh = Episode(slo="goal", severity="page", started_at=at(seconds), reason="burn")
    return step(episode or (fresh if holds.firing else None), holds, held, goal, at(seconds))


def test_firing_is_told_once_and_repeated_after_four_hours() -> None:
    first = look(None, FIRES, 0)
    assert [owed.id for owed in first.owed] == ["goal/page@2026-01-01T00:00:00Z/firing"]
    for seconds, count in ((60, 0), (4 * 3600 - 1, 0), (4 * 3600, 1), (4 * 3600 + 1, 1)):
        assert len(look(first.episode, FIRES, seconds).owed) == count
    assert look(first.episode, FIRES, 4 * 3600).owed[0].id.endswith("/firing/2")


def test_a_held_notice_is_owed_when_what_held_it_ends() -> None:
    held = look(None, FIRES, 0, held="page")
    assert (held.owed, held.reason) == ((), "page")
    assert [owed.status for owed in look(held.episode, FIRES, 60).owed] == ["firing"]


def test_resolved_goes_only_to_those_who_were_told() -> None:
    untold = look(look(None, FIRES, 0, held="page").episode, CLEAR, 60)
    assert untold.owed == ()
    assert untold.episode is not None and untold.episode.resolved_at == at(60)
    told = look(look(None, FIRES, 0).episode, CLEAR, 60, held="page")
    assert [owed.id for owed in told.owed] == ["goal/page@2026-01-01T00:00:00Z/resolved"]


def test_flapping_is_damped_for_as_long_as_the_policy_says() -> None:
    goal = objective("99", keep_firing=timedelta(minutes=5))
    first = look(None, FIRES, 0, goal=goal)
    quiet = look(first.episode, CLEAR, 60, goal=goal)
    for seconds, open_still in ((359, True), (360, False), (361, False)):
        after = look(quiet.episode, CLEAR, seconds, goal=goal).episode
        assert after is not None and (after.resolved_at is None) is open_still
    again = look(quiet.episode, FIRES, 200, goal=goal)
    assert again.episode is not None and again.episode.quiet_since is None


def test_a_frozen_look_changes_nothing() -> None:
    first = look(None, FIRES, 0)
    frozen = look(first.episode, Holds(firing=False, reason="unknown", frozen=True), 60)
    assert (frozen.episode, frozen.owed) == (first.episode, ())


def test_an_objective_whose_jobs_are_gone_resolves_with_that_reason() -> None:
    gone = look(look(None, FIRES, 0).episode, Holds(firing=False, reason="job_removed", gone=True), 60)
    assert gone.episode is not None and gone.episode.reason == "job_removed"
    assert [owed.status for owed in gone.owed] == ["resolved"]


def test_burn_thresholds_scale_with_the_objectives_window() -> None:
    week = dataclasses.replace(GOAL, objective=Fraction(999, 1000), window=timedelta(days=7))
    line, last = line_of("." * 13 + "xx")
    assert "14m" in condition(week, "page", line, at(last)).reason
