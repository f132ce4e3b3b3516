from datetime import timedelta
from pathlib import Path
from threading import Barrier, Thread

import pytest
from queueing.farm import START, at, job, minutely, new_queue, row, said, states, take, take_one

from scheduler.depths import depths
from scheduler.endings import Problem, Result, discard, finish, redrive, release, sweep
from scheduler.events import RUN_ID, parse_event
from scheduler.jobs import Retry
from scheduler.leases import Moment, check_heartbeat
from scheduler.planner import plan
from scheduler.queue import UnknownJobError, heartbeat, next_available, report, trigger_run
from scheduler.registry import JobReader

WELL = Result(None, 1.5, "done\n")
BADLY = Result(Problem("temporary", "exit 1", 1), 1.5, "oh\n")


def untouched(_run_id: str, _fence: int) -> None:
    """Nothing of these runs is alive on this host."""


def test_a_run_goes_from_the_queue_to_its_end_and_says_so(tmp_path: Path) -> None:
    engine = new_queue(tmp_path, job())
    run_id = trigger_run(engine, "tidy", "k1", START)
    claimed = take_one(engine, at(1))
    assert finish(engine, at(3), claimed, WELL)
    assert (run_id, states(engine)) == ("tidy!k1", {"tidy!k1": "succeeded"})
    assert [event["type"] for event in said(engine)] == ["queued", "started", "succeeded"]
    started, ended = said(engine)[1:]
    assert (started["source"], started["data"]["fence"], started["attempt"]) == ("worker/w1", 1, 1)
    assert (ended["data"], row(engine, run_id)["output_tail"]) == ({"seconds": 1.5, "output_tail": "done\n"}, "done\n")


def test_the_same_key_makes_the_same_run_once(tmp_path: Path) -> None:
    engine = new_queue(tmp_path, job())
    assert {trigger_run(engine, "tidy", "k1", START) for _ in range(3)} == {"tidy!k1"}
    assert len(said(engine, "queued")) == 1


def test_a_key_that_ids_may_not_hold_is_replaced_by_its_digest(tmp_path: Path) -> None:
    engine = new_queue(tmp_path, job())
    assert RUN_ID.fullmatch(trigger_run(engine, "tidy", "a b/../c\n", START))


def test_a_run_of_an_unknown_or_a_watched_job_is_refused(tmp_path: Path) -> None:
    engine = new_queue(tmp_path, job(run=None))
    with pytest.raises(UnknownJobError, match="no job 'other'"):
        trigger_run(engine, "other", "k", START)
    with pytest.raises(ValueError, match="run elsewhere"):
        trigger_run(engine, "tidy", "k", START)


def test_two_workers_never_claim_the_same_run(tmp_path: Path) -> None:
    engine = new_queue(tmp_path, job(overlap="allow"))
    for number in range(60):
        trigger_run(engine, "tidy", f"k{number}", START)
    taken: list[str] = []
    barrier = Barrier(2)

    def work(name: str) -> None:
        barrier.wait()
        while batch := take(engine, at(1), limit=3, worker=name):
            taken.extend(claimed.run_id for claimed in batch)

    threads = [Thread(target=work, args=(name,)) for name in ("w1", "w2")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(taken) == len(set(taken)) == 60


def test_the_more_urgent_goes_first_and_then_the_longest_due(tmp_path: Path) -> None:
    names = {"slow": "background", "old": "important", "new": "important", "top": "critical"}
    engine = new_queue(tmp_path, *[job(id=name, priority=urgency) for name, urgency in names.items()])
    for second, name in enumerate(names):
        trigger_run(engine, name, "k", START + timedelta(seconds=second))
    assert [claimed.job.id for claimed in take(engine, at(9), limit=3)] == ["top", "old", "new"]


def test_runs_that_must_wait_hold_up_nobody_else(tmp_path: Path) -> None:
    engine = new_queue(tmp_path, job(concurrency=1, overlap="allow"), job(id="other"))
    for number in range(150):
        trigger_run(engine, "tidy", f"k{number}", START)
    trigger_run(engine, "other", "k", START + timedelta(seconds=1))
    assert [claimed.job.id for claimed in take(engine, at(2))] == ["tidy", "other"]


@pytest.mark.parametrize(("limit", "running"), [(1, 1), (3, 3), (None, 5)])
def test_concurrency_bounds_how_many_run(tmp_path: Path, limit: int | None, running: int) -> None:
    engine = new_queue(tmp_path, job(concurrency=limit, overlap="allow"))
    for number in range(5):
        trigger_run(engine, "tidy", f"k{number}", START)
    assert len(take(engine, at(1))) == running


def overlapping(tmp_path: Path, seconds: int) -> tuple[list[int], list[int]]:
    """Ten minutely slots whose runs take so long: the slots that started, and those that were skipped."""
    engine = new_queue(tmp_path, minutely())
    plan(engine, START, horizon=timedelta(minutes=9))
    started = []
    for second in range(0, 600, 10):
        for claimed in take(engine, at(second)):
            started.append(second // 60)
            ends = second + seconds
            if ends <= second + 60:
                finish(engine, at(ends), claimed, WELL)
                continue
            for later in range(second + 10, ends, 10):
                assert take(engine, at(later)) == []
            finish(engine, at(ends), claimed, WELL)
    skipped = [int(event["slot"][14:16]) for event in said(engine, "skipped")]
    assert {event["data"]["reason"] for event in said(engine, "skipped")} <= {"overlap"}
    return started, skipped


def test_a_job_that_outgrows_its_interval_skips_the_slots_it_overlaps(tmp_path: Path) -> None:
    assert overlapping(tmp_path, 150) == ([0, 3, 6, 9], [1, 2, 4, 5, 7, 8])


def test_an_end_at_the_next_slot_is_no_overlap(tmp_path: Path) -> None:
    assert overlapping(tmp_path, 60) == (list(range(10)), [])


@pytest.mark.parametrize(("ended", "state"), [(59.999999, "running"), (60.0, "running"), (60.000001, "skipped")])
def test_overlap_is_decided_by_the_slot_and_not_by_when_a_worker_looked(
    tmp_path: Path, ended: float, state: str
) -> None:
    engine = new_queue(tmp_path, minutely())
    plan(engine, START, horizon=timedelta(minutes=1))
    finish(engine, at(ended), take_one(engine, at(1)), WELL)
    take(engine, at(65))
    assert states(engine)["tidy@2026-03-01T08:01:00Z"] == state


def test_a_backlog_waits_and_is_not_skipped_for_overlap(tmp_path: Path) -> None:
    engine = new_queue(tmp_path, minutely(catch_up="all"))
    plan(engine, START + timedelta(minutes=5, seconds=30), horizon=timedelta(0))
    ran = 0
    for second in range(340, 400, 10):
        for claimed in take(engine, at(second)):
            ran += 1
            finish(engine, at(second + 5), claimed, WELL)
    assert (ran, said(engine, "skipped")) == (6, [])


def test_a_failed_attempt_comes_back_after_its_back_off(tmp_path: Path) -> None:
    retry = Retry(attempts=3, initial=timedelta(seconds=10), jitter="none")
    engine = new_queue(tmp_path, job(retry=retry))
    trigger_run(engine, "tidy", "k", START)
    finish(engine, at(1), take_one(engine, at(0)), BADLY)
    assert take(engine, at(10.999999)) == []
    assert next_available(engine) == START + timedelta(seconds=11)
    second = take_one(engine, at(11))
    assert (second.attempt, second.fence, second.retries_used) == (2, 2, 1)
    finish(engine, at(12), second, BADLY)
    finish(engine, at(33), take_one(engine, at(32)), BADLY)
    kinds = [event["type"] for event in said(engine)]
    assert kinds == ["queued", "started", "retrying", "started", "retrying", "started", "failed", "dead_lettered"]
    assert said(engine, "failed")[0]["data"]["error"] == {"kind": "temporary", "message": "exit 1", "exit_code": 1}
    assert said(engine, "dead_lettered")[0]["data"] == {"queue": "default", "reason": "attempts_used"}
    assert said(engine, "retrying")[0]["data"]["retry_at"] == "2026-03-01T08:00:11Z"


def test_a_stale_fence_changes_nothing(tmp_path: Path) -> None:
    engine = new_queue(tmp_path, job(retry=Retry(attempts=3, initial=timedelta(0))))
    trigger_run(engine, "tidy", "k", START)
    old = take_one(engine, at(0))
    assert sweep(engine, JobReader(), at(61), untouched) == ["tidy!k"]
    new = take_one(engine, at(62), worker="w2")
    before = said(engine)
    assert not finish(engine, at(63), old, WELL)
    assert not finish(engine, at(63), old, BADLY)
    assert not release(engine, at(63), old, 1.0)
    assert not report(engine, old, START, "heartbeat", {"progress": 0.5})
    assert heartbeat(engine, at(63), [old, new]) == {"tidy!k"}
    assert (said(engine), row(engine, "tidy!k")["worker"]) == (before, "w2")
    assert finish(engine, at(64), new, WELL)
    assert not finish(engine, at(65), new, BADLY)


@pytest.mark.parametrize(("second", "lost"), [(59.999999, []), (60.0, []), (60.000001, ["tidy!k"])])
def test_a_lease_ends_strictly_after_its_last_moment(tmp_path: Path, second: float, lost: list[str]) -> None:
    engine = new_queue(tmp_path, job())
    trigger_run(engine, "tidy", "k", START)
    take_one(engine, at(0))
    assert sweep(engine, JobReader(), at(second), untouched) == lost


def test_heartbeats_keep_a_run_however_the_wall_clock_jumps(tmp_path: Path) -> None:
    engine = new_queue(tmp_path, job())
    trigger_run(engine, "tidy", "k", START)
    claimed = take_one(engine, at(0))
    for second in (20, 40, 60, 105):
        assert heartbeat(engine, at(second), [claimed]) == set()
    tomorrow = Moment(START + timedelta(days=1), at(165).boot, "this-boot")
    assert sweep(engine, JobReader(), tomorrow, untouched) == []


def test_a_lease_of_another_boot_has_ended(tmp_path: Path) -> None:
    engine = new_queue(tmp_path, job())
    trigger_run(engine, "tidy", "k", START)
    take_one(engine, at(0))
    assert sweep(engine, JobReader(), at(1, boot_id="next-boot"), untouched) == ["tidy!k"]


def test_a_heartbeat_over_a_third_of_the_lease_is_refused() -> None:
    check_heartbeat(timedelta(seconds=60), timedelta(seconds=20))
    with pytest.raises(ValueError, match="over a third"):
        check_heartbeat(timedelta(seconds=60), timedelta(seconds=20.000001))


def test_what_still_runs_of_a_lost_attempt_is_ended_before_the_run_is_given_back(tmp_path: Path) -> None:
    engine = new_queue(tmp_path, job(retry=Retry(attempts=2, initial=timedelta(0))))
    trigger_run(engine, "tidy", "k", START)
    take_one(engine, at(0))
    seen: list[tuple[str, int, str]] = []
    jobs = JobReader()
    sweep(engine, jobs, at(61), lambda run_id, fence: seen.append((run_id, fence, states(engine)[run_id])))
    assert seen == [("tidy!k", 1, "running")]
    assert said(engine, "retrying")[0]["data"]["error"]["kind"] == "lost"


def test_a_lost_run_without_attempts_left_is_a_dead_letter(tmp_path: Path) -> None:
    engine = new_queue(tmp_path, job())
    trigger_run(engine, "tidy", "k", START)
    take_one(engine, at(0))
    sweep(engine, JobReader(), at(61), untouched)
    failed, letter = said(engine, "failed", "dead_lettered")
    assert (failed["data"]["error"]["kind"], letter["data"]["reason"]) == ("lost", "attempts_used")


def test_an_interrupted_run_starts_anew_and_has_used_no_retry(tmp_path: Path) -> None:
    engine = new_queue(tmp_path, job())
    trigger_run(engine, "tidy", "k", START)
    assert release(engine, at(5), take_one(engine, at(0)), 5.0)
    again = take_one(engine, at(5))
    assert (again.attempt, again.retries_used) == (2, 0)
    assert said(engine, "retrying")[0]["data"]["error"]["kind"] == "interrupted"


def test_a_dead_letter_is_redriven_with_the_attempt_to_come(tmp_path: Path) -> None:
    engine = new_queue(tmp_path, job())
    run_id = trigger_run(engine, "tidy", "k", START)
    finish(engine, at(1), take_one(engine, at(0)), BADLY)
    assert depths(engine, at(11).now)[0]["dead_oldest_seconds"] == 10
    assert redrive(engine, run_id, at(20).now, "ana")
    assert not redrive(engine, run_id, at(20).now, "ana")
    (event,) = said(engine, "redriven")
    assert (event["attempt"], event["data"]["by"], depths(engine, at(20).now)[0]["dead_depth"]) == (2, "ana", 0)
    assert take_one(engine, at(21)).attempt == 2


def test_a_discarded_dead_letter_leaves_the_depth_and_keeps_its_outcome(tmp_path: Path) -> None:
    engine = new_queue(tmp_path, job())
    run_id = trigger_run(engine, "tidy", "k", START)
    finish(engine, at(1), take_one(engine, at(0)), BADLY)
    assert discard(engine, run_id, at(20).now, "ana", "no longer needed")
    assert not discard(engine, run_id, at(20).now, "ana", "again")
    assert (states(engine)[run_id], depths(engine, at(20).now)) == ("failed", [])


def test_depths_count_what_is_due_by_queue(tmp_path: Path) -> None:
    engine = new_queue(tmp_path, job(queue="night", overlap="allow"))
    for second in (0, 5, 100):
        trigger_run(engine, "tidy", f"k{second}", START + timedelta(seconds=second))
    take(engine, at(1), limit=1)
    assert depths(engine, at(15).now) == [
        {"queue": "night", "depth": 1, "running": 1, "dead_depth": 0, "oldest_seconds": 10, "dead_oldest_seconds": None}
    ]


def test_all_that_is_said_about_a_failed_run_is_a_valid_run_event(tmp_path: Path) -> None:
    engine = new_queue(tmp_path, job())
    trigger_run(engine, "tidy", "k", START)
    hostile = Result(Problem("temporary", "\x01" * 5000, 1), 1.0, "\x01é" * 20_000)
    finish(engine, at(1), take_one(engine, at(0)), hostile)
    assert [parse_event(event).type for event in said(engine)][2:] == ["failed", "dead_lettered"]
