"""What docs/idempotency.md promises of the variables that a command gets."""

import re
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest
from queueing.farm import ROOT, START, at, minutely, new_queue, row, take_one
from sqlalchemy import Engine

from scheduler.endings import Problem, Result, finish, redrive, release, sweep
from scheduler.executors.command import Place, environment
from scheduler.executors.warden import Guard
from scheduler.jobs import Command, Job, Retry
from scheduler.queue import Claimed, heartbeat, make_up_slot, trigger_run
from scheduler.registry import JobReader

PAGE = (ROOT / "docs" / "idempotency.md").read_text(encoding="utf-8")
TABLE = set(re.findall(r"^\| `(\w+)` \|", PAGE, re.MULTILINE))
HOURS = 3600.0
PERMANENT = Result(Problem("permanent", "no"), 1.0)


def told(claimed: Claimed) -> dict[str, str]:
    """What the command of this attempt finds in its environment."""
    assert claimed.job.run is not None
    guard = Guard()
    guard.close()
    return environment(claimed, claimed.job.run, Place("/queue.db", "pid:[1]/1/1", guard))


def with_env(**env: str) -> Job:
    return minutely(run=Command(argv=("true",), env=env))


def slot_run(folder: Path, job: Job) -> Engine:
    engine = new_queue(folder, job)
    make_up_slot(engine, "tidy", START, at(60).now)
    return engine


def test_the_page_names_what_a_command_is_told_and_nothing_else(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("TEPAT_URL", raising=False)
    names = told(take_one(slot_run(tmp_path, minutely()), at(60))).keys() - {"PATH", "HOME", "LANG"}
    assert names == TABLE | {"TEPAT_STORE", "TEPAT_WORKER"}
    assert all(f"`{name}`" in PAGE for name in names)


def test_a_triggered_run_has_all_but_a_slot(tmp_path: Path) -> None:
    engine = new_queue(tmp_path, minutely())
    trigger_run(engine, "tidy", "order-7", at(0).now)
    given = told(take_one(engine, at(0)))
    assert given.keys() & TABLE == TABLE - {"TEPAT_SLOT"}
    assert given["TEPAT_RUN_ID"] == "tidy!order-7"


def test_the_environment_of_a_job_cannot_pretend_a_slot_or_anything_else(tmp_path: Path) -> None:
    pretended = dict.fromkeys(TABLE, "pretended")
    engine = slot_run(tmp_path, with_env(**pretended, COLOUR="red"))
    trigger_run(engine, "tidy", "k", at(0).now)
    for number in (1, 2):
        claimed = take_one(engine, at(60 * number))
        given = told(claimed)
        assert given["COLOUR"] == "red"
        assert "pretended" not in given.values()
        assert ("TEPAT_SLOT" in given) == (claimed.slot is not None)
        assert finish(engine, at(60 * number), claimed, Result(None, 1.0))


def lose(engine: Engine, claimed: Claimed, seconds: float) -> None:
    lost = sweep(engine, JobReader(), at(seconds), lambda _run, _fence: None, 0.0)
    assert lost == [claimed.run_id]


def drain(engine: Engine, claimed: Claimed, seconds: float) -> None:
    assert release(engine, at(seconds), claimed, 1.0)


def retry(engine: Engine, claimed: Claimed, seconds: float) -> None:
    assert finish(engine, at(seconds), claimed, Result(Problem("temporary", "not yet"), 1.0), 0.0)


def redriven(engine: Engine, claimed: Claimed, seconds: float) -> None:
    assert finish(engine, at(seconds), claimed, PERMANENT)
    assert redrive(engine, claimed.run_id, at(seconds).now, "ops")


WAYS_ROUND: list[Callable[[Engine, Claimed, float], None]] = [retry, lose, drain, redriven, retry]


def test_the_fence_grows_with_each_claim_and_the_names_of_the_run_stay(tmp_path: Path) -> None:
    engine = slot_run(tmp_path, minutely(retry=Retry(attempts=9, initial=timedelta(0))))
    seen = []
    for hour, way_round in enumerate(WAYS_ROUND, start=1):
        claimed = take_one(engine, at(hour * HOURS))
        seen.append(told(claimed))
        for renewal in (20, 40):
            assert heartbeat(engine, at(hour * HOURS + renewal), [claimed]) == set()
            assert row(engine, claimed.run_id)["fence"] == claimed.fence
        way_round(engine, claimed, hour * HOURS + 1800)
        assert row(engine, claimed.run_id)["fence"] == claimed.fence
    assert [int(one["TEPAT_FENCE"]) for one in seen] == [1, 2, 3, 4, 5]
    assert [int(one["TEPAT_ATTEMPT"]) for one in seen] == [1, 2, 3, 4, 5]
    assert {(one["TEPAT_RUN_ID"], one["TEPAT_SLOT"], one["TEPAT_JOB"]) for one in seen} == {
        ("tidy@2026-03-01T08:00:00Z", "2026-03-01T08:00:00Z", "tidy")
    }
    traces = [one["TRACEPARENT"].split("-") for one in seen]
    assert len({trace for _, trace, _, _ in traces}) == 1
    assert len({span for _, _, span, _ in traces}) == len(seen)


def test_the_services_address_is_handed_on_unless_the_job_names_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("TEPAT_URL", "http://127.0.0.1:18080")
    assert told(take_one(slot_run(tmp_path / "a", minutely()), at(60)))["TEPAT_URL"] == "http://127.0.0.1:18080"
    other = with_env(TEPAT_URL="http://other.example")
    assert told(take_one(slot_run(tmp_path / "b", other), at(60)))["TEPAT_URL"] == "http://other.example"
