import os
import signal
import subprocess
from collections.abc import Iterator
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from threading import Event, Thread

import pytest
from queueing.farm import START, job, new_queue, row, said, start_worker, states, until
from sqlalchemy import Engine

from scheduler import clock
from scheduler.endings import Result, finish
from scheduler.jobs import Command, Retry
from scheduler.leases import read_moment
from scheduler.passes import one_pass
from scheduler.queue import Claimed, trigger_run
from scheduler.registry import JobReader
from scheduler.worker import run_worker

RETRY = Retry(attempts=3, initial=timedelta(0))


@pytest.fixture
def workers(tmp_path: Path) -> Iterator[list[subprocess.Popen[bytes]]]:
    started: list[subprocess.Popen[bytes]] = []
    yield started
    for process in started:
        process.kill()
        process.wait()


def gone(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


def number_in(path: Path) -> int:
    with suppress(OSError, ValueError):
        return int(path.read_text())
    return 0


def shell(script: str, **changes: object) -> Command:
    return Command(argv=(script,), shell=True, **changes)  # type: ignore[arg-type]


def test_a_worker_runs_what_is_due_and_stops_when_told(tmp_path: Path) -> None:
    engine = new_queue(tmp_path, job("echo", "hello"), job(id="bad", run=shell("exit 3")))
    stop = Event()
    thread = Thread(target=run_worker, args=(tmp_path / "queue.db", "w1", 2, stop))
    thread.start()
    trigger_run(engine, "tidy", "k", clock.now())
    trigger_run(engine, "bad", "k", clock.now())
    until(lambda: states(engine) == {"tidy!k": "succeeded", "bad!k": "failed"})
    stop.set()
    thread.join()
    assert row(engine, "tidy!k")["output_tail"] == "hello\n"
    assert said(engine, "failed")[0]["data"]["error"]["exit_code"] == 3


def test_stages_become_events_of_their_attempt_before_its_end(tmp_path: Path) -> None:
    engine = new_queue(tmp_path, job(run=shell("""echo '{"stage": "load", "seconds": 2}' > $TEPAT_EVENTS""")))
    trigger_run(engine, "tidy", "k", clock.now())
    stop = Event()
    thread = Thread(target=run_worker, args=(tmp_path / "queue.db", "w1", 1, stop))
    thread.start()
    until(lambda: states(engine)["tidy!k"] == "succeeded")
    stop.set()
    thread.join()
    assert [event["type"] for event in said(engine)] == ["queued", "started", "stage", "succeeded"]


def long_job(folder: Path, **changes: object) -> tuple[Engine, Path]:
    """A queued run whose command has a child and a child in another session; their numbers go into files."""
    script = f"""
    sleep 300 & echo $! > {folder}/child
    setsid sh -c 'echo $$ > {folder}/escaped.tmp; mv {folder}/escaped.tmp {folder}/escaped; exec sleep 300' &
    wait
    """
    engine = new_queue(folder, job(run=shell(script, grace=timedelta(seconds=1)), retry=RETRY, **changes))
    trigger_run(engine, "tidy", "k", clock.now())
    return engine, folder


def begun_long_job(
    folder: Path, workers: list[subprocess.Popen[bytes]]
) -> tuple[Engine, subprocess.Popen[bytes], int, int]:
    """The long job in the hands of a first worker: the queue, that worker, and the two children's numbers."""
    engine, _ = long_job(folder)
    first = start_worker(folder, "w1")
    workers.append(first)
    return engine, first, until(lambda: number_in(folder / "child")), until(lambda: number_in(folder / "escaped"))


def test_no_child_of_a_killed_worker_runs_on_and_its_run_is_given_back(
    tmp_path: Path, workers: list[subprocess.Popen[bytes]]
) -> None:
    engine, first, child, escaped = begun_long_job(tmp_path, workers)
    before = row(engine, "tidy!k")
    old = Claimed(run_id="tidy!k", job=job(), slot=None, attempt=1, fence=before["fence"], retries_used=0,
                  worker="w1", started_at=START)  # fmt: skip
    os.kill(first.pid, signal.SIGKILL)
    first.wait()
    until(lambda: gone(child))
    one_pass(engine, str(tmp_path / "queue.db"), JobReader())
    until(lambda: gone(escaped))
    assert states(engine) == {"tidy!k": "queued"}
    (lost,) = said(engine, "retrying")
    assert (lost["data"]["error"]["kind"], lost["attempt"]) == ("lost", 1)
    assert not finish(engine, read_moment(), old, Result(None, 1.0))
    second = start_worker(tmp_path, "w2", grace=0.0)
    workers.append(second)
    until(lambda: states(engine)["tidy!k"] == "running")
    assert (row(engine, "tidy!k")["attempt"], row(engine, "tidy!k")["fence"]) == (2, before["fence"] + 1)


def test_a_worker_that_starts_ends_what_a_killed_one_left_even_without_its_warden(
    tmp_path: Path, workers: list[subprocess.Popen[bytes]]
) -> None:
    engine, first, child, escaped = begun_long_job(tmp_path, workers)
    for warden in children(first.pid, b"warden.py"):
        os.kill(warden, signal.SIGKILL)
    os.kill(first.pid, signal.SIGKILL)
    first.wait()
    workers.append(start_worker(tmp_path, "w1", heartbeat=0.2))
    until(lambda: gone(child) and gone(escaped))
    until(lambda: row(engine, "tidy!k")["attempt"] == 2)


def children(parent: int, named: bytes) -> list[int]:
    found = []
    for entry in Path("/proc").iterdir():
        with suppress(OSError):
            if entry.name.isdigit() and named in (entry / "cmdline").read_bytes():
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
                if int(fields[1]) == parent:
                    found.append(int(entry.name))
    return found


def test_a_worker_told_to_stop_finishes_what_it_can(tmp_path: Path, workers: list[subprocess.Popen[bytes]]) -> None:
    engine = new_queue(tmp_path, job(run=shell(f"touch {tmp_path}/begun; sleep 1; echo done")))
    trigger_run(engine, "tidy", "k", clock.now())
    workers.append(start_worker(tmp_path, "w1"))
    until((tmp_path / "begun").exists)
    workers[0].terminate()
    trigger_run(engine, "tidy", "later", clock.now())
    assert workers[0].wait() == 0
    assert states(engine) == {"tidy!k": "succeeded", "tidy!later": "queued"}


def test_a_drain_gives_back_what_does_not_end_in_time(tmp_path: Path, workers: list[subprocess.Popen[bytes]]) -> None:
    engine, folder = long_job(tmp_path)
    workers.append(start_worker(tmp_path, "w1", grace=0.5))
    child = until(lambda: number_in(folder / "child"))
    escaped = until(lambda: number_in(folder / "escaped"))
    workers[0].terminate()
    assert workers[0].wait() == 0
    run = row(engine, "tidy!k")
    assert (run["state"], run["retries_used"], run["attempt"]) == ("queued", 0, 1)
    assert said(engine, "retrying")[0]["data"]["error"]["kind"] == "interrupted"
    assert gone(child)
    until(lambda: gone(escaped))


def test_a_second_signal_cuts_the_drain_short(tmp_path: Path, workers: list[subprocess.Popen[bytes]]) -> None:
    engine = new_queue(tmp_path, job(run=shell(f"trap '' TERM; touch {tmp_path}/begun; sleep 300; sleep 300")))
    trigger_run(engine, "tidy", "k", clock.now())
    workers.append(start_worker(tmp_path, "w1", grace=600.0))
    until((tmp_path / "begun").exists)
    workers[0].terminate()
    clock.pause(0.3)
    workers[0].terminate()
    assert workers[0].wait(timeout=60) == 0
    assert states(engine) == {"tidy!k": "queued"}


def test_a_run_whose_lease_was_taken_is_stopped_by_its_old_worker(
    tmp_path: Path, workers: list[subprocess.Popen[bytes]]
) -> None:
    engine, folder = long_job(tmp_path)
    workers.append(start_worker(tmp_path, "w1", slots=1, lease=600.0, heartbeat=0.2))
    child = until(lambda: number_in(folder / "child"))
    with engine.begin() as connection:
        connection.exec_driver_sql("UPDATE runs SET fence = fence + 1, worker = 'w2', incarnation = ''")
    until(lambda: gone(child))
    run = row(engine, "tidy!k")
    assert (run["state"], run["worker"], run["fence"]) == ("running", "w2", 2)
