"""`tepat backtest`: reads files and recorded events, plays them, answers the report. The only I/O is the reading."""

import gzip
import hashlib
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import msgspec

from scheduler.events import EventError, RunEvent, canonical, parse_event
from slo.objectives import lint_warnings, load_configuration
from slo.replay import Replay, Span


class RecordingError(ValueError):
    """A recording that can't be read: names the file, and where it is known the line."""


def backtest(folder: Path, events: Path, since: datetime, until: datetime, step: timedelta) -> dict[str, Any]:
    """Plays recorded events over the jobs and objectives of `folder` in `(since, until]`.

    Raises DefinitionError for the folder, RecordingError for the recording. A line that is no event is a finding, and
    harms no other line.
    """
    if step <= timedelta(0):
        raise RecordingError(f"step {step} is not a positive duration; write for example 1m")
    definitions, files = load_configuration(folder)
    jobs, objectives = definitions.jobs, files.objectives
    findings = [asdict(finding) for finding in lint_warnings(objectives, jobs)]
    recorded, bad_lines = read_recording(events)
    known, conflicts = settle_duplicates(recorded)
    replay = Replay(jobs, objectives, Span(since=since, until=until, step=step))
    replay.run(known)
    report = replay.report(findings + bad_lines + _undefined(known, {job.id for job in jobs}))
    for job in conflicts & set(report["jobs"]):
        report["jobs"][job]["flags"] = sorted({*report["jobs"][job]["flags"], "conflict"})
    return report


def read_recording(path: Path) -> tuple[list[RunEvent], list[dict[str, Any]]]:
    """The events of an NDJSON file (`.gz` too), and a finding for each line that is none."""
    events, findings = [], []
    for number, line in enumerate(_lines(path), start=1):
        if not line.strip():
            continue
        try:
            events.append(parse_event(msgspec.json.decode(line)))
        except (EventError, msgspec.DecodeError) as error:
            findings.append(_finding("bad-event", f"{path.name}:{number}", f"line left out: {error}"))
    return events, sorted(findings, key=lambda finding: (finding["message"], finding["where"]))


def settle_duplicates(events: Iterable[RunEvent]) -> tuple[list[RunEvent], set[str]]:
    """One event per (source, id), with its first receipt, and the jobs in which one key came with two contents.

    Of two contents the one with the smaller SHA-256 of its canonical JSON stands, so that arrival decides nothing.
    """
    kept: dict[tuple[str, str], RunEvent] = {}
    conflicts: set[str] = set()
    for event in events:
        key = (event.source, event.id)
        other = kept.get(key)
        if other is None:
            kept[key] = event
            continue
        if canonical(event) != canonical(other):
            conflicts.update(job for job in (event.job, other.job) if job is not None)
        winner = min(event, other, key=_precedence)
        receipts = [e.received_at for e in (event, other) if e.received_at is not None]
        kept[key] = msgspec.structs.replace(winner, received_at=min(receipts, default=None))
    return list(kept.values()), conflicts


def _precedence(event: RunEvent) -> tuple[str, float]:
    received = event.received_at.timestamp() if event.received_at is not None else float("inf")
    return hashlib.sha256(canonical(event)).hexdigest(), received


def _lines(path: Path) -> Iterator[bytes]:
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            yield from file
    except (OSError, EOFError) as error:
        raise RecordingError(f"{path}: can't be read ({error}); give an NDJSON file of run events") from None


def _undefined(events: Iterable[RunEvent], defined: set[str]) -> list[dict[str, Any]]:
    names = sorted({event.job for event in events if event.job is not None} - defined)
    return [_finding("undefined-job", name, "events of a job that no file defines: it has no slots") for name in names]


def _finding(code: str, where: str, message: str) -> dict[str, Any]:
    return {"level": "warning", "code": code, "where": where, "message": message}
