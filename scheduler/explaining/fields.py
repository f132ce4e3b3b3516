"""Which fields of a cron text fit what the clock on the wall reads? Field by field, in words. Pure."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Literal

from scheduler.cron import MACROS, Cron, month_length, parse_cron
from scheduler.cron_fields import Days, days_of
from scheduler.explaining.words import DAY_NAMES, MONTH_NAMES, day_words, ordinal, spans, weekday_words
from scheduler.jobs import Dialect

FieldCode = Literal["year", "month", "day", "weekday", "day_or_weekday", "hour", "minute", "second"]
PLACES = {
    "crontab": ("minute", "hour", "day", "month", "weekday"),
    "quartz": ("second", "minute", "hour", "day", "month", "weekday", "year"),
    "aws": ("minute", "hour", "day", "month", "weekday", "year"),
}


@dataclass(frozen=True, slots=True)
class Misfit:
    """A field that does not fit, and the sentence that says what it allows."""

    code: FieldCode
    sentence: str


def misfits(text: str, dialect: Dialect, local: datetime) -> list[Misfit]:
    """Every field of a cron text that a wall time (naive) does not fit, the coarsest first."""
    cron, fields = parse_cron(text, dialect), fields_of(text, dialect)
    return [*_calendar(cron, fields, local), *_time(cron, fields, local)]


def fields_of(text: str, dialect: Dialect) -> dict[str, str]:
    """The texts of the fields by name, macros written out."""
    plain = MACROS.get(text.strip().lower(), text) if dialect == "crontab" else text
    return dict(zip(PLACES[dialect], plain.split(), strict=False))  # a Quartz text may leave the year out


def fitting(text: str, dialect: Dialect, local: datetime) -> list[str]:
    """What surprises people about a text that does fit: a bare `*` for the minutes, one of two day fields."""
    cron, fields = parse_cron(text, dialect), fields_of(text, dialect)
    found = []
    if fields["minute"] == "*" and len(cron.hours) < 24:
        found.append(_each_minute(cron, fields))
    if cron.either_day:
        by_date, by_weekday = _days_of_month(cron, fields, local)
        if (local.day in by_date) != (local.day in by_weekday):
            found.append(_one_of_two(fields, local, by_date=local.day in by_date))
    return found


def _calendar(cron: Cron, fields: dict[str, str], local: datetime) -> Iterator[Misfit]:
    if cron.years is not None and local.year not in cron.years:
        yield Misfit("year", _says("year", local.year, fields, cron.years))
    if local.month not in cron.months:
        allowed = spans([month - 1 for month in cron.months], MONTH_NAMES)
        says = f"It is {MONTH_NAMES[local.month - 1]}, and the month field `{fields['month']}` allows {allowed}."
        yield Misfit("month", says)
    by_date, by_weekday = _days_of_month(cron, fields, local)
    wrong_date, wrong_weekday = local.day not in by_date, local.day not in by_weekday
    date_says = f"the day field `{fields['day']}` allows {day_words(_only_date(fields, cron.dialect))}"
    weekday_says = (
        f"the weekday field `{fields['weekday']}` allows {weekday_words(_only_weekday(fields, cron.dialect))}"
    )
    here = DAY_NAMES[local.weekday()]
    if cron.either_day and wrong_date and wrong_weekday:
        says = f"It is {here} the {ordinal(local.day)}: {date_says}, and {weekday_says}."
        yield Misfit("day_or_weekday", f"{says} Either would be enough, but neither fits.")
    elif not cron.either_day and wrong_date:
        yield Misfit("day", f"It is the {ordinal(local.day)}, and {date_says}.")
    if not cron.either_day and wrong_weekday:
        yield Misfit("weekday", f"It is a {here}, and {weekday_says}.")


def _time(cron: Cron, fields: dict[str, str], local: datetime) -> Iterator[Misfit]:
    if local.hour not in cron.hours:
        yield Misfit("hour", _says("hour", local.hour, fields, cron.hours))
    if local.minute not in cron.minutes:
        yield Misfit("minute", _says("minute", local.minute, fields, cron.minutes))
    if "second" in fields and local.second not in cron.seconds:
        yield Misfit("second", _says("second", local.second, fields, cron.seconds))


def _says(name: str, value: int, fields: dict[str, str], numbers: tuple[int, ...]) -> str:
    allowed = f"only {numbers[0]}" if len(numbers) == 1 else spans(numbers)
    return f"The {name} is {value}, and the {name} field `{fields[name]}` allows {allowed}."


def _days_of_month(cron: Cron, fields: dict[str, str], local: datetime) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The days of the month of `local` that each of the two day fields names by itself."""
    first, size = local.replace(day=1).weekday(), month_length(local.year, local.month)
    date, weekday = _only_date(fields, cron.dialect), _only_weekday(fields, cron.dialect)
    return days_of(date, first, size), days_of(weekday, first, size)


def _only_date(fields: dict[str, str], dialect: Dialect) -> Days:
    return Days.read(fields["day"].upper(), "*", dialect)


def _only_weekday(fields: dict[str, str], dialect: Dialect) -> Days:
    return Days.read("*", fields["weekday"].upper(), dialect)


def _each_minute(cron: Cron, fields: dict[str, str]) -> str:
    hours = "that hour" if len(cron.hours) == 1 else "those hours"
    count = len(cron.hours) * 60
    says = f"The minute field is `*`, so every minute of {hours} is a slot: {count} on such a day"
    return f"{says}. Once an hour would be `{' '.join((fields | {'minute': '0'}).values())}`."


def _one_of_two(fields: dict[str, str], local: datetime, *, by_date: bool) -> str:
    fits, other = ("day", "weekday") if by_date else ("weekday", "day")
    here = f"{DAY_NAMES[local.weekday()]} the {ordinal(local.day)}"
    says = f"Both day fields are given, so either is enough: {here} fits the {fits} field `{fields[fits]}`"
    return f"{says}, though not the {other} field `{fields[other]}`."
