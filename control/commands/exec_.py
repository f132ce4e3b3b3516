"""`tepat exec`: runs any command anywhere, reports how it went, and never fails it because reporting failed.

Light imports only: this is the price of every run of a job that another scheduler starts.
"""

from __future__ import annotations

import json
import os
import re
import sys
import threading
from argparse import REMAINDER, ArgumentParser, Namespace
from collections.abc import Mapping
from contextlib import suppress

from control import passing, settings, spool
from control.commands import UnreachableError, UsageError
from scheduler import clock
from scheduler.identity import event_id
from scheduler.instants import format_instant, parse_instant

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

# The same words as in scheduler.events, which is not imported because it brings the decoder; a test compares them.
# As text, compiled when they are asked: to compile both is a tenth of what starting costs.
JOB_ID = r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}"
RUN_ID = r"[A-Za-z0-9._:@!~+-]{1,200}"
LAST_WAIT = 2.0  # seconds that reporting may add after the command's end
MAX_TAIL_JSON = 8 * 1024  # the tail as JSON: control characters take six bytes there, and `data` may have 16 KiB


def configure(parser: ArgumentParser) -> None:
    """The arguments of `tepat exec`."""
    parser.usage = (
        "tepat exec --job ID [--run ID] [--slot T] [--json] -- COMMAND [ARGUMENTS]\n       tepat exec --flush [--json]"
    )
    parser.add_argument("--job", metavar="ID", help="the job this is a run of")
    parser.add_argument("--run", metavar="ID", help="the run's id; by default a new one, ordered by time")
    parser.add_argument("--slot", metavar="T", help="the slot it satisfies; by default the collector finds it")
    parser.add_argument("--flush", action="store_true", help="only send the reports that wait in the spool")
    parser.add_argument("--json", action="store_true", help="what tepat itself says, as JSON")
    parser.add_argument("command", nargs=REMAINDER, metavar="COMMAND", help="the command and its arguments, after --")


def run(arguments: Namespace) -> int:
    """Run the command and return its exit code: 128+n for a signal, 127 not found, 126 not executable."""
    folder = settings.spool_folder(os.environ)
    if arguments.flush:
        return _flush(folder, arguments.json)
    command = arguments.command[1:] if arguments.command[:1] == ["--"] else arguments.command
    if not command:
        raise UsageError("no command was given; write it after --: tepat exec --job nightly -- ./backup.sh")
    about = _about(arguments, os.environ)
    reporter = Reporter(folder, about, arguments.json)
    ended = passing.run(command, reporter.started, dict(os.environ))
    reporter.ended(ended)
    return ended.code


def _about(arguments: Namespace, environ: Mapping[str, str]) -> dict[str, Any]:
    """What every report of this run says: job, run, slot."""
    job, run_id = arguments.job, arguments.run
    if job is None:
        raise UsageError("which job is this a run of? Say --job ID")
    if not re.fullmatch(JOB_ID, job):
        raise UsageError(f"--job {job!r} is not a job id; use up to 100 of A-Z a-z 0-9 . _ -, a letter or digit first")
    if run_id is not None and not re.fullmatch(RUN_ID, run_id):
        raise UsageError(f"--run {run_id!r} is not a run id; use up to 200 of A-Z a-z 0-9 . _ : @ ! ~ + -")
    about = {
        "source": f"exec/{os.uname().nodename}"[:200],
        "job": job,
        "run": run_id or f"exec-{event_id(clock.now())}",
    }
    slot = _slot(arguments, environ)
    return {**about, "slot": slot} if slot else about


def _slot(arguments: Namespace, environ: Mapping[str, str]) -> str | None:
    """The slot that was given, or the surrounding run's, which is this run's only when it is the same job."""
    if arguments.slot:
        try:
            return format_instant(parse_instant(arguments.slot))
        except ValueError as error:
            raise UsageError(f"--slot {error}") from None
    if environ.get("TEPAT_JOB") != arguments.job or not environ.get("TEPAT_SLOT"):
        return None
    try:
        return format_instant(parse_instant(environ["TEPAT_SLOT"]))
    except ValueError as error:  # not this user's doing: the job runs all the same
        print(f"tepat exec: TEPAT_SLOT is left out: {error}", file=sys.stderr)
        return None


class Reporter:
    """Keeps each report in the spool and sends it from a thread of its own, so that the command never waits."""

    def __init__(self, folder: str, about: dict[str, Any], as_json: bool) -> None:
        self._folder, self._about, self._as_json = folder, about, as_json
        self._began = clock.monotonic()
        self._own: list[str] = []
        self._loose: list[dict[str, Any]] = []  # what the spool would not take: sent from memory, or lost
        self._why_loose = ""
        self._unsent = "the collector did not answer within 2 s"
        self._refused = 0
        self._guard = threading.Lock()
        self._wake = threading.Event()
        self._closed = False
        self._thread = threading.Thread(target=self._deliver, daemon=True)

    def started(self, pid: int | None) -> None:
        """The command runs, or could not start (None). The clock of its duration begins here."""
        self._began = clock.monotonic()
        worker = f"{os.uname().nodename}/{os.getpid()}"
        self._keep("started", {"worker": worker, **({"pid": pid} if pid else {})})
        self._thread.start()
        self._wake.set()

    def ended(self, ended: passing.Ended) -> None:
        """Report the end and wait for it to be sent, 2 s at most; then say so if something waits."""
        seconds = round(clock.monotonic() - self._began, 6)
        data: dict[str, Any] = {"seconds": seconds, "output_tail": tail_text(ended.tail)}
        if ended.code:
            data["error"] = {"kind": "permanent", "message": ended.message[:1000], "exit_code": ended.code}
        self._keep("failed" if ended.code else "succeeded", data)
        self._closed = True
        self._wake.set()
        self._thread.join(LAST_WAIT)
        with suppress(OSError):
            spool.harden(self._folder, self._own)
        problem = self._problem()
        if problem:
            line = json.dumps({"problem": problem}) if self._as_json else f"tepat exec: {problem}"
            print(line.replace("\n", " "), file=sys.stderr)

    def _keep(self, kind: str, data: dict[str, Any]) -> None:
        event = {
            "id": event_id(clock.now()),
            "type": kind,
            **self._about,
            "at": format_instant(clock.now()),
            "data": data,
        }
        try:
            self._own = [*self._own, spool.add(self._folder, event)]
        except (spool.SpoolFullError, OSError) as error:
            with self._guard:
                self._loose = [*self._loose, event]
            self._why_loose = str(error)

    def _deliver(self) -> None:
        """Twice: once the command runs, and once it has ended. A report that was sent is not sent again."""
        sent: set[str] = set()
        last = False
        while not last:
            self._wake.wait()
            self._wake.clear()
            last = self._closed
            own, loose = [name for name in self._own if name not in sent], self._loose
            delivery = deliver(self._folder, own, loose)
            self._refused += delivery.refused
            if delivery.problem:
                self._unsent = delivery.problem
            else:
                sent.update(own)
                with self._guard:
                    self._loose = [event for event in self._loose if event not in loose]

    def _problem(self) -> str:
        """What a person should know, in one line; empty when every report of this run has arrived."""
        if self._loose:
            return f"{len(self._loose)} of this run's reports are lost: {self._why_loose}; and {self._unsent}"
        if self._refused:
            return f"the collector refused {self._refused} reports; they are kept in {self._folder}/*.bad"
        waiting = spool.waiting(self._folder)
        if not set(waiting) & set(self._own):
            return ""
        return f"{len(waiting)} report{'s wait' if len(waiting) > 1 else ' waits'} in {self._folder}: {self._unsent}"


def tail_text(tail: bytes) -> str:
    """The end of the output as text whose JSON stays within 8 KiB, whatever bytes it is made of."""
    text = tail.decode("utf-8", "replace")
    while len(json.dumps(text)) > MAX_TAIL_JSON:
        text = text[len(text) // 4 + 1 :]
    return text


def deliver(folder: str, own: list[str], loose: list[dict[str, Any]]) -> spool.Delivery:
    """Send these reports, the loose ones too, and then the waiting ones, with the token that the environment names."""
    from control import post  # imported in the reporter's thread, while the command runs

    path = settings.token_file(os.environ, "ingest")
    url = settings.service_url(os.environ)
    try:
        token = settings.read_token(path)
        if loose:
            stamp = format_instant(clock.now())
            answer = post.post_events(url, token, json.dumps([{**event, "sent_at": stamp} for event in loose]).encode())
            if answer.problem:
                return spool.Delivery(problem=answer.problem)
        return spool.deliver(folder, lambda body: post.post_events(url, token, body), clock.now, own)
    except (OSError, ValueError) as error:
        # Reporting may fail in any way; the command's own exit code must still come through.
        return spool.Delivery(problem=f"{error}; check TEPAT_TOKEN_FILE and TEPAT_SPOOL")


def _flush(folder: str, as_json: bool) -> int:
    delivery = deliver(folder, [], [])
    waiting = len(spool.waiting(folder))
    if as_json:
        print(json.dumps({"sent": delivery.sent, "refused": delivery.refused, "waiting": waiting}))
    else:
        print(f"{delivery.sent} sent, {delivery.refused} refused, {waiting} waiting in {folder}")
    if delivery.problem:
        raise UnreachableError(delivery.problem)
    return 0
