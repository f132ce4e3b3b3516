"""What does a cron text mean? Fields to the times of a day and the days of a month. Pure: no zone, no instants.

Three dialects: `crontab` (five fields, Sunday is 0 and 7), `quartz` (seconds first, six or seven fields, Sunday is 1)
and `aws` (six fields, the year last, Sunday is 1). A token with no meaning in its dialect is an error that names it.
"""

from dataclasses import dataclass, field
from datetime import date, timedelta
from functools import lru_cache

from scheduler.cron_fields import HOUR, MINUTE, MONTH, SECOND, YEAR, Days, ScheduleError, days_of, numbers
from scheduler.cron_spread import spread
from scheduler.jobs import Dialect

__all__ = ["MACROS", "Cron", "NeverError", "ScheduleError", "month_length", "parse_cron", "spread"]

MACROS = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@midnight": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@yearly": "0 0 1 1 *",
    "@annually": "0 0 1 1 *",
}
SHAPES = {
    "crontab": ((5,), "five fields: minute hour day month weekday"),
    "quartz": ((6, 7), "six fields: second minute hour day month weekday, and maybe a year"),
    "aws": ((6,), "six fields: minute hour day month weekday year"),
}


class NeverError(ScheduleError):
    """Fields that are each right, and together name no date."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Cron:
    """A cron text, understood. `follows_clock`: its minute or hour begins with `*`, so it fires with the clock on the
    wall whatever that does. `either_day`: both day fields restrict, and a day that one of them names is enough.
    """

    text: str
    dialect: Dialect
    seconds: tuple[int, ...]
    minutes: tuple[int, ...]
    hours: tuple[int, ...]
    months: tuple[int, ...]
    years: tuple[int, ...] | None
    days: Days
    follows_clock: bool
    _known: dict[tuple[int, int], tuple[int, ...]] = field(default_factory=dict, repr=False)

    @property
    def either_day(self) -> bool:
        """Whether a day matches when only one of the two day fields names it."""
        return self.days.either

    @property
    def times(self) -> tuple[timedelta, ...]:
        """The times of a day at which it fires, since local midnight, ascending."""
        return _times(self.hours, self.minutes, self.seconds)

    def days_in(self, year: int, month: int) -> tuple[int, ...]:
        """The days of a month on which it fires, ascending."""
        if month not in self.months or (self.years is not None and year not in self.years):
            return ()
        first = date(year, month, 1).weekday()
        return self._days(first, month_length(year, month))

    def _days(self, first: int, length: int) -> tuple[int, ...]:
        # A month is one of 28 kinds: by its first weekday and its length.
        key = (first, length)
        if key not in self._known:
            self._known[key] = days_of(self.days, first, length)
        return self._known[key]

    def ever(self) -> bool:
        """Whether any date matches at all."""
        if self.years is not None:
            return any(self.days_in(year, month) for year in self.years for month in self.months)
        lengths = {length for month in self.months for length in _LENGTHS[month]}
        return any(self._days(first, length) for length in lengths for first in range(7))


_LENGTHS = {month: (28, 29) if month == 2 else (30,) if month in (4, 6, 9, 11) else (31,) for month in range(1, 13)}


def month_length(year: int, month: int) -> int:
    """The number of days of a month."""
    leap = year % 4 == 0 and (year % 100 != 0 or year % 400 == 0)
    return 29 if month == 2 and leap else _LENGTHS[month][0]


@lru_cache(maxsize=4096)
def parse_cron(text: str, dialect: Dialect = "crontab") -> Cron:
    """Raises ScheduleError for what can't be read, and NeverError for what can never come."""
    fields = text.split()
    if dialect == "crontab":
        fields = MACROS.get(text.strip().lower(), text).split()
    counts, shape = SHAPES[dialect]
    if len(fields) not in counts:
        raise ScheduleError(f"{text!r} is not a cron expression; write {shape}")
    try:
        cron = _understood(text, fields, dialect)
    except ScheduleError as error:
        raise ScheduleError(f"{text!r} is not a cron expression: {error}") from None
    if not cron.ever():
        raise NeverError(f"{text!r} can never fire: no month has such a day")
    return cron


def _understood(text: str, fields: list[str], dialect: Dialect) -> Cron:
    second, minute, hour, day, month, weekday, year = _placed([word.upper() for word in fields], dialect)
    if dialect != "crontab" and (day == "?") == (weekday == "?"):
        raise ScheduleError(f"exactly one of day {day!r} and weekday {weekday!r} must be `?` here")
    return Cron(
        text=text,
        dialect=dialect,
        seconds=numbers(SECOND, second),
        minutes=numbers(MINUTE, minute),
        hours=numbers(HOUR, hour),
        months=numbers(MONTH, month),
        years=None if year in ("*", None) else numbers(YEAR, year),
        days=Days.read(day, weekday, dialect),
        follows_clock=any(_open(word, dialect) for word in (minute, hour)),
    )


def _open(word: str, dialect: Dialect) -> bool:
    # In Quartz and AWS texts `0/15` is how people write what a crontab calls `*/15`.
    return word.startswith("*") or (dialect != "crontab" and word.startswith("0/"))


def _placed(fields: list[str], dialect: Dialect) -> tuple[str, str, str, str, str, str, str]:
    """Second, minute, hour, day, month, weekday, year."""
    if dialect == "crontab":
        fields = ["0", *fields, "*"]
    elif dialect == "aws":
        fields = ["0", *fields]
    elif len(fields) == 6:
        fields = [*fields, "*"]
    second, minute, hour, day, month, weekday, year = fields
    return second, minute, hour, day, month, weekday, year


# Shared by every text with the same fields: a line of every minute has 1,440 times.
@lru_cache(maxsize=1024)
def _times(hours: tuple[int, ...], minutes: tuple[int, ...], seconds: tuple[int, ...]) -> tuple[timedelta, ...]:
    return tuple(
        timedelta(hours=hour, minutes=minute, seconds=second)
        for hour in hours
        for minute in minutes
        for second in seconds
    )
