"""What others answer for the same texts: cronsim, a cron library, and `systemd-analyze calendar`."""

import os
import re
import subprocess
import zoneinfo
from collections.abc import Sequence
from datetime import UTC, datetime
from importlib.resources import files
from itertools import takewhile
from pathlib import Path

from cronsim import CronSim
from timelaw.oracle import fields_of, weekdays_of

MOST_TICKS = 200_000
"""cronsim moves by a minute or an hour at a time; three days have 4,320 minutes."""
ZONE_FILES = Path(str(files("tzdata"))) / "zoneinfo"
DAYS = ("Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat")


class EndlessError(Exception):
    """cronsim went on searching without coming nearer."""


class Counted(CronSim):
    """cronsim, stopped where it would search for ever."""

    ticks = 0

    def tick(self, seconds: int = 1) -> None:
        """One step of its search. Raises EndlessError after too many."""
        self.ticks += 1
        if self.ticks > MOST_TICKS:
            raise EndlessError
        super().tick(seconds)


def cronsim_slots(text: str, zone: str, after: datetime, until: datetime) -> list[datetime]:
    """What cronsim answers for `(after, until]`, UTC. Raises CronSimError and EndlessError."""
    found = (slot.astimezone(UTC) for slot in Counted(text, after.astimezone(zoneinfo.ZoneInfo(zone))))
    return list(takewhile(lambda slot: slot <= until, found))


def oncalendar(text: str) -> str | None:
    """A cron text as systemd writes it; None for what it has no words for: either of two day fields, `LW`, `15W`."""
    fields = fields_of(text)
    day, weekday = fields.day, fields.weekday
    if day[0] != "*" and weekday[0] != "*":
        return None
    days, names = "-*", ""
    if "#" in weekday or "L" in weekday:
        if day != "*" or "," in weekday:
            return None
        names, days = _nth(weekday)
    elif weekday != "*":
        names = _names(sorted(weekdays_of(weekday)))
    if day == "L":
        days = "~01"
    elif "L" in day or "W" in day:
        return None
    elif day != "*":
        days = "-" + _joined(fields.dates())
    months = _joined(fields.months) if len(fields.months) < 12 else "*"
    return f"{names} *-{months}{days} {_joined(fields.hours)}:{_joined(fields.minutes)}:00".strip()


def _nth(weekday: str) -> tuple[str, str]:
    word, _, count = weekday.partition("#")
    if not count:
        return _names(weekdays_of(weekday.removesuffix("L"))), "~07/1"
    last = int(count) * 7
    return _names(weekdays_of(word)), f"-{last - 6}..{min(last, 31)}"


def _names(numbers: Sequence[int] | set[int]) -> str:
    return ",".join(DAYS[number] for number in numbers)


def _joined(numbers: frozenset[int] | set[int]) -> str:
    return ",".join(map(str, sorted(numbers)))


def systemd_slots(binary: str, text: str, zone: str, after: datetime, until: datetime, most: int) -> list[datetime]:
    """What systemd answers for an OnCalendar text in `(after, until]`, UTC: the first `most`. `after` is whole."""
    base = f"--base-time={after:%Y-%m-%d %H:%M:%S} UTC"
    # Both sides must read the same zone data, so that only their rules are compared.
    environ = {**os.environ, "TZ": "UTC", "LC_ALL": "C", "TZDIR": str(ZONE_FILES)}
    command = [binary, "calendar", f"--iterations={most}", base, f"{text} {zone}"]
    answer = subprocess.run(command, env=environ, capture_output=True, text=True, timeout=60, check=False)
    found = re.findall(r"(?:Next elapse|Iter\. #\d+): \w+ (\S+ \S+) UTC", answer.stdout)
    slots = [datetime.strptime(text, "%Y-%m-%d %H:%M:%S").replace(tzinfo=UTC) for text in found]
    return [slot for slot in slots if slot <= until]
