"""systemd's calendar texts (`Mon..Fri *-*-* 6,18:00`) as cron texts that name exactly the same slots. Pure.

A weekday and a date must both match in systemd, while either of a crontab's restricted day fields is enough: such a
pair becomes a text that says the same (`MON#1`, `5L`, a day field that begins with `*`), or an error.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from scheduler.importers.day_pairs import NO_EXACT_TEXT, day_fields
from scheduler.zones import check_zone

SHORTHANDS = {
    "minutely": "*-*-* *:*:00",
    "hourly": "*-*-* *:00:00",
    "daily": "*-*-* 00:00:00",
    "weekly": "Mon *-*-* 00:00:00",
    "monthly": "*-*-01 00:00:00",
    "quarterly": "*-01,04,07,10-01 00:00:00",
    "semiannually": "*-01,07-01 00:00:00",
    "biannually": "*-01,07-01 00:00:00",
    "semi-annually": "*-01,07-01 00:00:00",
    "bi-annually": "*-01,07-01 00:00:00",
    "yearly": "*-01-01 00:00:00",
    "annually": "*-01-01 00:00:00",
    "anually": "*-01-01 00:00:00",
}
_DAYS = ("sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday")
_TERM = re.compile(r"(\d{1,4})(?:\.\.(\d{1,4}))?(?:/(\d{1,4}))?")
_COMMA_OF_TIMES = re.compile(r"(\d{1,2}):(\d{1,2}),(\d{1,2}):(\d{1,2})")
_FULL = {"month": (1, 12), "day": (1, 31), "hour": (0, 23), "minute": (0, 59)}


class CalendarTextError(ValueError):
    """A calendar text that can't be carried over exactly; `code` is that of the finding."""

    def __init__(self, message: str, code: str = "bad_schedule") -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True, slots=True)
class CalendarText:
    """A calendar text as a cron text, or as one fixed local time (`at`: `2026-12-24 10:00:00`), and its own zone."""

    cron: str | None
    at: str | None
    dialect: str
    zone: str | None
    notes: tuple[tuple[str, str], ...] = ()


def read_calendar_text(text: str) -> CalendarText:
    """What a value of OnCalendar= names. Raises CalendarTextError, naming the part that is wrong."""
    words = re.sub(r"(?<=\d)T(?=\d)", " ", text).split()
    zone = _zone(words)
    if zone is not None:
        words = words[:-1]
    if len(words) == 1:
        words = SHORTHANDS.get(words[0].lower(), words[0]).split()
    if not words:
        raise CalendarTextError(f"{text!r} names no time; write weekday, date, time, zone")
    weekdays = _weekdays(words.pop(0)) if words and words[0][:1].isalpha() else frozenset(range(7))
    date = words.pop(0) if words and re.search(r"\d-|\*-|~", words[0]) else "*-*-*"
    time = words.pop(0) if words else "00:00:00"
    if words:
        raise CalendarTextError(f"{words[0]!r} is one word too many; write weekday, date, time, zone")
    notes = tuple(_comma_notes(time))
    hours, minutes = _time(time)
    year, month, day, from_end = _date(date)
    if year != "*":
        return CalendarText(None, _fixed(year, month, day, hours, minutes, text), "crontab", zone, notes)
    months = _field("month", month)
    if from_end:
        return _from_end(f"{minutes} {hours}", months, day, weekdays, zone, notes)
    numbers = _numbers("day", day)
    pair = (_field("day", day), "*") if len(weekdays) == 7 else day_fields(numbers, weekdays)
    if pair is None:
        raise CalendarTextError(NO_EXACT_TEXT, "day_and_weekday")
    return CalendarText(f"{minutes} {hours} {pair[0]} {months} {pair[1]}", None, "crontab", zone, notes)


def _zone(words: Sequence[str]) -> str | None:
    """The zone that stands last, or None: a word of letters that is not the only one."""
    if len(words) < 2 or not words[-1][:1].isalpha():
        return None
    try:
        return check_zone(words[-1])
    except ValueError as error:
        raise CalendarTextError(f"{words[-1]!r} {error}", "unknown_zone") from None


def _weekdays(text: str) -> frozenset[int]:
    found: set[int] = set()
    for term in text.rstrip(",").split(","):
        first, dots, last = term.replace("-", "..").partition("..")
        low, high = _weekday(first), _weekday(last) if dots else _weekday(first)
        # Counted from Monday, as systemd does: Sat..Sun is a range, Sun..Mon is none.
        low, high = (low - 1) % 7, (high - 1) % 7
        if low > high:
            raise CalendarTextError(f"{term!r} runs backwards; weeks begin on Monday here")
        found.update((number + 1) % 7 for number in range(low, high + 1))
    return frozenset(found)


def _weekday(word: str) -> int:
    folded = word.lower()
    for number, name in enumerate(_DAYS):
        if folded in (name, name[:3]):
            return number
    raise CalendarTextError(f"{word!r} is not a weekday; write Mon, Tue, Wed, Thu, Fri, Sat or Sun")


def _time(text: str) -> tuple[str, str]:
    """The hour and minute fields of a cron text."""
    parts = text.split(":")
    if len(parts) not in (2, 3):
        raise CalendarTextError(f"{text!r} is not a time; write it like 06:00 or 6,18:00")
    if len(parts) == 3 and not re.fullmatch(r"0+", parts[2]):
        hint = "; ".join(said for _, said in _comma_notes(text)) or "round the time to the minute"
        raise CalendarTextError(f"{text!r} has seconds other than 00, and a crontab text has none; {hint}", "seconds")
    return _field("hour", parts[0]), _field("minute", parts[1])


def _comma_notes(text: str) -> list[tuple[str, str]]:
    """`6:00,18:00` is read from left to right: hour 6, minutes 00 and 18, second 00."""
    match = _COMMA_OF_TIMES.fullmatch(text)
    if match is None:
        return []
    hour, first, second, last = match.groups()
    # `10:00,30:00` can't have been meant as two times.
    if int(second) > _FULL["hour"][1] or int(first) != int(last):
        return []
    named = f"{int(hour):02}:{int(first):02} and {int(hour):02}:{int(second):02}"
    said = f"the comma binds to the minute, so {text} is {named}; did you mean {hour},{second}:{last}?"
    return [("comma_binds", said)]


def _date(text: str) -> tuple[str, str, str, bool]:
    """Year, month, day, and whether the day is counted back from the month's end."""
    head, tilde, tail = text.partition("~")
    parts = [*head.split("-"), tail] if tilde else head.split("-")
    if len(parts) == 2:
        parts = ["*", *parts]
    if len(parts) != 3 or not all(parts):
        raise CalendarTextError(f"{text!r} is not a date; write it like *-*-01, 12-24 or *-02~1")
    return parts[0], parts[1], parts[2], bool(tilde)


def _fixed(year: str, month: str, day: str, hours: str, minutes: str, text: str) -> str:
    pieces = (year, month, day, hours, minutes)
    if not all(piece.isdigit() for piece in pieces) or len(year) != 4:
        raise CalendarTextError(
            f"{text!r} names years and is no single instant; write the slots as `at: [...]`", "year"
        )
    return f"{year}-{int(month):02}-{int(day):02}T{int(hours):02}:{int(minutes):02}:00"


def _field(name: str, text: str) -> str:
    """A field in crontab's words: `*`, numbers, ranges, steps."""
    if text == "*":
        return "*"
    low, high = _FULL[name]
    return ",".join(_term(name, term, low, high) for term in text.split(","))


def _term(name: str, term: str, low: int, high: int) -> str:
    # `*/2` is none of systemd's forms: a repetition wants a number to start from.
    match = _TERM.fullmatch(term)
    if match is None:
        raise CalendarTextError(
            f"{term!r} is not a {name}; use numbers, lists, ranges like 1..5, and repetitions like 0/15"
        )
    first, last, step = int(match[1]), match[2], match[3]
    end = int(last) if last else high if step else first
    if not low <= first <= end <= high or (step and not 0 < int(step) <= high):
        raise CalendarTextError(f"{term!r} leaves the {name}s from {low} to {high}, or runs backwards")
    if step and first == low and end == high:
        return f"*/{int(step)}"
    return f"{first}-{end}" + (f"/{int(step)}" if step else "") if end != first else str(first)


def _numbers(name: str, text: str) -> frozenset[int]:
    """The numbers of a field; all of them for `*`."""
    low, high = _FULL[name]
    found: set[int] = set()
    for term in _field(name, text).split(","):
        span, _, step = term.partition("/")
        first, _, last = span.partition("-")
        start, end = (low, high) if span == "*" else (int(first), int(last or first))
        found.update(range(start, end + 1, int(step or 1)))
    return frozenset(found)


def _from_end(
    time: str, months: str, day: str, weekdays: frozenset[int], zone: str | None, notes: tuple[tuple[str, str], ...]
) -> CalendarText:
    """`~1` is the last day, `~3` the third from the end, `Mon *-*~7/1` the last Monday."""
    match = re.fullmatch(r"(\d{1,2})/(\d{1,2})", day)
    # A repetition after `~` runs forward from there to the month's end.
    back = frozenset(range(int(match[1]), 0, -max(1, int(match[2])))) if match else _numbers("day", day)
    if len(weekdays) == 7:
        last = ",".join("L" if number == 1 else f"L-{number - 1}" for number in sorted(back))
        if last == "L":
            return CalendarText(f"{time} L {months} *", None, "crontab", zone, notes)
        return CalendarText(f"0 {time} {last} {months} ?", None, "quartz", zone, notes)
    if back == frozenset(range(1, 8)):
        return CalendarText(
            f"{time} * {months} {','.join(f'{number}L' for number in sorted(weekdays))}", None, "crontab", zone, notes
        )
    raise CalendarTextError(NO_EXACT_TEXT, "day_and_weekday")
