import os
import signal
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest
from queueing.farm import START, job, until

from scheduler.endings import Result
from scheduler.executors.command import Place, Stop, execute
from scheduler.executors.output import HEAD_BYTES, TAIL_BYTES, HeadTail
from scheduler.executors.reports import LINE_BYTES, MAX_REPORTS, Report, Reports
from scheduler.executors.traces import traceparent
from scheduler.executors.warden import Guard
from scheduler.jobs import Command, Retry
from scheduler.processes import incarnation, is_dead
from scheduler.queue import Claimed

SECOND = timedelta(seconds=1)


@pytest.fixture
def place(tmp_path: Path) -> Iterator[Place]:
    guard = Guard()
    yield Place(str(tmp_path / "queue.db"), incarnation(), guard)
    guard.close()


def run(place: Place, *argv: str, stop: Stop | None = None, said: list[Report] | None = None, **how: Any) -> Result:
    retry = how.pop("retry", Retry())
    given = {"timeout": 20 * SECOND, "grace": SECOND} | how
    claimed = Claimed(
        run_id="tidy@2026-03-01T08:00:00Z",
        job=job(run=Command(argv=argv, **given), retry=retry),
        slot=START,
        attempt=2,
        fence=7,
        retries_used=1,
        worker="w1",
        started_at=START,
    )
    return execute(claimed, place, stop or Stop(), ([] if said is None else said).append)


def problem(result: Result) -> tuple[str, int | None]:
    assert result.problem is not None
    return result.problem.kind, result.problem.exit_code


def gone(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z"
    except OSError:
        return True


def test_arguments_reach_a_command_as_they_are(place: Place) -> None:
    result = run(place, "printf", "%s|", "a b", "$HOME", "*")
    assert (result.problem, result.output) == (None, "a b|$HOME|*|")


def test_a_shell_is_there_only_when_asked_for(place: Place) -> None:
    assert run(place, "echo $((1 + 2))", shell=True).output == "3\n"
    assert problem(run(place, "echo $((1 + 2))")) == ("permanent", None)


def test_a_command_gets_a_small_environment_of_its_own(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_OF_THE_WORKER", "x")
    lines = dict(line.split("=", 1) for line in run(place, "env", env={"COLOUR": "red"}).output.splitlines())
    assert "SECRET_OF_THE_WORKER" not in lines
    assert {"PATH", "HOME", "LANG"} <= lines.keys()
    assert lines["COLOUR"] == "red"
    assert lines["TEPAT_RUN_ID"] == "tidy@2026-03-01T08:00:00Z"
    assert (lines["TEPAT_JOB"], lines["TEPAT_ATTEMPT"], lines["TEPAT_FENCE"]) == ("tidy", "2", "7")
    assert lines["TEPAT_SLOT"] == "2026-03-01T08:00:00Z"
    assert lines["TRACEPARENT"] == traceparent("tidy@2026-03-01T08:00:00Z", 2)


def test_a_trace_context_is_a_fixed_function_of_run_and_attempt() -> None:
    version, trace, span, flags = traceparent("r", 1).split("-")
    assert (version, len(trace), len(span), flags) == ("00", 32, 16, "01")
    assert traceparent("r", 2).split("-")[1] == trace
    assert traceparent("r", 2).split("-")[2] != span


@pytest.mark.parametrize(("code", "kind"), [(75, "temporary"), (3, "permanent")])
def test_an_exit_code_says_whether_another_try_makes_sense(place: Place, code: int, kind: str) -> None:
    assert problem(run(place, f"exit {code}", shell=True, retry=Retry(on_exit=(75,)))) == (kind, code)


def test_a_death_by_signal_is_named(place: Place) -> None:
    result = run(place, "kill -SEGV $$", shell=True)
    assert problem(result) == ("temporary", 128 + signal.SIGSEGV)
    assert result.problem is not None and "SIGSEGV" in result.problem.message


def test_a_command_that_is_not_there_fails_for_good_and_says_what_to_do(place: Place, tmp_path: Path) -> None:
    missing = run(place, "no-such-program-here")
    assert missing.problem is not None
    assert missing.problem.kind == "permanent"
    assert "'no-such-program-here' was not found in PATH" in missing.problem.message
    (tmp_path / "plain").write_text("no program")
    assert problem(run(place, "./plain", cwd=str(tmp_path)))[0] == "permanent"
    folder = run(place, "true", cwd=str(tmp_path / "nowhere"))
    assert folder.problem is not None and "does not exist" in folder.problem.message


def test_a_relative_program_is_looked_for_in_the_working_folder(place: Place, tmp_path: Path) -> None:
    (tmp_path / "hello").write_text("#!/bin/sh\necho hello from $PWD\n")
    (tmp_path / "hello").chmod(0o755)
    assert run(place, "./hello", cwd=str(tmp_path)).output == f"hello from {tmp_path}\n"


def test_output_without_end_never_blocks_a_command_and_stays_within_its_bound(place: Place) -> None:
    result = run(place, "echo first; head -c 3000000 /dev/zero | tr '\\0' x; echo; echo last", shell=True)
    assert result.problem is None
    assert result.output.startswith("first\nxxx")
    assert result.output.endswith("xxx\nlast\n")
    assert "bytes left out]" in result.output
    assert len(result.output) < HEAD_BYTES + TAIL_BYTES + 100


def test_output_that_is_no_text_is_replaced(place: Place) -> None:
    assert run(place, "printf", r"a\377\000b").output == "a\ufffd\ufffdb"


@pytest.mark.parametrize("size", [HEAD_BYTES + TAIL_BYTES - 1, HEAD_BYTES + TAIL_BYTES, HEAD_BYTES + TAIL_BYTES + 1])
def test_output_up_to_the_bound_is_kept_whole(size: int) -> None:
    kept = HeadTail()
    for _ in range(size):
        kept.feed(b"x")
    assert ("left out" in kept.text()) == (size > HEAD_BYTES + TAIL_BYTES)


def test_a_deadline_ends_the_whole_group_even_when_it_ignores_the_request(place: Place, tmp_path: Path) -> None:
    script = f"trap '' TERM; (trap '' TERM; sleep 60 & echo $! > {tmp_path}/grandchild; wait) & wait; sleep 60"
    result = run(place, script, shell=True, timeout=SECOND, grace=SECOND / 2)
    assert problem(result) == ("timeout", 128 + signal.SIGKILL)
    assert gone(int((tmp_path / "grandchild").read_text()))


def test_a_stopped_command_leaves_no_child_in_another_session(place: Place, tmp_path: Path) -> None:
    script = f"setsid sh -c 'echo $$ > {tmp_path}/escaped; exec sleep 60' & sleep 60"
    run(place, script, shell=True, timeout=SECOND, grace=SECOND / 2)
    escaped = int((tmp_path / "escaped").read_text())
    until(lambda: gone(escaped))


def test_a_command_may_end_well_within_its_grace(place: Place) -> None:
    result = run(place, "trap 'echo tidied; exit 0' TERM; sleep 60 & wait", shell=True, timeout=SECOND)
    assert (problem(result), result.output) == (("timeout", 0), "tidied\n")


def test_what_a_command_leaves_behind_in_its_group_ends_with_it(place: Place, tmp_path: Path) -> None:
    result = run(place, f"sleep 60 & echo $! > {tmp_path}/left; echo bye", shell=True)
    assert (result.problem, result.output) == (None, "bye\n")
    until(lambda: gone(int((tmp_path / "left").read_text())))


def test_a_soft_stop_interrupts_and_a_hard_one_kills(place: Place) -> None:
    for name in ("soft", "hard"):
        stop, results = Stop(), list[Result]()
        thread = Thread(target=lambda stop=stop, results=results: results.append(run(place, "sleep", "60", stop=stop)))
        thread.start()
        chosen: Event = getattr(stop, name)
        chosen.set()
        thread.join()
        number = signal.SIGTERM if name == "soft" else signal.SIGKILL
        assert problem(results[0]) == ("interrupted", 128 + number)


def test_a_job_reports_stages_and_progress_on_its_pipe(place: Place) -> None:
    said: list[Report] = []
    script = """
    echo '{"stage": "load", "seconds": 1.5, "ok": true}' > $TEPAT_EVENTS
    echo 'no json' > $TEPAT_EVENTS
    echo '{"progress": 0.5}' > $TEPAT_EVENTS
    """
    assert run(place, script, shell=True, said=said).problem is None
    assert said == [("stage", {"name": "load", "ok": True, "seconds": 1.5}), ("heartbeat", {"progress": 0.5})]


@pytest.mark.parametrize(
    "line",
    [
        b"", b"[]", b'{"stage": ""}', b'{"stage": 3}', b'{"progress": 2}', b'{"progress": -1}', b'{"progress": true}',
        b'{"progress": "NaN"}', b"\xff", b'{"other": 1}', b'{"progress": 1e999}',
    ],
)  # fmt: skip
def test_a_bad_report_is_passed_over(line: bytes) -> None:
    assert list(Reports().feed(line + b'\n{"progress": 1}\n')) == [("heartbeat", {"progress": 1.0})]


def test_reports_are_bounded_in_length_and_number() -> None:
    reports = Reports()
    assert list(reports.feed(b'{"stage": "' + b"x" * LINE_BYTES)) == []
    assert list(reports.feed(b'"}\n{"progress": 1}\n' * MAX_REPORTS * 2)) == [("heartbeat", {"progress": 1})] * 1000


def test_a_process_name_outlives_no_process() -> None:
    assert not is_dead(incarnation())
    assert not is_dead("")
    assert not is_dead("pid:[1]/1/1")
    namespace = os.readlink("/proc/self/ns/pid")
    assert is_dead(f"{namespace}/{os.getpid()}/1")
