"""Warnings about objectives: budgets too small to hold one miss, alerts that can't fire, selections without jobs."""

from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from fractions import Fraction

import pytest

from scheduler.jobs import Calendar, Job, Schedule, Window
from slo.objectives import Objective, lint_warnings
from slo.warnings import slots_in_window

DAILY = Job(id="daily", schedule=Schedule(timezone="Asia/Jakarta", cron="0 2 * * *"))
GOAL = Objective(id="goal", indicator="on_time", objective=Fraction("0.995"), source="slos.yaml#goal")


def codes(objective: Objective, *jobs: Job) -> list[str]:
    return [finding.code for finding in lint_warnings([objective], jobs)]


def test_a_budget_under_one_miss_is_said_in_words() -> None:
    (finding,) = lint_warnings([GOAL], [DAILY])
    assert (finding.level, finding.code, finding.where) == ("warning", "budget_under_one", "slos.yaml#goal")
    assert finding.message == (
        "99.5 % of 30 slots allows 0.15 misses: the first miss spends the budget; 200 slots are needed for one"
    )


@pytest.mark.parametrize(("slots", "expected"), [(199, ["budget_under_one"]), (200, []), (201, [])])
def test_the_warning_ends_where_one_miss_fits_the_budget(slots: int, expected: list[str]) -> None:
    every = Job(id="j", schedule=Schedule(timezone="UTC", every=timedelta(days=30) / slots))
    assert codes(GOAL, every) == expected


def test_slots_of_all_selected_jobs_are_counted_together() -> None:
    jobs = [replace(DAILY, id=f"j{number}") for number in range(7)]
    assert codes(GOAL, *jobs) == []
    assert codes(GOAL, *jobs[:6]) == ["budget_under_one"]


def test_slots_of_disabled_jobs_and_of_jobs_not_selected_are_not_counted() -> None:
    goal = replace(GOAL, select={"queue": ("q",)})
    assert codes(goal, *[replace(DAILY, id=f"j{number}") for number in range(7)]) == ["selects_no_job"]
    assert codes(goal, replace(DAILY, queue="q", enabled=False)) == ["selects_no_job"]


def test_a_job_that_runs_by_hand_leaves_the_budget_unknown() -> None:
    assert codes(replace(GOAL, indicator="success"), DAILY, Job(id="by-hand")) == []


def test_on_time_over_jobs_without_schedules_has_no_slots() -> None:
    assert codes(GOAL, Job(id="by-hand")) == ["selects_no_slot"]


@pytest.mark.parametrize(
    ("objective", "expected"),
    [
        ("0.9306", []),
        # 1 / (1 - 67/72) is exactly 14.4: a burn rate must be strictly above the factor, so it never is.
        ("67/72", ["unreachable_factor"]),
        ("0.93", ["unreachable_factor"]),
        ("0.5", ["unreachable_factor"] * 3),
    ],
)
def test_a_factor_that_no_burn_rate_can_pass_is_left_out_with_a_warning(objective: str, expected: list[str]) -> None:
    often = Job(id="j", schedule=Schedule(timezone="UTC", every=timedelta(minutes=1)))
    assert codes(replace(GOAL, objective=Fraction(objective)), often) == expected
    assert codes(replace(GOAL, objective=Fraction(objective), policy=None), often) == []


def test_the_warning_names_the_pair_and_both_rates() -> None:
    often = Job(id="j", schedule=Schedule(timezone="UTC", every=timedelta(minutes=1)))
    (finding,) = lint_warnings([replace(GOAL, objective=Fraction("0.9"))], [often])
    assert finding.message == (
        "the page pair 1h / 5m needs a burn rate above 14.4, but at 90 % it never passes 10: the pair is left out"
    )


def test_a_percentage_without_its_sign_is_a_warning() -> None:
    often = Job(id="j", schedule=Schedule(timezone="UTC", every=timedelta(minutes=1)))
    (finding,) = lint_warnings([replace(GOAL, bare_percent=True)], [often])
    assert finding.message == 'objective 99.5 is read as 99.5 %; write "99.5%"'


@pytest.mark.parametrize(
    ("schedule", "expected"),
    [
        (Schedule(timezone="UTC", cron="* * * * *"), 43_200),
        (Schedule(timezone="UTC", every=timedelta(minutes=1)), 43_200),
        (Schedule(timezone="UTC", every=timedelta(minutes=7), anchor=datetime(2031, 1, 1, tzinfo=UTC)), 6_172),
        (Schedule(timezone="UTC", at=(datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 1, 31, tzinfo=UTC))), 1),
    ],
)
def test_slots_are_counted_in_a_window_open_at_its_start_and_closed_at_its_end(
    schedule: Schedule, expected: int
) -> None:
    start = datetime(2026, 1, 1, tzinfo=UTC)
    assert slots_in_window([Job(id="j", schedule=schedule)], start, timedelta(days=30), 10**9) == expected


def test_slots_that_the_definition_excuses_make_no_budget() -> None:
    start, month = datetime(2026, 5, 1, tzinfo=UTC), timedelta(days=30)
    shut = Calendar(dates=(date(2026, 5, 4), date(2026, 5, 5)))
    hourly = Schedule(every=timedelta(hours=1), timezone="UTC", calendar=shut, holidays="skip")
    twice = replace(hourly, also=(Schedule(cron="30 0 * * *", timezone="UTC"),))
    night = Window(start=0, end=3600 * 6, timezone="UTC")
    jobs = [
        Job(id="holidays", schedule=hourly),
        Job(id="several", schedule=twice),
        Job(id="window", schedule=Schedule(every=timedelta(hours=1), timezone="UTC"), window=night),
    ]
    assert [slots_in_window([job], start, month, 10**9) for job in jobs] == [28 * 24, 28 * 24 + 30, 30 * 6]
