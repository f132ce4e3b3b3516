"""`tepat backtest`: plays recorded events through the files in simulated time, and prints what would have been said."""

import json
from argparse import ArgumentParser, Namespace
from datetime import timedelta
from pathlib import Path
from typing import Any

from control import inputs
from control.commands import UsageError
from scheduler.instants import parse_duration


def configure(parser: ArgumentParser) -> None:
    """The arguments of `tepat backtest`."""
    parser.add_argument("dir", type=Path, metavar="DIR", help="the folder of job and SLO files")
    parser.add_argument("--events", type=Path, required=True, metavar="FILE", help="run events, one a line (.gz too)")
    parser.add_argument("--from", dest="since", required=True, metavar="T", help="slots after this instant (RFC 3339)")
    parser.add_argument("--until", required=True, metavar="T", help="up to and including this one")
    parser.add_argument("--step", default="1m", metavar="DURATION", help="evaluate at least this often (default: 1m)")
    parser.add_argument("--json", action="store_true", help="the whole report as JSON")


def run(arguments: Namespace) -> int:
    """Print the report; 2 when a file, an instant or the step can't be used."""
    since, until = inputs.instant("--from", arguments.since), inputs.instant("--until", arguments.until)
    if until <= since:
        raise UsageError(f"--until {arguments.until} is not after --from {arguments.since}; swap them")
    report = _play(arguments, since, until, _step(arguments.step))
    print(json.dumps(report, sort_keys=True, indent=2, allow_nan=False) if arguments.json else table(report))
    return 0


def _play(arguments: Namespace, since: Any, until: Any, step: timedelta) -> dict[str, Any]:
    from scheduler.definitions import DefinitionError
    from slo.backtest import RecordingError, backtest

    try:
        return backtest(inputs.folder(arguments.dir), arguments.events, since, until, step)
    except DefinitionError as error:
        raise UsageError(f"{arguments.dir} can't be used:\n{error}") from None
    except RecordingError as error:
        raise UsageError(str(error)) from None
    except (OSError, EOFError, UnicodeDecodeError) as error:
        raise UsageError(f"--events {arguments.events} can't be read: {error}") from None


def _step(text: str) -> timedelta:
    try:
        step = parse_duration(text)
    except ValueError as error:
        raise UsageError(f"--step: {error}") from None
    if step <= timedelta(0):
        raise UsageError(f"--step {text} must be longer than nothing; the default is 1m")
    return step


def table(report: dict[str, Any]) -> str:
    """The report for people: jobs, objectives, alerts, findings."""
    lines = [f"{'job':<32} {'slots':>6} {'ontime':>6} {'late':>6} {'missed':>6} {'runs':>6} {'failed':>6}"]
    for name, job in sorted(report["jobs"].items()):
        slots, runs = job["slots"], job["runs"]
        counts = [slots["expected"], slots["on_time"], slots["late"], slots["missed"], runs["total"], runs["failed"]]
        lines.append(f"{name:<32} " + " ".join(f"{count:>6}" for count in counts))
    for name, slo in sorted(report["slos"].items()):
        left = slo["budget"]["remaining"]
        lines.append(f"slo {name}: {slo['state']}, {slo['bad']} bad of {slo['expected']}, budget left {left}")
    for alert in report["alerts"]:
        until = alert["resolved_at"] or "still firing"
        lines.append(f"{alert['severity']} {alert['slo']}: {alert['started_at']} to {until}: {alert['reason']}")
    found = [f"{finding['level']}: {finding['where']}: {finding['message']}" for finding in report["findings"]]
    return "\n".join(lines + found)
