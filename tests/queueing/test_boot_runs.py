"""`@reboot`: one run at the host's start, however often the scheduler starts under the same boot."""

from datetime import timedelta
from pathlib import Path

from queueing.farm import START, at, job, minutely, new_queue, said, states

from scheduler import clock
from scheduler.jobs import REBOOT, Schedule
from scheduler.passes import Passes, run_at_boot
from scheduler.planner import plan
from scheduler.registry import apply_definitions

AT_BOOT = Schedule(timezone="UTC", cron=REBOOT)
BOOT, NEXT_BOOT = "3f8c1e2a-b4d1-4c0e-9d77-000000000001", "77d2a9c0-1e55-41d0-8b0a-000000000002"


def test_a_boot_makes_one_run_whose_key_is_the_boots_own(tmp_path: Path) -> None:
    engine = new_queue(tmp_path, job(schedule=AT_BOOT))
    assert run_at_boot(engine, at(0, BOOT)) == ["tidy!boot-3f8c1e2a-b4d"]
    assert run_at_boot(engine, at(3600, BOOT)) == ["tidy!boot-3f8c1e2a-b4d"]
    assert states(engine) == {"tidy!boot-3f8c1e2a-b4d": "queued"}
    assert len(said(engine, "queued")) == 1


def test_the_next_boot_makes_the_next_run(tmp_path: Path) -> None:
    engine = new_queue(tmp_path, job(schedule=AT_BOOT))
    run_at_boot(engine, at(0, BOOT))
    run_at_boot(engine, at(60, NEXT_BOOT))
    assert sorted(states(engine)) == ["tidy!boot-3f8c1e2a-b4d", "tidy!boot-77d2a9c0-1e5"]


def test_only_jobs_that_are_run_here_start_with_the_host(tmp_path: Path) -> None:
    engine = new_queue(
        tmp_path,
        minutely(),
        job(id="by-hand"),
        job(id="watched", schedule=AT_BOOT, run=None),
        job(id="off", schedule=AT_BOOT, enabled=False),
        job(id="both", schedule=Schedule(timezone="UTC", cron="0 3 * * *", also=(AT_BOOT,))),
    )
    assert run_at_boot(engine, at(0, BOOT)) == ["both!boot-3f8c1e2a-b4d"]


def test_a_run_at_boot_has_no_slots_and_is_never_caught_up(tmp_path: Path) -> None:
    engine = new_queue(tmp_path, job(schedule=AT_BOOT))
    assert plan(engine, START) == plan(engine, START + timedelta(days=400)) == 0
    assert said(engine) == []


def test_a_scheduler_triggers_them_at_its_first_pass_alone(tmp_path: Path) -> None:
    engine = new_queue(tmp_path, job(schedule=AT_BOOT), now=clock.now())
    passes = Passes(engine, tmp_path / "queue.db")
    passes.make()
    name = f"tidy!boot-{clock.boot_id()[:12]}"
    assert list(states(engine)) == [name]
    apply_definitions(engine, [job(schedule=AT_BOOT), job(id="later", schedule=AT_BOOT)], clock.now())
    passes.make()
    assert list(states(engine)) == [name]
    Passes(engine, tmp_path / "queue.db").make()
    assert sorted(states(engine)) == [name.replace("tidy", "later"), name]
