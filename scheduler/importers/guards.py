"""Tests in front of a command that decide whether a start does any work: `[ $(date +%d) -le 7 ] && work`. Pure.

Answers: on how many of a year's starts does the work happen, and would a plain cron text say the same? Only tests of
the date are understood. Anything else is named as a guard without numbers.
"""

import operator
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta

from scheduler.cron import Cron, ScheduleError, parse_cron
from scheduler.importers.shell_text import Clause, clauses

MAX_STARTS = 100_000
_YEARS_COMPARED = 28  # after which the Gregorian calendar repeats, but for skipped leap years

Holds = Callable[[datetime], bool]

_FORMAT = re.compile(r"(?:%-?[deuwaAmbBHMjVWUyYGF]|[-/:. ])+")
_NUMBER = r"(?:\"?'?)(?P<{0}>\d+|[A-Za-z]+)(?:'?\"?)"
_DATE = r"[\"']?(?:\$\(\s*(?:/bin/)?date\b(?P<{0}>[^()]*)\)|`\s*(?:/bin/)?date\b(?P<{0}b>[^`]*)`)[\"']?"
_SIGN = r"(?P<sign>-le|-lt|-ge|-gt|-eq|-ne|==|!=|=)"
_DATE_FIRST = re.compile(rf"{_DATE.format('date')}\s*{_SIGN}\s*{_NUMBER.format('value')}")
_VALUE_FIRST = re.compile(rf"{_NUMBER.format('value')}\s*{_SIGN}\s*{_DATE.format('date')}")
_REST = re.compile(
    rf"[\"']?(?:\$\(\(|\$\(\s*expr|`\s*expr)\s*(?:10#)?{_DATE.format('date')}\s*%\s*(?P<by>\d+)\s*(?:\)\)|\)|`)[\"']?"
    rf"\s*{_SIGN}\s*{_NUMBER.format('value')}"
)
_SHIFT = re.compile(r"(?:-d|--date)[ =]?(['\"]?)(?:([+-]?\d+) days?|(tomorrow|yesterday))\1|-v([+-]\d+)d")
_EXISTS = re.compile(r"!?\s*-[xefdrsLh]\s+\S+")
_TESTS = re.compile(r"(?:\[\[?\s+(?P<body>.*?)\s+\]\]?|(?:/usr)?(?:/bin/)?test\s+(?P<words>.*))", re.DOTALL)
_IF = re.compile(r"if\s+(?P<test>.*)", re.DOTALL)

_OPERATORS = {
    "-le": operator.le, "-lt": operator.lt, "-ge": operator.ge, "-gt": operator.gt,
    "-eq": operator.eq, "-ne": operator.ne, "==": operator.eq, "=": operator.eq, "!=": operator.ne,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Guard:
    """The tests in front of a command. `holds` is None when they depend on more than the date.

    `skips_fail`: a start that does no work ends with another exit code than 0. `rest` is the command without them.
    """

    text: str
    holds: Holds | None
    skips_fail: bool
    rest: str


@dataclass(frozen=True, slots=True)
class Count:
    """How many starts there are in a year, and how many of them do work."""

    year: int
    starts: int
    working: int


def guard_of(command: str) -> Guard | None:
    """The guard in front of a command, or None. The command is as the shell gets it: `%`, not `\\%`."""
    tests, rest = _leading(clauses(command))
    if not tests:
        return None
    # That a file is there is taken as given: `[ -x /usr/bin/work ] &&` stands in front of most packaged lines.
    asked = [(body, join) for body, join in tests if join == "||" or not _EXISTS.fullmatch(body)]
    held = [holds for holds in (_holds(body, join) for body, join in asked) if holds is not None]
    return Guard(
        text=", ".join(body for body, _ in tests),
        holds=_all(held) if held and len(held) == len(asked) else None,
        skips_fail=any(join == "&&" for _, join in tests),
        rest=rest,
    )


def count(guard: Guard, cron: Cron, year: int) -> Count | None:
    """The starts of a year by the clock on the wall; None when the guard is not of the date, or they are too many."""
    if guard.holds is None or len(cron.times) * 366 > MAX_STARTS:
        return None
    starts = list(_starts(cron, year))
    return Count(year, len(starts), sum(map(guard.holds, starts)))


def plain_form(guard: Guard, cron: Cron, year: int) -> str | None:
    """A cron text that starts exactly when the guard lets work happen, or None when none was found."""
    fields = cron.text.split()
    if guard.holds is None or len(fields) != 5 or fields[2] != "*" or len(cron.times) > 24:
        return None
    days = [("*", f"{fields[4]}{mark}") for mark in ("#1", "#2", "#3", "#4", "#5", "L")]
    for day, weekday in [("L", "*")] if fields[4] == "*" else days:
        text = " ".join([*fields[:2], day, fields[3], weekday])
        if _same(guard.holds, cron, text, year):
            return text
    return None


def _same(holds: Holds, cron: Cron, text: str, year: int) -> bool:
    try:
        other = parse_cron(text)
    except ScheduleError:
        return False
    years = range(year, year + _YEARS_COMPARED)
    return all(list(filter(holds, _starts(cron, one))) == list(_starts(other, one)) for one in years)


def _starts(cron: Cron, year: int) -> Iterator[datetime]:
    for month in range(1, 13):
        for day in cron.days_in(year, month):
            midnight = datetime.combine(date(year, month, day), time())
            yield from (midnight + at for at in cron.times)


def _leading(parts: Sequence[Clause]) -> tuple[list[tuple[str, str]], str]:
    """Each test with what makes it a guard (`&&`, `||`, `exit`, `if`), and the command behind them."""
    tests: list[tuple[str, str]] = []
    index = 0
    while index < len(parts) - 1:
        clause, after = parts[index], parts[index + 1]
        condition = _IF.match(clause.text)
        body = _body(condition["test"] if condition else clause.text)
        if body is None:
            break
        if condition:
            tests.append((body, "if"))
            return tests, after.text.removeprefix("then").strip()
        if clause.join == "||" and after.text.startswith("exit"):
            tests.append((body, "exit"))
            index += 2
        elif clause.join in ("&&", "||"):
            tests.append((body, clause.join))
            index += 1
        else:
            break
    return tests, "".join(f"{part.text} {part.join} " for part in parts[index:]).strip()


def _body(text: str) -> str | None:
    match = _TESTS.fullmatch(text.strip())
    return (match["body"] or match["words"]).strip() if match else None


def _all(tests: list[Holds]) -> Holds:
    return lambda moment: all(test(moment) for test in tests)


def _holds(body: str, join: str) -> Holds | None:
    """When the work behind one test goes on, or None when that is not a matter of the date."""
    test = _of_date(body)
    if test is None or join != "||":
        return test
    return lambda moment: not test(moment)


def _of_date(body: str) -> Holds | None:
    for rule in (_REST, _DATE_FIRST, _VALUE_FIRST):
        match = rule.fullmatch(body)
        if match is not None:
            return _comparison(match, swapped=rule is _VALUE_FIRST)
    return None


def _comparison(match: re.Match[str], *, swapped: bool) -> Holds | None:
    sign, value = match["sign"], match["value"]
    read = _date_words(match["date"] or match["dateb"] or "")
    numeric = sign.startswith("-")
    if read is None or (numeric and not value.isdigit()):
        return None
    by = int(match.groupdict().get("by") or 0)
    compare = _OPERATORS[sign]

    def holds(moment: datetime) -> bool:
        said = read(moment)
        if not numeric and not by:
            return bool(compare(said, value))
        if not said.isdigit():
            return False
        left, right = (int(said) % by if by else int(said)), int(value)
        return bool(compare(right, left) if swapped else compare(left, right))

    return holds


def _date_words(arguments: str) -> Callable[[datetime], str] | None:
    """What `date` prints for these arguments, or None when it is asked for more than a shifted day and a format."""
    shift = _SHIFT.search(arguments)
    rest = (arguments[: shift.start()] + arguments[shift.end() :]).strip() if shift else arguments.strip()
    form = rest.strip("\"'").removeprefix("+").strip("\"'")
    if not _FORMAT.fullmatch(form) or "+" not in rest:
        return None
    days = _days(shift) if shift else 0
    return lambda moment: _printed(form, moment + timedelta(days=days))


def _days(shift: re.Match[str]) -> int:
    if shift[3]:
        return 1 if shift[3] == "tomorrow" else -1
    return int(shift[2] or shift[4])


def _printed(form: str, moment: datetime) -> str:
    def directive(match: re.Match[str]) -> str:
        text = moment.strftime(f"%{match[2]}")
        return (text.lstrip("0") or "0") if match[1] else text.strip()

    return re.sub(r"%(-?)([A-Za-z])", directive, form)
