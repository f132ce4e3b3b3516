"""What the queue forgets by `history`, and that no slot runs again for it (I1)."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from queueing.farm import START, at, job, minutely, new_queue, row, said, states, take, take_one
from sqlalchemy import Engine

from scheduler.database import write
from scheduler.endings import Problem, Result, discard, finish
from scheduler.history import FORGET_LIMIT, forget
from scheduler.jobs import History, Job
from scheduler.planner import _settled, _write, look, plan
from scheduler.queue import make_up_slot, trigger_run
from scheduler.registry import apply_definitions, current_jobs

MINUTE = timedelta(minutes=1)
WELL = Result(None, 1.0, "done\n")
BADLY = Result(Problem("permanent", "exit 1", 1), 1.0, "oh\n")


def slots(engine: Engine) -> list[str]:
    return sorted(name[-9:-4] for name in states(engine))


def worked(folder: Path, minutes: int, result: Result = WELL, **changes: Any) -> tuple[Engine, Job]:
    """A minutely job whose slots from 08:00 on have all run, planned no further than the last of them."""
    tidy = minutely(**changes)
    engine = new_queue(folder, tidy)
    for minute in range(minutes):
        plan(engine, START + minute * MINUTE, horizon=timedelta(0))
        finish(engine, at(60 * minute + 1), take_one(engine, at(60 * minute)), result)
    return engine, tidy


def keeping(succeeded: int | None = None, failed: int | None = None) -> dict[str, Any]:
    return {"history": History(succeeded=succeeded, failed=failed)}


@pytest.mark.parametrize(("limit", "kept"), [(4, ["08:01", "08:02", "08:03", "08:04"]), (1, ["08:04"]), (0, [])])
def test_the_newest_successes_are_kept(tmp_path: Path, limit: int, kept: list[str]) -> None:
    engine, tidy = worked(tmp_path, 5, **keeping(succeeded=limit))
    assert forget(engine, [tidy], at(300).now) == 5 - limit
    assert slots(engine) == kept
    assert forget(engine, [tidy], at(300).now) == 0


@pytest.mark.parametrize("minutes", [2, 3, 4])
def test_up_to_the_limit_nothing_is_forgotten(tmp_path: Path, minutes: int) -> None:
    engine, tidy = worked(tmp_path, minutes, **keeping(succeeded=3))
    assert forget(engine, [tidy], at(300).now) == max(0, minutes - 3)


def test_without_a_history_everything_is_kept(tmp_path: Path) -> None:
    engine, tidy = worked(tmp_path, 3)
    other = minutely(history=History())
    assert forget(engine, [tidy, other], at(300).now) == 0
    assert len(states(engine)) == 3


def test_a_dead_letter_that_waits_for_a_person_is_never_forgotten(tmp_path: Path) -> None:
    engine, tidy = worked(tmp_path, 4, BADLY, **keeping(succeeded=0, failed=0))
    assert forget(engine, [tidy], at(300).now) == 0
    for minute in (0, 2):
        assert discard(engine, f"tidy@2026-03-01T08:0{minute}:00Z", at(250).now, "ana", "seen")
    assert forget(engine, [tidy], at(300).now) == 2
    assert slots(engine) == ["08:01", "08:03"]


def test_a_pass_forgets_no_more_than_its_bound_and_the_oldest_first(tmp_path: Path) -> None:
    engine, tidy = worked(tmp_path, 6, **keeping(succeeded=1))
    assert forget(engine, [tidy], at(400).now, limit=2) == 2
    assert slots(engine) == ["08:02", "08:03", "08:04", "08:05"]
    assert forget(engine, [tidy], at(400).now, limit=4) == 3
    assert FORGET_LIMIT == 500


def test_one_bound_holds_for_all_jobs_together(tmp_path: Path) -> None:
    engine, tidy = worked(tmp_path, 4, **keeping(succeeded=0))
    assert forget(engine, [tidy, tidy], at(400).now, limit=3) == 3


def test_a_forgotten_slot_is_never_planned_again_whatever_the_clock_does(tmp_path: Path) -> None:
    engine, tidy = worked(tmp_path, 5, **keeping(succeeded=0))
    forget(engine, [tidy], at(300).now)
    apply_definitions(engine, [minutely(description="changed", **keeping(succeeded=0))], START - MINUTE)
    plan(engine, START - MINUTE, horizon=10 * MINUTE)
    assert slots(engine) == ["08:05", "08:06", "08:07", "08:08", "08:09"]


def test_a_planner_that_was_held_up_plans_no_forgotten_slot(tmp_path: Path) -> None:
    engine = new_queue(tmp_path, minutely(**keeping(succeeded=0)))
    (version,) = current_jobs(engine, START)
    assert version.job.schedule is not None
    slow = look(version, version.job.schedule, START - MINUTE, START, MINUTE)
    assert len(slow.coming) == 2
    plan(engine, START)
    finish(engine, at(1), take_one(engine, at(0)), WELL)
    plan(engine, at(59).now)
    finish(engine, at(61), take_one(engine, at(60)), WELL)
    plan(engine, at(62).now, horizon=timedelta(0))
    with engine.begin() as connection:
        connection.exec_driver_sql("DELETE FROM runs WHERE state = 'queued'")
    assert forget(engine, [version.job], at(62).now) == 2
    with write(engine) as connection:
        _write(connection, version, slow, {}, _settled(connection), at(63).now, {})
    assert states(engine) == {}


def test_a_forgotten_slot_is_not_made_up_a_second_time(tmp_path: Path) -> None:
    engine, tidy = worked(tmp_path, 3, **keeping(succeeded=1))
    forget(engine, [tidy], at(300).now)
    with pytest.raises(ValueError, match="may have had its run, which `history` has cleared away; `tepat run tidy`"):
        make_up_slot(engine, "tidy", START + MINUTE, at(300).now)
    with pytest.raises(ValueError, match="has its run already, which is succeeded"):
        make_up_slot(engine, "tidy", START + 2 * MINUTE, at(300).now)
    assert make_up_slot(engine, "tidy", START + 3 * MINUTE, at(300).now) == "tidy@2026-03-01T08:03:00Z"


def test_a_skipped_slot_is_no_history_and_can_still_be_made_up(tmp_path: Path) -> None:
    engine = new_queue(tmp_path, minutely(**keeping(succeeded=0, failed=0)))
    plan(engine, at(200).now, horizon=timedelta(0))
    finish(engine, at(202), take_one(engine, at(201)), WELL)
    (version,) = current_jobs(engine, at(203).now)
    assert forget(engine, [version.job], at(203).now) == 1
    assert slots(engine) == ["08:00", "08:01", "08:02"]
    assert make_up_slot(engine, "tidy", START + MINUTE, at(204).now) == "tidy@2026-03-01T08:01:00Z"


@pytest.mark.parametrize(("ended", "forgotten"), [(59.999999, 1), (60.0, 1), (60.000001, 0)])
def test_a_run_is_remembered_while_it_decides_whether_another_overlaps(
    tmp_path: Path, ended: float, forgotten: int
) -> None:
    engine = new_queue(tmp_path, minutely(**keeping(succeeded=0)))
    plan(engine, START, horizon=MINUTE)
    finish(engine, at(ended), take_one(engine, at(0)), WELL)
    (version,) = current_jobs(engine, START)
    assert forget(engine, [version.job], at(61).now) == forgotten
    take(engine, at(62))
    assert states(engine)["tidy@2026-03-01T08:01:00Z"] == ("running" if forgotten else "skipped")


def test_passed_over_slots_are_all_recorded_before_newer_runs_are_forgotten(tmp_path: Path) -> None:
    engine = new_queue(tmp_path, minutely(**keeping(succeeded=0)))
    late = 60 * 700
    plan(engine, at(late).now, horizon=timedelta(0))
    finish(engine, at(late + 1), take_one(engine, at(late)), WELL)
    (version,) = current_jobs(engine, START)
    assert forget(engine, [version.job], at(late + 2).now) == 0
    plan(engine, at(late + 5).now, horizon=timedelta(0))
    assert len(said(engine, "skipped")) == 700
    assert forget(engine, [version.job], at(late + 6).now) == 1


def test_a_triggered_run_leaves_its_key_behind_and_loses_its_output(tmp_path: Path) -> None:
    tidy = job(overlap="allow", **keeping(succeeded=1))
    engine = new_queue(tmp_path, tidy)
    for second, key in enumerate(("a", "b", "c")):
        trigger_run(engine, "tidy", key, at(second).now)
        finish(engine, at(second + 0.5), take_one(engine, at(second)), WELL)
    assert forget(engine, [tidy], at(10).now) == 2
    assert [row(engine, f"tidy!{key}")["output_tail"] for key in "abc"] == ["", "", "done\n"]
    assert forget(engine, [tidy], at(10).now) == 0
    trigger_run(engine, "tidy", "a", at(11).now)
    assert take(engine, at(12)) == []


def test_cancelled_runs_count_with_the_failed_ones(tmp_path: Path) -> None:
    engine = new_queue(tmp_path, minutely(overlap="replace", **keeping(failed=1)))
    stopped = Result(Problem("interrupted", "stopped", 143), 1.0)
    for minute in range(3):
        plan(engine, START + minute * MINUTE, horizon=timedelta(0))
        held = take_one(engine, at(60 * minute))
        for second in range(5, 61, 5):
            plan(engine, at(60 * minute + second).now, horizon=timedelta(0))
        finish(engine, at(60 * minute + 60), held, stopped)
    assert [state for state in states(engine).values() if state == "cancelled"] == ["cancelled"] * 3
    (version,) = current_jobs(engine, START)
    with engine.begin() as connection:
        connection.exec_driver_sql("DELETE FROM runs WHERE state = 'queued'")
    assert forget(engine, [version.job], at(300).now) == 2
    assert slots(engine) == ["08:02"]
