"""`tepat dead`: which runs lie dead and why, and what a person decides about them. The service does it, not this."""

import getpass
import json
import os
import re
import sys
from argparse import ArgumentParser, Namespace
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import quote, urlencode

from control import dead_letter_text as text
from control.commands import CheckError, MissingError, UnreachableError, UsageError
from scheduler import clock
from scheduler.files import printable

PAGE = 200
MAX_LISTED = 1_000
MAX_REDRIVEN = 10_000
DEFAULT_RATE = "10/s"
MAX_RATE = 1_000.0
QUEUE_KEYS = ("queue", "dead_depth", "dead_arrivals", "dead_oldest_seconds")
_RATE = re.compile(r"(\d{1,6}(?:\.\d{1,6})?)(?:/s)?", re.ASCII)


def configure(parser: ArgumentParser) -> None:
    """The arguments of `tepat dead` and of its four commands."""
    parser.epilog = "Each takes --json, and --help: tepat dead redrive --help."
    commands = parser.add_subparsers(dest="what", metavar="COMMAND", required=True)

    def command(name: str, says: str) -> ArgumentParser:
        made = commands.add_parser(
            name, help=says, description=f"{says[0].upper()}{says[1:]}.", allow_abbrev=False,
            formatter_class=parser.formatter_class,
        )  # fmt: skip
        made.add_argument("--json", action="store_true", help="the answer as JSON")
        return made

    listing = command("list", "the dead letters, and each queue's depth, arrivals and oldest age")
    listing.add_argument("--job", metavar="J", help="those of this job")
    listing.add_argument("--queue", metavar="Q", help="those of this queue")
    command("show", "all of one: input, attempts with errors, history, output, trace").add_argument(
        "run", metavar="RUN"
    )
    _configure_redrive(command("redrive", "send dead letters round again, each with all its retries"))
    discarding = command("discard", "put dead letters away for good; their outcome stays")
    discarding.add_argument("runs", metavar="RUN", nargs="+")
    discarding.add_argument("--reason", required=True, metavar="TEXT", help="why; it is kept with the run")
    _configure_name(discarding)


def run(arguments: Namespace) -> int:
    """0; 1 when nothing of what was asked is a dead letter, 2 wrong usage, 3 when the service does not answer."""
    commands = {"list": _list, "show": _show, "redrive": _redrive, "discard": _discard}
    return commands[arguments.what](arguments)


def wait_before(number: int, rate: float, elapsed: float) -> float:
    """Seconds to wait before letter `number` (from 0) at `rate` a second, `elapsed` seconds after the first."""
    return max(0.0, number / rate - elapsed)


def rate_of(given: str) -> float:
    """`5/s`, `0.5/s` or `5` as letters a second. Raises UsageError."""
    match = _RATE.fullmatch(given)
    rate = float(match[1]) if match else 0.0
    if not 0 < rate <= MAX_RATE:
        raise UsageError(
            f"--rate {given!r} is no rate; give letters a second, above 0 up to {MAX_RATE:g}/s: 5/s, 0.5/s"
        )
    return rate


@dataclass(slots=True)
class _Tally:
    """What became of each letter that was asked for; `verb` is `redriven` or `discarded`."""

    verb: str
    asked: int
    done: list[str] = field(default_factory=list)
    not_dead: list[str] = field(default_factory=list)

    def tell(self, as_json: bool) -> None:
        """Said also when the work was cut short: what was done stays done."""
        left = self.asked - len(self.done) - len(self.not_dead)
        if as_json:
            print(json.dumps({self.verb: self.done, "not_dead": self.not_dead, "left": left}))
            return
        plural = "" if self.asked == 1 else "s"
        print(f"{self.verb} {len(self.done)} of {self.asked} dead letter{plural}")
        for run_id in self.not_dead:
            print(f"{printable(run_id)} is no dead letter of this queue; see `tepat dead list`", file=sys.stderr)
        if left:
            print(f"left undone: {left}; the same command goes on with them", file=sys.stderr)


class _Api:
    """The routes about dead letters of the service that the environment names."""

    def __init__(self, environ: Mapping[str, str]) -> None:
        # Here, not above: `tepat --help` must not pay for an HTTP client.
        from control.service_client import call, endpoint

        self._url, self._token = endpoint(environ)
        self._call = call

    def get(self, path: str) -> dict[str, Any]:
        """An object, or UnreachableError: whatever answers otherwise is no Tepat."""
        answer = self._call("GET", f"{self._url}/api/v1/{path}", self._token)
        if not isinstance(answer, dict):
            raise UnreachableError(f"{self._url} does not answer as Tepat does; check TEPAT_URL")
        return answer

    def letters(self, limit: int, job: str | None, queue: str | None = None) -> tuple[list[dict[str, Any]], bool]:
        """At most `limit` dead letters, the newest first, and whether there are more."""
        found: list[dict[str, Any]] = []
        cursor: str | None = None
        while True:
            asked = {"job": job, "queue": queue, "cursor": cursor, "limit": str(min(PAGE, limit - len(found)))}
            page = self.get("dead?" + urlencode({key: value for key, value in asked.items() if value is not None}))
            found += page["items"]
            cursor = page["next"]
            if cursor is None or len(found) >= limit:
                return found, cursor is not None

    def decide(self, run_id: str, what: str, by: str, reason: str) -> bool:
        """Redrive or discard one; False when it is no dead letter of this queue."""
        path = f"{self._url}/api/v1/dead/{quote(run_id, safe='')}/{what}"
        try:
            self._call("POST", path, self._token, {"by": by, "reason": reason})
        except MissingError:
            return False
        return True


def _configure_redrive(parser: ArgumentParser) -> None:
    parser.add_argument("runs", metavar="RUN", nargs="*", help="the runs; or --job, or --all")
    parser.add_argument("--job", metavar="J", help="every dead letter of this job")
    parser.add_argument("--all", action="store_true", help=f"every dead letter; at most {MAX_REDRIVEN} at once")
    parser.add_argument("--rate", default=DEFAULT_RATE, metavar="N/s", help=f"how fast (default {DEFAULT_RATE})")
    _configure_name(parser)


def _configure_name(parser: ArgumentParser) -> None:
    parser.add_argument("--by", metavar="NAME", help="who decides (default: your login name)")


def _list(arguments: Namespace) -> int:
    api = _Api(os.environ)
    letters, more = api.letters(MAX_LISTED, arguments.job, arguments.queue)
    queues = [each for each in api.get("queues")["items"] if _counts(each, arguments.queue)]
    if arguments.json:
        keys = ("queue", "dead_depth", "dead_arrivals", "dead_oldest_seconds")
        print(
            json.dumps(
                {"queues": [{key: each[key] for key in keys} for each in queues], "items": letters, "more": more}
            )
        )
        return 0
    for line in [*text.queue_lines(queues), *text.letter_lines(letters)]:
        print(line)
    if not letters:
        print("no dead letters")
    if more:
        print(f"only the newest {MAX_LISTED} are listed; narrow them by --job or --queue", file=sys.stderr)
    return 0


def _counts(queue: Mapping[str, Any], wanted: str | None) -> bool:
    """With no queue named, those that a letter ever came to."""
    return bool(queue["dead_arrivals"]) if wanted is None else queue["queue"] == wanted


def _show(arguments: Namespace) -> int:
    try:
        letter = _Api(os.environ).get(f"dead/{quote(arguments.run, safe='')}")
    except MissingError:
        raise CheckError(f"{printable(arguments.run)} is no dead letter; see `tepat dead list`") from None
    if arguments.json:
        print(json.dumps(letter))
    else:
        print("\n".join(text.story_lines(letter)))
    return 0


def _redrive(arguments: Namespace) -> int:
    ways = [bool(arguments.runs), arguments.job is not None, arguments.all]
    if sum(ways) != 1:
        raise UsageError("give one of: RUN..., --job J, --all")
    rate, by, api = rate_of(arguments.rate), _name(arguments), _Api(os.environ)
    runs, more = list(dict.fromkeys(arguments.runs)), False
    if not runs:
        letters, more = api.letters(MAX_REDRIVEN, arguments.job)
        # The longest dead first, as they would have run.
        runs = [each["id"] for each in sorted(letters, key=lambda each: str(each["dead_since"]))]
    tally = _Tally("redriven", len(runs))
    code = _decide(tally, _paced(runs, rate), lambda run_id: api.decide(run_id, "redrive", by, ""), arguments.json)
    if more:
        print(f"more than {MAX_REDRIVEN} lie dead; the same command goes on with the rest", file=sys.stderr)
    return code


def _discard(arguments: Namespace) -> int:
    reason = arguments.reason.strip()
    if not 1 <= len(reason) <= 1_000:
        raise UsageError(f"--reason has {len(reason)} characters; say in 1 to 1000 why it is put away")
    by, api = _name(arguments), _Api(os.environ)
    runs = list(dict.fromkeys(arguments.runs))
    return _decide(_Tally("discarded", len(runs)), iter(runs), lambda each: api.decide(each, "discard", by, reason),
                   arguments.json)  # fmt: skip


def _decide(tally: _Tally, runs: Iterator[str], decide: Any, as_json: bool) -> int:
    try:
        for run_id in runs:
            (tally.done if decide(run_id) else tally.not_dead).append(run_id)
    finally:
        tally.tell(as_json)
    return 0 if tally.done else CheckError.exit_code


def _paced(runs: list[str], rate: float) -> Iterator[str]:
    start = clock.monotonic()
    for number, run_id in enumerate(runs):
        clock.pause(wait_before(number, rate, clock.monotonic() - start))
        yield run_id


def _name(arguments: Namespace) -> str:
    try:
        name = arguments.by if arguments.by is not None else getpass.getuser()
    except (OSError, KeyError, ImportError):  # a user id without a name, as containers have them
        name = f"uid {os.getuid()}"
    if not 1 <= len(name) <= 200:
        raise UsageError(f"--by has {len(name)} characters; give a name of 1 to 200")
    return str(name)
