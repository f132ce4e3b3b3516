"""One field of a cron text: lists, ranges, steps, names, and the day fields' own words. Pure.

Ranges never wrap: `22-2` and `FRI-MON` are errors, because crons differ about them. A step counts from the range's
start; a single number with a step (`5/15`) runs to the field's end.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from scheduler.jobs import Dialect

MONTHS = ("JAN", "FEB", "MAR", "APR", "MAY", "JUN", "JUL", "AUG", "SEP", "OCT", "NOV", "DEC")
WEEKDAYS = ("SUN", "MON", "TUE", "WED", "THU", "FRI", "SAT")
SATURDAY, SUNDAY = 5, 6  # as Python counts, from Monday = 0


class ScheduleError(ValueError):
    """A schedule that names no slots: says which text is wrong and what to write."""


@dataclass(frozen=True, slots=True)
class Field:
    """A field's name, its lowest and highest number, and the words that stand for numbers from the lowest on."""

    title: str
    low: int
    high: int
    names: tuple[str, ...] = ()

    def number(self, word: str, term: str) -> int:
        """A number or a name as a number. Raises ScheduleError, naming the token."""
        if word in self.names:
            return self.names.index(word) + self.low
        # Only ASCII digits: int() would take others, and a crontab would not.
        if not (word.isascii() and word.isdigit() and len(word) <= 4 and self.low <= int(word) <= self.high):
            raise ScheduleError(f"{term!r} is not a {self.title}; {self._remedy()}")
        return int(word)

    def _remedy(self) -> str:
        words = f", {self.names[0]}-{self.names[-1]}" if self.names else ""
        return f"use {self.low}-{self.high}{words}, lists, ranges and steps"


SECOND = Field("second", 0, 59)
MINUTE = Field("minute", 0, 59)
HOUR = Field("hour", 0, 23)
DAY = Field("day", 1, 31)
MONTH = Field("month", 1, 12, MONTHS)
WEEKDAY = Field("weekday", 0, 7, WEEKDAYS)
WEEKDAY_FROM_1 = Field("weekday", 1, 7, WEEKDAYS)  # Quartz and AWS count from Sunday = 1
YEAR = Field("year", 1970, 2199)


def numbers(place: Field, text: str) -> tuple[int, ...]:
    """The numbers of a field without words of its own, ascending."""
    return tuple(sorted({number for term in text.split(",") for number in _term(place, term)}))


def stretches(numbers: Iterable[int]) -> list[list[int]]:
    """Numbers as runs without a gap, ascending: `[[1, 2, 3], [7]]`."""
    found: list[list[int]] = []
    for number in sorted(numbers):
        if found and number == found[-1][-1] + 1:
            found[-1].append(number)
        else:
            found.append([number])
    return found


def _term(place: Field, term: str) -> range:
    span, slash, step = term.partition("/")
    if slash and not (step.isascii() and step.isdigit() and int(step[:9]) > 0 and len(step) < 9):
        raise ScheduleError(
            f"{term!r} has no step above zero in the {place.title} field; write a number after the slash"
        )
    low, dash, high = span.partition("-")
    if span == "*":
        first, last = place.low, place.high
    elif dash:
        first, last = place.number(low, term), place.number(high, term)
    else:
        first = place.number(span, term)
        last = place.high if slash else first
    if last < first:
        raise ScheduleError(f"{term!r} runs backwards in the {place.title} field; write two ranges")
    return range(first, last + 1, int(step) if slash else 1)


@dataclass(frozen=True, slots=True)
class Days:
    """What the two day fields say. Weekdays count from Monday = 0 here; `nth` and `last_of` are (weekday, n).

    `before_last` holds days before the month's last (0 is the last itself), `near` the days of `15W`.
    """

    dates: frozenset[int]
    before_last: frozenset[int]
    near: frozenset[int]
    last_workday: bool
    weekdays: frozenset[int]
    nth: frozenset[tuple[int, int]]
    last_of: frozenset[int]
    either: bool

    @staticmethod
    def read(day: str, weekday: str, dialect: Dialect) -> "Days":
        """Both fields; a field that begins with `*` (or is `?`) leaves the choice of days to the other."""
        dates: set[int] = set()
        before_last: set[int] = set()
        near: set[int] = set()
        last_workday = False
        for term in _terms(day, dialect):
            if term == "LW":
                last_workday = True
            elif term == "L":
                before_last.add(0)
            elif term.startswith("L-") and dialect == "quartz":
                before_last.add(DAY.number(term[2:], term))
            elif term.endswith("W"):
                near.add(DAY.number(term[:-1], term))
            else:
                dates.update(_term(DAY, term))
        words = Weekdays.read(_terms(weekday, dialect), dialect)
        return Days(
            frozenset(dates), frozenset(before_last), frozenset(near), last_workday,
            words.plain, words.nth, words.last_of,
            either=not (day.startswith(("*", "?")) or weekday.startswith(("*", "?"))),
        )  # fmt: skip


@dataclass(frozen=True, slots=True)
class Weekdays:
    """What a weekday field says, counted from Monday = 0."""

    plain: frozenset[int]
    nth: frozenset[tuple[int, int]]
    last_of: frozenset[int]

    @staticmethod
    def read(terms: list[str], dialect: Dialect) -> "Weekdays":
        """Every term: `1-5`, `MON`, `MON#2`, `5L`; in Quartz and AWS `L` alone is Saturday."""
        place = WEEKDAY if dialect == "crontab" else WEEKDAY_FROM_1
        back = 1 if place is WEEKDAY else 2  # from the field's own numbers to Monday = 0
        plain: set[int] = set()
        nth: set[tuple[int, int]] = set()
        last_of: set[int] = set()
        for term in terms:
            word, mark, count = term.partition("#")
            if mark:
                if count not in ("1", "2", "3", "4", "5"):
                    raise ScheduleError(
                        f"{term!r} counts weekdays of a month past 5; write a number from 1 to 5 after #"
                    )
                nth.add(((place.number(word, term) - back) % 7, int(count)))
            elif term == "L" and dialect != "crontab":
                plain.add(SATURDAY)
            elif term.endswith("L"):
                last_of.add((place.number(term[:-1].strip(), term) - back) % 7)
            else:
                plain.update((number - back) % 7 for number in _term(place, term))
        return Weekdays(frozenset(plain), frozenset(nth), frozenset(last_of))


def _terms(text: str, dialect: Dialect) -> list[str]:
    if text == "?" and dialect != "crontab":
        return ["*"]
    return text.split(",")


def days_of(days: Days, first: int, length: int) -> tuple[int, ...]:
    """The days that match in a month of `length` days whose first is weekday `first` (Monday = 0), ascending."""
    by_date = {day for day in days.dates if day <= length}
    by_date |= {length - back for back in days.before_last if back < length}
    by_date |= {_nearest_workday(day, first, length) for day in days.near if day <= length}
    if days.last_workday:
        by_date.add(_nearest_workday(length, first, length))
    by_weekday = {day for day in range(1, length + 1) if _named(days, (first + day - 1) % 7, day, length)}
    return tuple(sorted(by_date | by_weekday if days.either else by_date & by_weekday))


def _named(days: Days, weekday: int, day: int, length: int) -> bool:
    return (
        weekday in days.weekdays
        or (weekday, (day + 6) // 7) in days.nth
        or (weekday in days.last_of and day + 7 > length)
    )


def _nearest_workday(day: int, first: int, length: int) -> int:
    """The working day (Monday to Friday) nearest to a day, never in another month."""
    weekday = (first + day - 1) % 7
    if weekday == SATURDAY:
        return day - 1 if day > 1 else day + 2
    if weekday == SUNDAY:
        return day + 1 if day < length else day - 2
    return day
