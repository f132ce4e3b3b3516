"""What a reader of a cron text should know: which token is wrong, which step is uneven, what both day fields do.

Pure. Shared by the importers whose schedules are cron texts.
"""

import re
from collections.abc import Iterator

from scheduler.cron import Cron, NeverError, ScheduleError, parse_cron
from scheduler.importers.cron_lines import FIELDS

_SIZES = (60, 24)
_UNITS = ("min", "h")
_STEPPED = re.compile(r"\*/(\d{1,4})")


def wrong_field(fields: list[str]) -> tuple[int, str] | None:
    """The place (from 0) of the first of five fields that can't be read, and what is wrong with it."""
    for place, field in enumerate(fields[: len(FIELDS)]):
        alone = ["*"] * len(FIELDS)
        alone[place] = field
        try:
            parse_cron(" ".join(alone))
        except NeverError:
            continue
        except ScheduleError as error:
            return place, str(error).partition(" is not a cron expression: ")[2] or str(error)
    return None


def uneven_steps(text: str) -> Iterator[str]:
    """A sentence for each minute or hour step that does not divide its hour or day."""
    for field, size, unit, name in zip(text.split(), _SIZES, _UNITS, FIELDS, strict=False):
        match = _STEPPED.fullmatch(field)
        step = int(match[1]) if match else 1
        if 1 < step < size and size % step:
            last = size - (size - 1) // step * step
            starts = ", ".join(str(number) for number in range(0, size, step))
            yield f"{field} in the {name} field is uneven: {starts}; the last gap is {last} {unit}, not {step} {unit}"


def both_days(cron: Cron, year: int) -> str | None:
    """A sentence when both day fields restrict and either is enough."""
    if not cron.either_day:
        return None
    days = sum(len(cron.days_in(year, month)) for month in range(1, 13))
    return (
        f"both day fields are restricted, so either starts it: {days * len(cron.times)} starts on {days} days of {year}"
    )


def robfig(text: str) -> str:
    """A cron text of the Go library that Kubernetes and Dagu use, as a crontab of the same meaning.

    `?` is `*`. There `*/2` restricts a day field, so either field is enough; a crontab's leading `*` asks for both.
    """
    fields = text.replace("?", "*").split()
    if len(fields) != len(FIELDS):
        return text
    day, weekday = fields[2], fields[4]
    if _restricts(day) and _restricts(weekday):
        fields[2] = re.sub(r"^\*/", "1-31/", day)
        fields[4] = re.sub(r"^\*/", "0-6/", weekday)
    return " ".join(fields)


def _restricts(field: str) -> bool:
    return all(term not in ("*", "*/1") for term in field.split(","))
