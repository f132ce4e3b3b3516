"""The supervisor and `tepat up` with real processes: order, restarts, taken ports, and the supervisor's own death."""

import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from control import cli
from control.supervisor import Part, Supervisor, restart_delay
from scheduler.clock import monotonic, pause

ROOT = Path(__file__).resolve().parents[2]
SLEEPER = """
import signal, sys, time
signal.signal(signal.SIGTERM, lambda *_: (print("told", time.monotonic_ns(), flush=True), sys.exit()))
signal.pause()
"""
KILLED = """
import os, sys
from pathlib import Path
from control.supervisor import Part, Supervisor
with Supervisor(Path(sys.argv[1])) as supervisor:
    supervisor.start(Part(name="child", command=("sleep", "1000")))
    print(supervisor.pids()["child"], flush=True)
    supervisor.watch()
"""


def test_the_delay_doubles_and_is_bounded() -> None:
    assert [restart_delay(ends) for ends in (1, 2, 3, 7, 100)] == [0.5, 1.0, 2.0, 30.0, 30.0]


def test_a_part_that_ends_is_started_again(tmp_path: Path) -> None:
    said: list[str] = []
    with Supervisor(tmp_path, said.append) as supervisor:
        supervisor.start(Part(name="sleeper", command=("sleep", "1000")))
        first = supervisor.pids()["sleeper"]
        os.kill(first, signal.SIGKILL)
        again = lambda: supervisor.pids().get("sleeper", first) != first  # noqa: E731
        assert supervisor.await_ready("sleeper", again, within=30)
    assert "sleeper ended (-9)" in said[0]


def test_stages_stop_the_highest_first_and_every_part_is_told(tmp_path: Path) -> None:
    order: list[str] = []
    with Supervisor(tmp_path, order.append) as supervisor:
        for name, stage in (("last", 0), ("first", 1)):
            supervisor.start(Part(name=name, stage=stage, command=(sys.executable, "-c", SLEEPER), grace=30))
        pids = supervisor.pids()
        assert supervisor.await_ready("first", lambda: all(map(_catches_term, pids.values())), within=30)
    assert order == []
    (first, told_first), (last, told_last) = (
        (tmp_path / f"{name}.log").read_text().split() for name in ("first", "last")
    )
    assert first == last == "told"
    # By the machine's monotonic clock: a file's time of change moves in steps that both parts can fall into.
    assert int(told_first) < int(told_last)


def _catches_term(pid: int) -> bool:
    status = Path(f"/proc/{pid}/status").read_text()
    caught = next(line for line in status.splitlines() if line.startswith("SigCgt"))
    return bool(int(caught.split()[1], 16) >> (signal.SIGTERM - 1) & 1)


def test_a_part_that_will_not_end_is_killed_after_its_grace(tmp_path: Path) -> None:
    said: list[str] = []
    stubborn = ("sh", "-c", "trap '' TERM; echo ready; while :; do sleep 0.1; done")
    with Supervisor(tmp_path, said.append) as supervisor:
        supervisor.start(Part(name="stubborn", command=stubborn, grace=0.1))
        pid = supervisor.pids()["stubborn"]
        assert supervisor.await_ready("stubborn", lambda: "ready" in supervisor.tail("stubborn"), within=30)
    assert "did not end in time" in said[0]
    assert not Path(f"/proc/{pid}").exists()


def test_when_the_supervisor_is_killed_its_parts_end(tmp_path: Path) -> None:
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", KILLED, str(tmp_path)]
    with subprocess.Popen(command, env=environ, stdout=subprocess.PIPE) as supervisor:
        assert supervisor.stdout is not None
        child = int(supervisor.stdout.readline())
        supervisor.kill()
    deadline = monotonic() + 30
    while _alive(child) and monotonic() < deadline:
        pause(0.02)
    assert not _alive(child)


def _alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


@pytest.mark.parametrize(("option", "words"), [("--port", "for the API"), ("--dashboard-port", "for the dashboard")])
def test_a_taken_port_is_named_with_the_option_that_chooses_another(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], option: str, words: str
) -> None:
    (tmp_path / "jobs.yaml").write_text("jobs: []\n")
    with socket.socket() as taken, socket.socket() as spare:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        spare.bind(("127.0.0.1", 0))
        ports = {"--port": spare.getsockname()[1], "--dashboard-port": spare.getsockname()[1] + 1}
        ports[option] = taken.getsockname()[1]
        spare.close()
        given = [text for name, port in ports.items() for text in (name, str(port))]
        assert cli.main(["up", str(tmp_path), "--var", str(tmp_path / "var"), *given]) == 2
    said = capsys.readouterr().err
    assert f"port {ports[option]}, {words}, is taken" in said
    assert f"{option} PORT" in said
    assert not (tmp_path / "var" / "tokens").exists()


def test_an_open_address_is_refused_where_no_tokens_are(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "jobs.yaml").write_text("jobs: []\n")
    assert cli.main(["up", str(tmp_path), "--var", str(tmp_path / "var"), "--host", "0.0.0.0"]) == 2
    assert "holds no tokens yet" in capsys.readouterr().err
