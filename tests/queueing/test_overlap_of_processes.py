"""Overlap with real workers and real commands: an old one is gone before the new one starts, whatever it takes."""

import os
import signal
import subprocess
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest
from queueing.farm import job, new_queue, row, said, start_worker, states, until
from sqlalchemy import Engine

from scheduler import clock
from scheduler.jobs import Command, Schedule
from scheduler.passes import Passes

# The lock is held by the command and all its children: whoever finds it taken met another run of the job.
ALONE = "exec 9>{folder}/lock; flock -n 9 || touch {folder}/clash; echo $TEPAT_RUN_ID >> {folder}/ran; "
STUBBORN = ALONE + "echo begun; trap '' TERM; sleep 300; sleep 300"
SHORT = ALONE + "sleep 3"


@pytest.fixture
def workers() -> Iterator[list[subprocess.Popen[bytes]]]:
    started: list[subprocess.Popen[bytes]] = []
    yield started
    for process in started:
        process.kill()
        process.wait()


def queue_of(folder: Path, script: str, seconds: float, overlap: str) -> tuple[Engine, Passes]:
    command = Command(argv=(script.format(folder=folder),), shell=True, grace=timedelta(seconds=1))
    schedule = Schedule(timezone="UTC", every=timedelta(seconds=seconds), anchor=clock.now())
    engine = new_queue(folder, job(schedule=schedule, run=command, overlap=overlap), now=clock.now())
    return engine, Passes(engine, folder / "queue.db")


def ran(folder: Path) -> list[str]:
    path = folder / "ran"
    return path.read_text().split() if path.exists() else []


def after_passes(passes: Passes, folder: Path, runs: int) -> list[str]:
    """The first `runs` runs, with the scheduler looking all the while."""

    def enough() -> bool:
        passes.make()
        return len(ran(folder)) >= runs

    until(enough)
    return ran(folder)[:runs]


def test_a_worker_with_one_place_stops_a_stubborn_run_for_the_next_slot(
    tmp_path: Path, workers: list[subprocess.Popen[bytes]]
) -> None:
    engine, passes = queue_of(tmp_path, STUBBORN, 4, "replace")
    workers.append(start_worker(tmp_path, "w1", slots=1))
    first, second, third = after_passes(passes, tmp_path, 3)
    assert not (tmp_path / "clash").exists()
    assert [states(engine)[name] for name in (first, second)] == ["cancelled", "cancelled"]
    assert row(engine, first)["output_tail"] == "begun\n"
    reasons = [event["data"]["reason"] for event in said(engine, "cancelled")]
    assert reasons == [f"replaced by {second}", f"replaced by {third}"]
    assert [event["type"] for event in said(engine) if event["run"] == first] == ["queued", "started", "cancelled"]


def test_a_run_of_a_dead_worker_is_replaced_by_another_workers(
    tmp_path: Path, workers: list[subprocess.Popen[bytes]]
) -> None:
    engine, passes = queue_of(tmp_path, STUBBORN, 4, "replace")
    workers.append(start_worker(tmp_path, "w1", slots=1))
    (first,) = after_passes(passes, tmp_path, 1)
    os.kill(workers[0].pid, signal.SIGSTOP)

    def told() -> bool:
        passes.make()
        return row(engine, first)["replaced_by"] is not None

    until(told)
    assert states(engine)[first] == "running"
    workers[0].kill()
    workers[0].wait()
    workers.append(start_worker(tmp_path, "w2", slots=1))
    after_passes(passes, tmp_path, 2)
    assert not (tmp_path / "clash").exists()
    assert states(engine)[first] == "cancelled"
    assert said(engine, "dead_lettered", "failed") == []


def test_runs_that_queue_follow_each_other_in_the_order_of_their_slots(
    tmp_path: Path, workers: list[subprocess.Popen[bytes]]
) -> None:
    engine, passes = queue_of(tmp_path, SHORT, 1, "queue")
    workers.extend(start_worker(tmp_path, name, slots=2) for name in ("w1", "w2"))
    found = after_passes(passes, tmp_path, 4)
    assert not (tmp_path / "clash").exists()
    scheduled = [event["run"] for event in said(engine, "queued")]
    assert found == scheduled[:4]
    assert said(engine, "skipped") == []
