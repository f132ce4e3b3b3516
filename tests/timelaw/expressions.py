"""Random cron texts of five fields, from a grammar; and random stretches of days, most of them near a clock change."""

import zoneinfo
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from random import Random

from timelaw.oracle import jumps

FIRST_YEAR, LAST_YEAR = 1970, 2100
MONTHS = ("JAN", "feb", "Mar", "APR", "may", "JUN", "JUL", "aug", "SEP", "OCT", "NOV", "Dec")
WEEKDAYS = ("SUN", "mon", "TUE", "Wed", "THU", "FRI", "SAT")


def expression(random: Random) -> str:
    """Five fields. Often open days and early hours: clocks change at night, and an empty answer proves little."""
    day, weekday = random.choice([_open_days, _open_days, _by_date, _by_weekday, _both])(random)
    month = "*" if random.random() < 0.7 else _listed(random, 1, 12, MONTHS)
    return f"{_minute(random)} {_hour(random)} {day} {month} {weekday}"


def _minute(random: Random) -> str:
    return random.choice(["0", "30", "*", "*/30", "*/7", "59"]) if random.random() < 0.3 else _listed(random, 0, 59)


def _hour(random: Random) -> str:
    kind = random.random()
    if kind < 0.35:
        return random.choice(["*", "*/2", "*/5", "0-23", "0/3", "0-3", "1,2,3"])
    return _listed(random, 0, 3) if kind < 0.65 else _listed(random, 0, 23)


def _open_days(random: Random) -> tuple[str, str]:
    return "*", "*"


def _by_date(random: Random) -> tuple[str, str]:
    return _date(random), "*"


def _by_weekday(random: Random) -> tuple[str, str]:
    return "*", _weekday(random)


def _both(random: Random) -> tuple[str, str]:
    return _date(random), _weekday(random)


def _date(random: Random) -> str:
    words = ["L", "LW", f"{random.randint(1, 31)}W"]
    terms = [_term(random, 1, 31) if random.random() < 0.7 else random.choice(words) for _ in _some(random)]
    return ",".join(terms)


def _weekday(random: Random) -> str:
    terms = []
    for _ in _some(random):
        word = random.choice([*WEEKDAYS, *map(str, range(8))])
        special = [f"{word}L", f"{word}#{random.randint(1, 5)}"]
        terms.append(_term(random, 0, 7, WEEKDAYS) if random.random() < 0.7 else random.choice(special))
    return ",".join(terms)


def _listed(random: Random, low: int, high: int, names: tuple[str, ...] = ()) -> str:
    return ",".join(_term(random, low, high, names) for _ in _some(random))


def _some(random: Random) -> range:
    return range(random.choice((1, 1, 1, 2, 3)))


def _term(random: Random, low: int, high: int, names: tuple[str, ...] = ()) -> str:
    first, last = sorted((random.randint(low, high), random.randint(low, high)))
    step = random.randint(1, high - low + 1)
    begin = _named(random, first, low, names)
    shapes = [begin, begin, f"{begin}-{_named(random, last, low, names)}", f"{begin}/{step}", f"*/{step}"]
    shapes.append(f"{begin}-{_named(random, last, low, names)}/{step}")
    return random.choice(shapes)


def _named(random: Random, number: int, low: int, names: tuple[str, ...]) -> str:
    # A range cannot end on the name of a Sunday, which is 0: 7 stays a number.
    return names[number - low] if number - low < len(names) and random.random() < 0.4 else str(number)


ZONES = sorted(zoneinfo.available_timezones())


@lru_cache(maxsize=100_000)
def _changes(zone: str, year: int) -> tuple[datetime, ...]:
    return tuple(jumps(zone, year, year + 1))


def stretch(random: Random, zone: str) -> tuple[datetime, datetime]:
    """`(after, until]`: up to two days and a half, most often with a change of the zone's clock in it or beside it."""
    middle = _change(random, zone) if random.random() < 0.9 else None
    if middle is None:
        first = datetime(FIRST_YEAR, 1, 3, tzinfo=UTC)
        middle = first + timedelta(minutes=random.randrange((LAST_YEAR + 1 - FIRST_YEAR) * 365 * 1440))
    return middle - _edge(random), middle + _edge(random)


def _change(random: Random, zone: str) -> datetime | None:
    # Half of the tries go to the years before the rules settled: there are the odd changes.
    for _ in range(10):
        last = random.choice((2025, LAST_YEAR))
        changes = _changes(zone, random.randint(FIRST_YEAR, last))
        if changes:
            return random.choice(changes)
    return None


def _edge(random: Random) -> timedelta:
    # Whole minutes make an edge fall on slots, where half-open windows show their mistakes.
    whole = timedelta(minutes=random.randrange(30 * 60))
    return whole if random.random() < 0.7 else whole + timedelta(microseconds=random.randrange(60_000_000))
