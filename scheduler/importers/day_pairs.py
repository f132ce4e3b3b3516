"""A set of dates and a set of weekdays that must both match, as the two day fields of a crontab. Pure.

Restricted both, a crontab's day fields mean "either". A field that begins with `*` asks for both, so an impossible step
(`*/100` is day 1, `*/8` is Sunday) in front of a list turns the meaning round, where that day is in the list anyway.
"""

from scheduler.cron_fields import stretches

NO_EXACT_TEXT = (
    "a date and a weekday must both match, and no crontab text says exactly that for these; write one job for each"
    " date, or a `repeat` such as {every: month, on: 2nd tuesday}"
)
ALL_DATES, ALL_WEEKDAYS = frozenset(range(1, 32)), frozenset(range(7))
_WEEKS = {frozenset(range(first, first + 7)): number for number, first in enumerate((1, 8, 15, 22), start=1)}


def day_fields(dates: frozenset[int], weekdays: frozenset[int]) -> tuple[str, str] | None:
    """Day and weekday field for `dates` (1-31) and `weekdays` (Sunday is 0), non-empty; None where none is exact."""
    if weekdays == ALL_WEEKDAYS:
        return _listed(dates, ALL_DATES), "*"
    if dates == ALL_DATES:
        return "*", _listed(weekdays, ALL_WEEKDAYS)
    week = _WEEKS.get(dates)
    if week is not None:
        return "*", ",".join(f"{number}#{week}" for number in sorted(weekdays))
    if 1 in dates:
        return f"*/100,{_listed(dates, ALL_DATES)}", _listed(weekdays, ALL_WEEKDAYS)
    if 0 in weekdays:
        return _listed(dates, ALL_DATES), f"*/8,{_listed(weekdays, ALL_WEEKDAYS)}"
    return None


def _listed(numbers: frozenset[int], everything: frozenset[int]) -> str:
    """`1-5,7`, or `*` for all."""
    if numbers == everything:
        return "*"
    runs = stretches(numbers)
    return ",".join(str(run[0]) if len(run) == 1 else f"{run[0]}-{run[-1]}" for run in runs)
