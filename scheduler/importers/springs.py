"""Spring's cron texts as ours. Pure.

Six fields, seconds first, like Quartz; but weekdays are numbered as in a crontab (0 and 7 are Sunday), both day fields
may be `*`, and where both restrict, both must match.
"""

import re

from scheduler.cron import ScheduleError, parse_cron
from scheduler.cron_fields import DAY, numbers
from scheduler.importers.day_pairs import NO_EXACT_TEXT, day_fields
from scheduler.importers.imported import Document

_MACROS = {
    "@yearly": "0 0 0 1 1 *",
    "@annually": "0 0 0 1 1 *",
    "@monthly": "0 0 0 1 * *",
    "@weekly": "0 0 0 * * 0",
    "@daily": "0 0 0 * * *",
    "@midnight": "0 0 0 * * *",
    "@hourly": "0 0 * * * *",
}
_NAMES = ("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT", "SUN")
_OPEN = ("*", "?")


class SpringError(ValueError):
    """A Spring text that has no exact form here; `code` is that of the finding."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


def spring_schedule(text: str) -> Document:
    """The `cron` and `dialect` of a schedule without its zone. Raises ScheduleError or SpringError."""
    fields = _MACROS.get(text.lower(), text).split()
    if len(fields) != 6:
        raise ScheduleError(
            f"{text!r} is not a Spring cron text; write six fields: second minute hour day month weekday"
        )
    second, minute, hour, day, month, weekday = fields
    if weekday in _OPEN:
        return _checked(f"{second} {minute} {hour} {'*' if day == '?' else day} {month} ?", "quartz")
    named = _weekdays(weekday)
    if day in _OPEN:
        return _checked(f"{second} {minute} {hour} ? {month} {named}", "quartz")
    return _both(second, f"{minute} {hour}", day, month, named)


def _both(second: str, time: str, day: str, month: str, named: str) -> Document:
    words = named.split(",")
    if second not in ("0", "00") or not all(word in _NAMES for word in words):
        raise SpringError("day_and_weekday", NO_EXACT_TEXT)
    pair = day_fields(frozenset(numbers(DAY, day.upper())), frozenset(_NAMES.index(word) for word in words))
    if pair is None:
        raise SpringError("day_and_weekday", NO_EXACT_TEXT)
    return _checked(f"{time} {pair[0]} {month} {pair[1]}", "crontab")


def _checked(cron: str, dialect: str) -> Document:
    if dialect == "quartz":
        parse_cron(cron, "quartz")
        return {"cron": cron, "dialect": "quartz"}
    parse_cron(cron)
    return {"cron": cron}


def _weekdays(text: str) -> str:
    """Weekdays by name, ranges written out: `5-7` is FRI,SAT,SUN, where Quartz would start a new week."""
    return ",".join(name for term in text.upper().split(",") for name in _named(term))


def _named(term: str) -> list[str]:
    match = re.fullmatch(r"([0-7A-Z]+?)(L|#[1-5])", term)
    if match is not None and match[1] != "":
        return [f"{_NAMES[_number(match[1], term)]}{match[2]}"]
    low, dash, high = term.partition("-")
    first = _number(low, term)
    last = _number(high, term) if dash else first
    last += 7 if last < first and last == 0 else 0
    if last < first:
        raise ScheduleError(f"{term!r} runs backwards in the weekday field; write two ranges")
    return [_NAMES[number] for number in range(first, last + 1)]


def _number(word: str, term: str) -> int:
    if word in _NAMES:
        return _NAMES.index(word)
    if len(word) == 1 and word in "01234567":
        return int(word)
    raise ScheduleError(f"{term!r} is not a weekday; use 0-7, SUN-SAT, lists and ranges")
