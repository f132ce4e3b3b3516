from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import msgspec
import pytest
from answers import Alert, Gap, Job, Objective, RunCounts, Snapshot, Status
from standing import standing

NOW = datetime(2026, 3, 29, 5, 31, 7, tzinfo=UTC)
ZONE = ZoneInfo("Asia/Jakarta")
QUIET = Snapshot(status=Status(NOW), jobs=[], slots=[], running=[], dead=[], queues=[], objectives=[], alerts=[])


def seen(**parts: object) -> Snapshot:
    return msgspec.structs.replace(QUIET, **parts)


def alert(slo: str, severity: str, minutes: int = 42) -> Alert:
    return Alert(f"{slo}/{severity}", slo, severity, NOW - timedelta(minutes=minutes), reason="burn 50 over 1h")


@pytest.mark.parametrize(
    ("states", "level", "title"),
    [
        ([], "quiet", "No objective is defined: nothing is judged"),
        (["ok"], "good", "The one objective holds"),
        (["ok", "ok"], "good", "All 2 objectives hold"),
        (["ok", "no_data"], "quiet", "1 objective holds, 1 without data yet"),
        (["no_data"], "quiet", "0 objectives hold, 1 without data yet"),
        (["ok", "burning"], "warn", "1 objective burns budget too fast"),
        (["burning", "exhausted", "exhausted"], "warn", "No alert is open, but 2 objectives have spent the budget"),
    ],
)
def test_without_alerts_the_worst_objective_speaks(states: list[str], level: str, title: str) -> None:
    state = standing(seen(objectives=[Objective(f"o{n}", state=one) for n, one in enumerate(states)]), ZONE)
    assert (state.level, state.title) == (level, title)


def test_an_open_page_is_worse_than_a_ticket_and_stands_first() -> None:
    state = standing(seen(alerts=[alert("b", "ticket"), alert("a", "page"), alert("c", "ticket")]), ZONE)
    assert (state.level, state.title) == ("bad", "1 page and 2 tickets are open")
    assert [line.split("`")[1] for line in state.lines] == ["a", "b", "c"]


def test_tickets_alone_only_warn() -> None:
    state = standing(seen(alerts=[alert("b", "ticket")]), ZONE)
    assert (state.level, state.title) == ("warn", "1 ticket is open")


def test_an_alert_names_owner_impact_and_since_when_of_the_jobs_in_trouble() -> None:
    jobs = [
        Job("good", owner="team-calm", impact="none"),
        Job("bad", owner="team-billing", impact="No statement", runs=RunCounts(failed=1)),
        Job("other", owner="team-else", runs=RunCounts(failed=1)),
    ]
    [line] = standing(
        seen(alerts=[alert("s", "page")], objectives=[Objective("s", jobs=["good", "bad"])], jobs=jobs), ZONE
    ).lines
    who = "owner `team-billing` · impact `No statement`"
    assert line == f"✕ **page** `s` · since 11:49:07 (42 min) · {who} · why `burn 50 over 1h`"


def test_an_alert_about_nobody_says_so() -> None:
    [line] = standing(seen(alerts=[alert("source-silent/x", "page")]), ZONE).lines
    assert "owner not named · impact not named" in line


@pytest.mark.parametrize(("alerts", "lines"), [(8, 8), (9, 9), (30, 9)])
def test_more_alerts_than_fit_are_counted_not_hidden(alerts: int, lines: int) -> None:
    state = standing(seen(alerts=[alert(f"s{n:02}", "page") for n in range(alerts)]), ZONE)
    assert len(state.lines) == lines
    assert (state.lines[-1] == f"and {alerts - 8} more alert{'s' * (alerts > 9)}") == (alerts > 8)


def test_a_spent_budget_is_told_even_when_another_alert_takes_the_headline() -> None:
    objectives = [Objective("gone", state="exhausted"), Objective("s", state="exhausted")]
    state = standing(seen(alerts=[alert("s", "page")], objectives=objectives), ZONE)
    assert state.lines[-1] == "✕ budget spent: `gone`"


def test_a_collector_that_is_blind_now_is_no_good_news() -> None:
    gap = Gap(NOW - timedelta(minutes=2))
    state = standing(seen(status=Status(NOW, gaps=[gap]), objectives=[Objective("s", state="ok")]), ZONE)
    assert (state.level, state.title) == ("bad", "The collector is blind: silence proves nothing now")
    assert state.lines == ("◆ the collector was blind from 12:29:07 until now",)


def test_a_gap_that_is_over_is_told_beside_the_good_news() -> None:
    gap = Gap(NOW - timedelta(minutes=2), NOW - timedelta(minutes=1))
    state = standing(seen(status=Status(NOW, gaps=[gap]), objectives=[Objective("s", state="ok")]), ZONE)
    assert (state.level, state.lines) == ("good", ("◆ the collector was blind from 12:29:07 until 12:30:07",))


@pytest.mark.parametrize(("step", "told"), [(-1, 0), (0, 0), (1, 1)])
def test_a_gap_that_ended_two_hours_ago_is_history(step: int, told: int) -> None:
    end = NOW - timedelta(hours=2) + timedelta(microseconds=step)
    state = standing(seen(status=Status(NOW, gaps=[Gap(end - timedelta(minutes=1), end)])), ZONE)
    assert len(state.lines) == told


def test_of_several_gaps_the_newest_is_told_whatever_their_order() -> None:
    gaps = [Gap(NOW - timedelta(minutes=n), NOW - timedelta(minutes=n - 1)) for n in (5, 2, 9)]
    [line] = standing(seen(status=Status(NOW, gaps=gaps)), ZONE).lines
    assert "from 12:29:07" in line
