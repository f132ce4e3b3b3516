"""How instants, fields, schedules and foreign text are said in sentences. Pure: words alone, no decisions."""

from collections.abc import Iterable, Sequence
from datetime import date, datetime, timedelta

from scheduler.cron_fields import Days, stretches
from scheduler.instants import format_duration, format_instant
from scheduler.jobs import Calendar, Repeat, Schedule, Window
from scheduler.offsets import wall

MAX_SHOWN = 200
"""Characters of a foreign text that a sentence holds."""
MAX_LISTED = 12
"""Things that a sentence lists; of more it says the first, and how many there are."""
MONTH_NAMES = ("January", "February", "March", "April", "May", "June", "July", "August", "September", "October",
               "November", "December")  # fmt: skip
DAY_NAMES = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_SECOND = timedelta(seconds=1)


def clock(seconds: int) -> str:
    """A time of day from seconds since midnight: `02:30`, with seconds only where there are some."""
    text = f"{seconds // 3600:02}:{seconds // 60 % 60:02}"
    return f"{text}:{seconds % 60:02}" if seconds % 60 else text


def reading(at: datetime) -> str:
    """What the clock on the wall reads (naive): `02:30`."""
    return clock(at.hour * 3600 + at.minute * 60 + at.second)


def dated(zone: str, at: datetime) -> str:
    """An instant by the clock on the wall, and in UTC: `Tuesday 2026-05-05 09:31 (2026-05-05T02:31:00Z)`."""
    local = wall(zone, at)
    text = f"{day(local.date())} {reading(local)}"
    return f"{text} UTC" if _is_utc(zone) else f"{text} ({format_instant(at.replace(microsecond=0))})"


def placed(zone: str, at: datetime) -> str:
    """The same with the zone's name: `Tuesday 2026-05-05 09:31 in Asia/Jakarta (2026-05-05T02:31:00Z)`."""
    text = dated(zone, at)
    return text if _is_utc(zone) else text.replace(" (", f" in {zone} (", 1)


def day(value: date) -> str:
    """A date with its weekday: `Tuesday 2026-05-05`."""
    return f"{DAY_NAMES[value.weekday()]} {value.isoformat()}"


def moment(at: datetime) -> str:
    """An instant of the record, to the second: `2026-05-05T02:31:00Z`."""
    return format_instant(at.replace(microsecond=0))


def length(value: timedelta) -> str:
    """A length as people say it, in two units at most: `1h 5m`, `12s`, `0.4s`."""
    if value < timedelta(seconds=10) and value % _SECOND:
        return f"{value.total_seconds():.1f}s"
    rest, told = value // _SECOND, []
    for unit, size in (("d", 86400), ("h", 3600), ("m", 60), ("s", 1)):
        if rest >= size:
            told.append(f"{rest // size}{unit}")
            rest %= size
    return " ".join(told[:2]) or "0s"


def listed(words: Sequence[str]) -> str:
    """`a, b and c`; past MAX_LISTED the first of them, and how many there are."""
    if len(words) > MAX_LISTED:
        return f"{', '.join(words[:MAX_LISTED])} and so on ({len(words)} in all)"
    return " and ".join(filter(None, (", ".join(words[:-1]), words[-1])))


def spans(numbers: Iterable[int], names: Sequence[str] = ()) -> str:
    """Numbers (or the names that they count, from 0) with runs of three and more as `9 to 17`."""
    told: list[str] = []
    for run in stretches(numbers):
        words = [names[number] if names else str(number) for number in run]
        told += [f"{words[0]} to {words[-1]}"] if len(words) > 2 else words
    return listed(told)


def day_words(days: Days) -> str:
    """What a day field allows."""
    told = [spans(days.dates)] if days.dates else []
    told += [_from_the_end(back) for back in sorted(days.before_last)]
    told += [f"the Monday-to-Friday nearest to the {ordinal(near)}" for near in sorted(days.near)]
    return listed(told + (["the month's last Monday-to-Friday"] if days.last_workday else []))


def _from_the_end(back: int) -> str:
    return f"{back} days before the month's last" if back else "the month's last day"


def weekday_words(days: Days) -> str:
    """What a weekday field allows."""
    told = [spans(days.weekdays, DAY_NAMES)] if days.weekdays else []
    told += [f"the month's {ordinal(count)} {DAY_NAMES[weekday]}" for weekday, count in sorted(days.nth)]
    return listed(told + [f"the month's last {DAY_NAMES[weekday]}" for weekday in sorted(days.last_of)])


def ordinal(number: int) -> str:
    """`1st`, `2nd`, `13th`."""
    tail = "th" if 10 < number % 100 < 14 else {1: "st", 2: "nd", 3: "rd"}.get(number % 10, "th")
    return f"{number}{tail}"


def schedule_words(part: Schedule) -> str:
    """One schedule as its file has it: `0 2 * * *`, `every 15m`, `every 2 weeks on friday at 18:00`."""
    if part.cron is not None:
        return part.cron
    if part.every is not None:
        return f"every {format_duration(part.every)}"
    if part.repeat is not None:
        return repeat_words(part.repeat)
    return f"at {listed([format_instant(at) for at in sorted(part.at)])}"


def repeat_words(repeat: Repeat) -> str:
    """A calendar interval as its file has it."""
    every = f"every {repeat.unit}" if repeat.count == 1 else f"every {repeat.count} {repeat.unit}s"
    days = f" on {listed(repeat.on)}" if repeat.on else ""
    return f"{every}{days} at {listed([clock(second) for second in repeat.times])}"


def window_words(window: Window) -> str:
    """`22:00 to 05:00 in Asia/Jakarta`."""
    return f"{clock(window.start)} to {clock(window.end)} in {window.timezone}"


def calendar_words(calendar: Calendar | None) -> str:
    """`the calendar `id``, or what stands in for one."""
    if calendar is None:
        return "Monday to Friday"
    return f"the calendar `{calendar.name}`" if calendar.name else "the calendar"


def shown(text: str) -> str:
    """Foreign text on one line, cut, and without what could steer a terminal."""
    plain = "".join(char if char.isprintable() else " " for char in text)
    plain = " ".join(plain.split())
    return plain if len(plain) <= MAX_SHOWN else f"{plain[: MAX_SHOWN - 1]}…"


def _is_utc(zone: str) -> bool:
    return zone in ("UTC", "Etc/UTC", "Etc/UCT", "UCT", "Zulu", "Etc/Zulu", "Universal", "Etc/Universal")
