"""The programs of docs/idempotency.md as real jobs: they take effect once though attempts die or overlap.

Each is run as it stands on the page. What its mutant leaves behind shows that the same history tells the two apart.
"""

import re
import signal
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import pytest
from queueing.farm import ROOT, START, minutely, new_queue, row, said, start_worker, until
from sqlalchemy import Engine

from scheduler import clock
from scheduler.jobs import Command, Retry
from scheduler.queue import make_up_slot

PAGE = (ROOT / "docs" / "idempotency.md").read_text(encoding="utf-8")
BLOCK = re.compile(r"^```python\n(# (\w+)\.py .*?)^```$", re.MULTILINE | re.DOTALL)
PROGRAMS: dict[str, str] = {name: code for code, name in BLOCK.findall(PAGE)}
EFFECTS = {
    "upsert": "SELECT total FROM totals",
    "fence": "SELECT rate FROM rates",
    "deduplicate": "SELECT amount FROM postings",
}
RETRY = Retry(attempts=3, initial=timedelta(0))
RUN = "tidy@2026-03-01T08:00:00Z"
PROGRAM = f'"{sys.executable}" program.py effects.db "$value"'

Plant = Callable[..., "Farm"]
"""Takes a program's code and the job's arguments."""


@dataclass
class Farm:
    """One job with one due slot, the workers started for it, and the database that its program writes to."""

    folder: Path
    engine: Engine
    workers: list[subprocess.Popen[bytes]]

    def start(self, name: str, heartbeat: float = 20) -> subprocess.Popen[bytes]:
        worker = start_worker(self.folder, name, heartbeat=heartbeat)
        self.workers.append(worker)
        return worker

    def until_file(self, name: str) -> None:
        until((self.folder / name).exists)

    def until_succeeded(self) -> None:
        until(lambda: row(self.engine, RUN)["state"] == "succeeded")
        assert (row(self.engine, RUN)["attempt"], row(self.engine, RUN)["fence"]) == (2, 2)

    def effect(self, program: str) -> list[int]:
        with closing(sqlite3.connect(self.folder / "effects.db")) as database:
            return [value for (value,) in database.execute(EFFECTS[program])]


@pytest.fixture
def plant(tmp_path: Path) -> Iterator[Plant]:
    """A farm whose job runs `argv` where the program's code is `program.py` and its input `feed`."""
    workers: list[subprocess.Popen[bytes]] = []

    def make(code: str, *argv: str) -> Farm:
        (tmp_path / "program.py").write_text(code, encoding="utf-8")
        (tmp_path / "feed").write_text("100")
        command = Command(argv=argv, cwd=str(tmp_path), grace=timedelta(seconds=1))
        engine = new_queue(tmp_path, minutely(run=command, retry=RETRY))
        assert make_up_slot(engine, "tidy", START, clock.now()) == RUN
        return Farm(tmp_path, engine, workers)

    yield make
    for process in workers:
        process.kill()
        process.wait()


def killed_after_its_commit(plant: Plant, code: str) -> Farm:
    """The first attempt has committed, and its worker and it are killed before the attempt's end is written."""
    script = f"""
    value=$(cat feed); {PROGRAM} || exit
    touch committed.$TEPAT_ATTEMPT
    [ $TEPAT_ATTEMPT != 1 ] || exec sleep 300
    """
    farm = plant(code, "sh", "-c", script)
    first = farm.start("w1")
    farm.until_file("committed.1")
    assert row(farm.engine, RUN)["state"] == "running"
    first.kill()
    first.wait()
    farm.start("w2", heartbeat=0.2)
    farm.until_succeeded()
    (lost,) = said(farm.engine, "retrying")
    assert lost["data"]["error"]["kind"] == "lost"
    assert (farm.folder / "committed.2").exists()
    return farm


def woken_late(plant: Plant, code: str, later: str = "100") -> Farm:
    """The first attempt stalls between its read and its write, and writes when the second is over and has succeeded.

    `later` is what the second attempt reads. The first one's worker is frozen meanwhile, as on a machine that hangs.
    """
    script = f"""
    value=$(cat feed)
    if [ $TEPAT_ATTEMPT = 1 ]; then touch stalled; until [ -e awake ]; do sleep 0.05; done; fi
    {PROGRAM}; code=$?
    echo $code > code; mv code ended.$TEPAT_ATTEMPT; exit $code
    """
    # Without its mark Tepat can't find the process: so is one on a machine that is cut off, or behind sudo.
    farm = plant(code, "env", "-u", "TEPAT_STORE", "sh", "-c", script)
    first = farm.start("w1")
    farm.until_file("stalled")
    # Its first heartbeat is far: nothing of it is frozen in the midst of a transaction.
    first.send_signal(signal.SIGSTOP)
    (farm.folder / "feed").write_text(later)
    with farm.engine.begin() as connection:
        connection.exec_driver_sql("UPDATE runs SET lease_until = 0")
    farm.start("w2", heartbeat=0.2)
    farm.until_succeeded()
    assert not (farm.folder / "ended.1").exists()
    (farm.folder / "awake").touch()
    farm.until_file("ended.1")
    return farm


def mutant(program: str, *changes: tuple[str, str]) -> str:
    """The page's program with each text replaced; every one of them must be there, once."""
    code = PROGRAMS[program]
    for old, new in changes:
        assert code.count(old) == 1, old
        code = code.replace(old, new)
    return code


UNKEYED_UPSERT = (" PRIMARY KEY", ""), (" ON CONFLICT (slot) DO UPDATE SET total = excluded.total", "")
UNKEYED_TABLE = ("run_id TEXT PRIMARY KEY", "run_id TEXT"), (" ON CONFLICT (run_id) DO NOTHING", "")
UNFENCED = (" AND fence < :fence", "")
ADDING = ("SET rate = :rate", "SET rate = coalesce(rate, 0) + :rate")


def test_the_page_has_one_program_for_each_pattern() -> None:
    assert list(PROGRAMS) == list(EFFECTS)
    assert PAGE.count("```python") == len(PROGRAMS)


@pytest.mark.parametrize("program", EFFECTS)
def test_an_attempt_killed_after_its_commit_leaves_one_effect(plant: Plant, program: str) -> None:
    assert killed_after_its_commit(plant, PROGRAMS[program]).effect(program) == [100]


@pytest.mark.parametrize(
    ("program", "changes", "left"),
    [
        ("upsert", UNKEYED_UPSERT, [100, 100]),
        ("fence", (ADDING,), [200]),
        ("deduplicate", UNKEYED_TABLE, [100, 100]),
    ],
)
def test_without_its_pattern_an_attempt_killed_after_its_commit_counts_twice(
    plant: Plant, program: str, changes: tuple[tuple[str, str], ...], left: list[int]
) -> None:
    assert killed_after_its_commit(plant, mutant(program, *changes)).effect(program) == left


@pytest.mark.parametrize(("program", "later", "left"), [
    ("upsert", "100", [100]),
    ("fence", "250", [250]),
    ("deduplicate", "100", [100]),
])  # fmt: skip
def test_an_attempt_that_wakes_up_late_adds_no_second_effect(
    plant: Plant, program: str, later: str, left: list[int]
) -> None:
    farm = woken_late(plant, PROGRAMS[program], later)
    assert farm.effect(program) == left
    refused = (farm.folder / "ended.1").read_text() != "0\n"
    assert refused == (program == "fence")


@pytest.mark.parametrize(
    ("program", "changes", "left"),
    [
        ("upsert", UNKEYED_UPSERT, [100, 100]),
        ("fence", (UNFENCED,), [100]),
        ("deduplicate", UNKEYED_TABLE, [100, 100]),
    ],
)
def test_without_its_pattern_an_attempt_that_wakes_up_late_writes_over_or_beside_the_newer_one(
    plant: Plant, program: str, changes: tuple[tuple[str, str], ...], left: list[int]
) -> None:
    later = "250" if program == "fence" else "100"
    assert woken_late(plant, mutant(program, *changes), later).effect(program) == left


def test_a_worker_that_wakes_up_late_changes_nothing_about_the_run(plant: Plant) -> None:
    farm = woken_late(plant, PROGRAMS["deduplicate"])
    before = row(farm.engine, RUN)
    farm.workers[0].send_signal(signal.SIGCONT)
    farm.workers[0].terminate()
    assert farm.workers[0].wait() == 0
    assert row(farm.engine, RUN) == before
    assert [event["attempt"] for event in said(farm.engine, "succeeded")] == [2]


DIES_BETWEEN = "    if os.environ['TEPAT_ATTEMPT'] == '1': os.kill(os.getpid(), 9)\n    if is_first:"


@pytest.mark.parametrize(
    ("between", "left"), [(DIES_BETWEEN, [100]), (f"    database.commit()\n{DIES_BETWEEN}", [])], ids=["one", "two"]
)
def test_an_effect_is_lost_only_where_its_key_is_committed_before_it(
    plant: Plant, between: str, left: list[int]
) -> None:
    """With one transaction an attempt that dies between key and effect leaves neither; with two, a key alone."""
    farm = plant(mutant("deduplicate", ("    if is_first:", between)), "sh", "-c", f"value=$(cat feed); exec {PROGRAM}")
    farm.start("w1")
    farm.until_succeeded()
    (died,) = said(farm.engine, "retrying")
    assert died["data"]["error"]["exit_code"] == 128 + signal.SIGKILL
    assert farm.effect("deduplicate") == left
