"""How fast slots are found, beside cronsim, croniter and APScheduler's CronTrigger: prints ratios, asserts nothing.

    python bench/slots.py

Goals: at least 10 times the slots per second of cronsim and 20 times those of the other two, with cronsim's answers; an
impossible date within a millisecond; the next slot of 100,000 jobs in a heap within 150 MiB.
"""

import heapq
import subprocess
import sys
import zoneinfo
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from importlib import import_module
from itertools import cycle, takewhile
from pathlib import Path
from random import Random
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from scheduler.clock import monotonic  # noqa: E402
from scheduler.jobs import Schedule  # noqa: E402
from scheduler.timelaw import NeverError, check_cron, next_slot, slots_between  # noqa: E402

Line = tuple[str, str]
Found = list[list[datetime]]
Finder = Callable[[str, str], list[datetime]]

# Thirty days in which the clocks of Europe and North America go forward and those of Chile and Australia back.
AFTER = datetime(2026, 3, 7, 12, tzinfo=UTC)
UNTIL = AFTER + timedelta(days=30)
ZONES = (
    "UTC", "Europe/Berlin", "Europe/London", "America/New_York", "America/Los_Angeles", "America/Sao_Paulo",
    "America/Santiago", "Asia/Jakarta", "Asia/Kolkata", "Asia/Tokyo", "Australia/Sydney", "Australia/Lord_Howe",
    "Africa/Cairo", "Pacific/Auckland",
)  # fmt: skip
JOBS, TURN, ALL_JOBS = 1000, 100, 100_000
IMPOSSIBLE = ("0 0 30 2 *", "0 0 31 4 *", "0 0 31 2,4,6,9,11 *", "* * 31 6 *")


def mixed(jobs: int) -> list[Line]:
    """Schedules and their zones in the proportions of a batch estate, shuffled; the same in each run."""
    random = Random(30)
    minute, hour = partial(random.randrange, 60), partial(random.randrange, 24)
    kinds: list[tuple[int, Callable[[], str]]] = [
        (5, lambda: "* * * * *"),
        (10, lambda: "*/5 * * * *"),
        (15, lambda: "*/15 * * * *"),
        (15, lambda: f"{minute()} * * * *"),
        (5, lambda: f"{minute()} */2 * * *"),
        (25, lambda: f"{minute()} {hour()} * * *"),
        (10, lambda: f"{minute()} {hour()} * * 1-5"),
        (6, lambda: f"{minute()} {hour()} * * {random.randrange(7)}"),
        (6, lambda: f"{minute()} {hour()} {random.randint(1, 28)} * *"),
        (3, lambda: f"{minute()} {hour()} 1,15 * MON"),
    ]
    texts = [kind() for share, kind in kinds for _ in range(jobs * share // 100)]
    random.shuffle(texts)
    return list(zip(texts, cycle(ZONES), strict=False))


def tepat(text: str, zone: str) -> list[datetime]:
    return slots_between(Schedule(cron=text, timezone=zone), AFTER, UNTIL)


def cronsim(text: str, zone: str) -> list[datetime]:
    from cronsim import CronSim

    found = CronSim(text, AFTER.astimezone(zoneinfo.ZoneInfo(zone)))
    return list(takewhile(lambda slot: slot <= UNTIL, (slot.astimezone(UTC) for slot in found)))


def croniter(text: str, zone: str) -> list[datetime]:
    found = import_module("croniter").croniter(text, AFTER.astimezone(zoneinfo.ZoneInfo(zone)), ret_type=datetime)
    return list(takewhile(lambda slot: slot <= UNTIL, (slot.astimezone(UTC) for slot in found)))


def apscheduler(text: str, zone: str) -> list[datetime]:
    from apscheduler.triggers.cron import CronTrigger

    return list(takewhile(lambda slot: slot <= UNTIL, _fired(CronTrigger.from_crontab(_named(text), zone))))


def _named(text: str) -> str:
    # APScheduler counts weekdays from Monday = 0: it is given names, so that it is asked the same question.
    *head, weekday = text.split()
    names = ("sun", "mon", "tue", "wed", "thu", "fri", "sat")
    return " ".join([*head, "".join(names[int(sign)] if sign.isdigit() else sign for sign in weekday)])


def _fired(trigger: Any) -> Iterator[datetime]:
    fired = trigger.get_next_fire_time(None, AFTER + timedelta.resolution)
    while True:
        yield fired.astimezone(UTC)
        fired = trigger.get_next_fire_time(fired, fired)


def measured(lines: list[Line]) -> dict[str, tuple[float, Found]]:
    """Seconds for all lines and what was found, by name. Each text is read for the first time; all take turns."""
    finders: dict[str, Finder] = {"tepat": tepat, "cronsim": cronsim, "croniter": croniter, "APScheduler": apscheduler}
    taken: dict[str, tuple[float, Found]] = {}
    for first in range(0, len(lines), TURN):
        for name, finder in list(finders.items()):
            seconds, found = taken.get(name, (0.0, []))
            began = monotonic()
            try:
                found += [finder(text, zone) for text, zone in lines[first : first + TURN]]
            except ImportError:
                print(f"{name:<12} not installed")
                del finders[name]
                continue
            taken[name] = (seconds + monotonic() - began, found)
    return taken


def compare(lines: list[Line]) -> None:
    aims = {"cronsim": "(aim: 10 x)", "croniter": "(aim: 20 x)", "APScheduler": "(aim: 20 x)"}
    taken = measured(lines)
    rates = {name: sum(map(len, found)) / seconds for name, (seconds, found) in taken.items()}
    print(f"{'':<12} {'slots':>9} {'seconds':>8} {'slots/s':>10}  {'tepat is':<21}beside cronsim's answers")
    for name, (seconds, found) in taken.items():
        count, ratio = sum(map(len, found)), f"{rates['tepat'] / rates[name]:.1f} x {aims.get(name, '')}"
        other = unlike(lines, found, taken["cronsim"][1])
        print(f"{name:<12} {count:>9,} {seconds:>8.2f} {rates[name]:>10,.0f}  {ratio:<21}{other}")
    print("Why answers differ from cronsim's stands in tests/timelaw/test_second_opinions.py.")


def unlike(lines: list[Line], found: Found, other: Found) -> str:
    """How many slots are found here and not there, the other way round, and in which zones."""
    pairs = [(zone, set(one), set(two)) for (_, zone), one, two in zip(lines, found, other, strict=True) if one != two]
    if not pairs:
        return "the same"
    more, fewer = sum(len(one - two) for _, one, two in pairs), sum(len(two - one) for _, one, two in pairs)
    zones = sorted({zone for zone, _, _ in pairs})
    where = ", ".join(zones) if len(zones) < 4 else f"{len(zones)} zones"
    return f"{more} more, {fewer} fewer, in {len(pairs)} schedules of {where}"


def impossible() -> None:
    """The longest of a few dates that never come; each is asked once, as nothing is known of it beforehand."""
    taken = []
    for text in IMPOSSIBLE:
        began = monotonic()
        try:
            check_cron(text)
        except NeverError:
            taken.append(monotonic() - began)
    print(f"{'an impossible date':<32} {max(taken) * 1000:>8.3f} ms    (aim: 1 ms), the longest of {len(taken)}")


def heap() -> None:
    """The next slot of many jobs, each with its own schedule, in a heap: run in a process of its own."""
    lines = mixed(ALL_JOBS)
    before, began = resident(), monotonic()
    due = []
    for number, (text, zone) in enumerate(lines):
        schedule = Schedule(cron=text, timezone=zone)
        due.append((next_slot(schedule, AFTER), f"job-{number}", schedule))
    heapq.heapify(due)
    taken, grown = monotonic() - began, resident() - before
    print(f"{f'the next slot of {len(due):,} jobs':<32} {grown / 2**20:>8.1f} MiB   (aim: 150 MiB), in {taken:.1f} s")


def resident() -> int:
    """The bytes of memory that this process holds."""
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * 4096


def main() -> None:
    if "heap" in sys.argv:
        heap()
        return
    compare(mixed(JOBS))
    impossible()
    subprocess.run((sys.executable, __file__, "heap"), check=True)


if __name__ == "__main__":
    main()
