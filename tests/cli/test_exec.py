"""`tepat exec` in real processes: what the caller sees is the command's own, and what the collector hears is true."""

import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from cli.collecting import Collector

from control.commands.exec_ import JOB_ID, RUN_ID
from scheduler import events
from scheduler.instants import format_instant

ROOT = Path(__file__).resolve().parents[2]
TEPAT = (sys.executable, "-m", "control.cli")


@pytest.fixture
def collector() -> Iterator[Collector]:
    with Collector() as running:
        yield running


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    token = tmp_path / "token"
    token.write_text("secret-token\n")
    return {
        **{name: value for name, value in os.environ.items() if not name.startswith("TEPAT_")},
        "PYTHONPATH": str(ROOT),
        "TEPAT_URL": f"http://127.0.0.1:{free_port()}",
        "TEPAT_TOKEN_FILE": str(token),
        "TEPAT_SPOOL": str(tmp_path / "spool"),
    }


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def tepat(environ: dict[str, str], *arguments: str, **more: Any) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([*TEPAT, *arguments], env=environ, capture_output=True, timeout=60, check=False, **more)


def spooled(environ: dict[str, str]) -> list[dict[str, Any]]:
    files = sorted(Path(environ["TEPAT_SPOOL"]).glob("*.json"))
    return [json.loads(file.read_bytes()) for file in files]


def test_the_exit_code_and_both_streams_are_the_commands_own(environ: dict[str, str], collector: Collector) -> None:
    environ["TEPAT_URL"] = collector.url
    ended = tepat(environ, "exec", "--job", "x", "--", "sh", "-c", r"printf 'a\000\377b'; printf err >&2; exit 3")
    assert (ended.returncode, ended.stdout, ended.stderr) == (3, b"a\x00\xffb", b"err")


def test_a_failed_command_is_reported_as_a_failed_run(environ: dict[str, str], collector: Collector) -> None:
    environ["TEPAT_URL"] = collector.url
    tepat(environ, "exec", "--job", "x", "--", "sh", "-c", "echo why; exit 3")
    started, failed = collector.events
    assert (started["type"], failed["type"]) == ("started", "failed")
    assert started["run"] == failed["run"]
    assert "!" not in started["run"]
    assert "@" not in started["run"]
    assert failed["data"]["error"] == {"kind": "permanent", "message": "exit status 3", "exit_code": 3}
    assert failed["data"]["output_tail"] == "why\n"
    assert failed["data"]["seconds"] >= 0
    assert set(collector.tokens) == {"Bearer secret-token"}
    assert all(event["sent_at"] >= event["at"] for event in collector.events)
    assert spooled(environ) == []


def test_what_is_reported_is_what_the_collector_takes(environ: dict[str, str], collector: Collector) -> None:
    environ["TEPAT_URL"] = collector.url
    tepat(environ, "exec", "--job", "x", "--slot", "2026-03-29T00:30:00Z", "--", "head", "-c", "9000", "/dev/zero")
    parsed = [events.parse_event(event) for event in collector.events]
    assert [event.type for event in parsed] == ["started", "succeeded"]
    assert {format_instant(event.slot) for event in parsed if event.slot} == {"2026-03-29T00:30:00Z"}


@pytest.mark.parametrize(("script", "code"), [("kill -TERM $$", 143), ("kill -KILL $$", 137), ("exit 255", 255)])
def test_a_signal_becomes_128_and_its_number(environ: dict[str, str], script: str, code: int) -> None:
    assert tepat(environ, "exec", "--job", "x", "--", "sh", "-c", script).returncode == code


def test_a_command_that_is_not_there_is_127_and_reported(environ: dict[str, str]) -> None:
    ended = tepat(environ, "exec", "--job", "x", "--", "no-such-command-here")
    assert ended.returncode == 127
    assert b"no-such-command-here: command not found" in ended.stderr
    assert [event["type"] for event in spooled(environ)] == ["started", "failed"]


def test_a_command_that_may_not_be_executed_is_126(environ: dict[str, str], tmp_path: Path) -> None:
    plain = tmp_path / "plain"
    plain.write_text("echo no")
    assert tepat(environ, "exec", "--job", "x", "--", str(plain)).returncode == 126


def test_with_the_collector_down_the_report_waits_and_goes_out_with_the_next_run(environ: dict[str, str]) -> None:
    ended = tepat(environ, "exec", "--job", "x", "--", "sh", "-c", "exit 3")
    assert ended.returncode == 3
    assert ended.stderr.count(b"\n") == 1
    assert b"2 reports wait in" in ended.stderr
    waiting = spooled(environ)
    assert [event["type"] for event in waiting] == ["started", "failed"]
    with Collector() as collector:
        environ["TEPAT_URL"] = collector.url
        later = tepat(environ, "exec", "--job", "y", "--", "true")
        assert (later.returncode, later.stderr) == (0, b"")
        assert {event["id"] for event in waiting} < {event["id"] for event in collector.events}
        assert [e["type"] for e in collector.events if e["job"] == "x"] == ["started", "failed"]
    assert spooled(environ) == []


def test_flush_sends_what_waits_and_says_3_when_nobody_answers(environ: dict[str, str]) -> None:
    tepat(environ, "exec", "--job", "x", "--", "true")
    down = tepat(environ, "exec", "--flush", "--json")
    assert down.returncode == 3
    assert json.loads(down.stdout) == {"sent": 0, "refused": 0, "waiting": 2}
    with Collector() as collector:
        environ["TEPAT_URL"] = collector.url
        up = tepat(environ, "exec", "--flush", "--json")
        assert (up.returncode, json.loads(up.stdout)) == (0, {"sent": 2, "refused": 0, "waiting": 0})
        assert collector.types() == ["started", "succeeded"]


def test_a_collector_that_never_answers_does_not_hold_the_job(environ: dict[str, str]) -> None:
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        environ["TEPAT_URL"] = f"http://127.0.0.1:{silent.getsockname()[1]}"
        ended = tepat(environ, "exec", "--job", "x", "--", "sh", "-c", "exit 5")
    assert ended.returncode == 5
    assert b"2 reports wait" in ended.stderr


@pytest.mark.parametrize(("status", "words"), [(401, b"token"), (404, b"TEPAT_URL"), (500, b"500"), (429, b"429")])
def test_a_collector_that_refuses_leaves_the_reports_waiting(
    environ: dict[str, str], status: int, words: bytes
) -> None:
    with Collector(answer=lambda _: (status, b"{}")) as collector:
        environ["TEPAT_URL"] = collector.url
        ended = tepat(environ, "exec", "--job", "x", "--", "true")
    assert ended.returncode == 0
    assert words in ended.stderr
    assert len(spooled(environ)) == 2


def test_a_stranger_that_says_202_gets_no_report_removed(environ: dict[str, str]) -> None:
    with Collector(answer=lambda _: (202, b"OK")) as collector:
        environ["TEPAT_URL"] = collector.url
        tepat(environ, "exec", "--job", "x", "--", "true")
    assert len(spooled(environ)) == 2


def test_what_the_collector_will_never_take_is_set_aside_and_not_sent_again(environ: dict[str, str]) -> None:
    refusal = json.dumps({"accepted": 0, "rejected": [{"index": 0, "field": "job", "error": "no"}]}).encode()
    with Collector(answer=lambda batch: (422, refusal) if len(batch) == 1 else (202, refusal)) as collector:
        environ["TEPAT_URL"] = collector.url
        ended = tepat(environ, "exec", "--job", "x", "--", "sleep", "0.3")
        assert b"refused" in ended.stderr
        assert spooled(environ) == []
    assert len(list(Path(environ["TEPAT_SPOOL"]).glob("*.bad"))) == 2


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1])
def test_signals_reach_the_command_once(environ: dict[str, str], number: signal.Signals) -> None:
    script = f"trap 'echo got; exit 7' {number.name[3:]}; echo ready; while :; do sleep 0.05; done"
    command = [*TEPAT, "exec", "--job", "x", "--", "sh", "-c", script]
    with subprocess.Popen(command, env=environ, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        process.send_signal(number)
        assert process.stdout.read() == b"got\n"
        assert process.wait(60) == 7


def test_output_comes_while_the_command_runs(environ: dict[str, str]) -> None:
    command = [*TEPAT, "exec", "--job", "x", "--", "sh", "-c", "echo first; read line; echo $line"]
    with subprocess.Popen(
        command, env=environ, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stdout.readline() == b"first\n"
        process.stdin.write(b"second\n")
        process.stdin.flush()
        assert process.stdout.readline() == b"second\n"


def test_a_background_child_keeps_its_output_after_the_command_has_ended(environ: dict[str, str]) -> None:
    script = '(read line < "$1"; echo late) & echo first'
    gate = Path(environ["TEPAT_SPOOL"]).parent / "gate"
    os.mkfifo(gate)
    command = [*TEPAT, "exec", "--job", "x", "--", "sh", "-c", script, "sh", str(gate)]
    with subprocess.Popen(command, env=environ, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdout is not None
        assert process.wait(60) == 0
        gate.write_text("go\n")
        assert process.stdout.read() == b"first\nlate\n"


def test_a_reader_that_goes_away_ends_the_command_as_it_would_without_us(environ: dict[str, str]) -> None:
    command = [*TEPAT, "exec", "--job", "x", "--", "yes"]
    with subprocess.Popen(command, env=environ, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        assert process.stdout is not None
        process.stdout.read(10)
        process.stdout.close()
        assert process.wait(60) == 128 + signal.SIGPIPE


def test_streams_that_are_one_file_keep_their_order(environ: dict[str, str], tmp_path: Path) -> None:
    script = "for i in 1 2 3 4 5; do echo o$i; echo e$i >&2; done"
    out = tmp_path / "out"
    with out.open("wb") as file, Collector() as collector:
        environ["TEPAT_URL"] = collector.url
        command = [*TEPAT, "exec", "--job", "x", "--", "sh", "-c", script]
        subprocess.run(command, env=environ, stdout=file, stderr=file, timeout=60, check=True)
    assert out.read_text().split() == [f"{stream}{i}" for i in range(1, 6) for stream in "oe"]


@pytest.mark.parametrize(
    ("job", "slot", "expected"),
    [
        ("x", "2026-03-29T00:30:00Z", "2026-03-29T00:30:00Z"),
        ("other", "2026-03-29T00:30:00Z", None),
        ("x", "soon", None),
    ],
)
def test_the_surrounding_slot_counts_only_for_the_same_job(
    environ: dict[str, str], job: str, slot: str, expected: str | None
) -> None:
    environ |= {"TEPAT_JOB": job, "TEPAT_SLOT": slot}
    assert tepat(environ, "exec", "--job", "x", "--", "true").returncode == 0
    assert [event.get("slot") for event in spooled(environ)] == [expected, expected]


def test_a_spool_that_can_not_be_written_does_not_fail_the_job(environ: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    environ["TEPAT_SPOOL"] = str(tmp_path / "file" / "spool")
    ended = tepat(environ, "exec", "--job", "x", "--", "sh", "-c", "echo fine; exit 4")
    assert (ended.returncode, ended.stdout) == (4, b"fine\n")
    assert b"2 of this run's reports are lost" in ended.stderr


def test_without_a_spool_reports_are_sent_all_the_same(environ: dict[str, str], tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    environ["TEPAT_SPOOL"] = str(tmp_path / "file" / "spool")
    with Collector() as collector:
        environ["TEPAT_URL"] = collector.url
        ended = tepat(environ, "exec", "--job", "x", "--", "true")
    assert (ended.returncode, ended.stderr) == (0, b"")
    assert collector.types() == ["started", "succeeded"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--job", "a b", "--", "true"], b"--job 'a b' is not a job id"),
        (["--job", "x", "--run", "a b", "--", "true"], b"--run 'a b' is not a run id"),
        (["--job", "x", "--slot", "noon", "--", "true"], b"--slot 'noon'"),
        (["--job", "x"], b"no command was given"),
        (["--", "true"], b"Say --job ID"),
    ],
)
def test_wrong_usage_is_2_and_runs_nothing(environ: dict[str, str], arguments: list[str], words: bytes) -> None:
    ended = tepat(environ, "exec", *arguments)
    assert ended.returncode == 2
    assert words in ended.stderr
    assert spooled(environ) == []


def test_exec_and_collector_mean_the_same_by_an_id() -> None:
    assert (events.JOB_ID.pattern, events.RUN_ID.pattern) == (JOB_ID, RUN_ID)
