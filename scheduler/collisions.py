"""When do most jobs start at once, and where is there room? Counts starts by the minute. Pure, and bounded.

A start is a slot that a run is owed for, plus its own jitter. Of jobs that others run, nobody knows what jitter they
drew: their slots are counted as they stand.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from scheduler.instants import EPOCH
from scheduler.jobs import Job
from scheduler.timelaw import jitter_bound, jitter_of, skipped_by, slots_between

MAX_STARTS = 1_000_000
"""Slots looked at, of all jobs together; past it the question is refused."""
MINUTES_OF_HOUR, MINUTES_OF_DAY = 60, 1440
_MINUTE = timedelta(minutes=1)
_STRIDE = timedelta(days=1)
_NOTHING = timedelta(0)


class TooManyStartsError(ValueError):
    """More slots in the range than MAX_STARTS. Its text says what to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Crowd:
    """A UTC minute in which several jobs start. `queues` counts the jobs by queue, the fullest first."""

    minute: datetime
    jobs: tuple[str, ...]
    queues: tuple[tuple[str, int], ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """A stretch of minutes of an hour or of a day, each with the fewest starts: `first` counts from 0.

    It may run past the end of the hour or day and on from its beginning. `starts` counts what begins in the stretch
    over the whole hours or days of the range.
    """

    first: int
    minutes: int
    starts: int

    @property
    def middle(self) -> int:
        """A minute with the same distance to both edges; it may lie past the end of the hour or day, as the stretch."""
        return self.first + (self.minutes - 1) // 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Collisions:
    """The fullest minutes, the fullest first, and the widest room in an hour and in a UTC day, the widest first."""

    starts: int
    crowds: tuple[Crowd, ...]
    hour: tuple[Room, ...]
    day: tuple[Room, ...]


def collisions(
    jobs: Sequence[Job], after: datetime, until: datetime, *, only: str | None = None, top: int = 10
) -> Collisions:
    """What starts in `(after, until]`, by the minute. `only`: the minutes in which that job starts, with who else does.

    Answers at most `top` crowds, and `top` rooms of each kind. Raises TooManyStartsError.
    """
    by_minute = _by_minute(jobs, after, until)
    counts = {minute: len(names) for minute, names in by_minute.items()}
    # The minutes that begin in the range: those are what "empty" can be said of.
    span = range((after - EPOCH) // _MINUTE + 1, (until - EPOCH) // _MINUTE + 1)
    return Collisions(
        starts=sum(counts.values()),
        crowds=tuple(_crowds(by_minute, {job.id: job.queue for job in jobs}, only, top)),
        hour=tuple(_rooms(counts, span, MINUTES_OF_HOUR)[:top]),
        day=tuple(_rooms(counts, span, MINUTES_OF_DAY)[:top]),
    )


def _by_minute(jobs: Iterable[Job], after: datetime, until: datetime) -> dict[int, list[str]]:
    """The jobs that start in each minute since EPOCH, a job once for each of its starts."""
    found: dict[int, list[str]] = defaultdict(list)
    looked = 0
    for job in jobs:
        for slots in _slots(job, after, until):
            looked += len(slots)
            if looked > MAX_STARTS:
                raise TooManyStartsError(f"more than {MAX_STARTS} slots lie in that range; ask for a shorter one")
            for start in _starts(job, slots):
                if after < start <= until:
                    found[(start - EPOCH) // _MINUTE].append(job.id)
    return found


def _slots(job: Job, after: datetime, until: datetime) -> Iterator[list[datetime]]:
    """In pieces of a day, so that a wrong year is refused before it fills the memory."""
    if job.schedule is None or not job.enabled:
        return
    # A slot before the range may start inside it, by its jitter.
    at = after - (jitter_bound(job.schedule) if job.run is not None else _NOTHING)
    while at < until:
        end = min(at + _STRIDE, until)
        yield slots_between(job.schedule, at, end)
        at = end


def _starts(job: Job, slots: Iterable[datetime]) -> Iterator[datetime]:
    assert job.schedule is not None
    own = job.run is not None
    for slot in slots:
        if skipped_by(job, slot) is None:
            yield slot + jitter_of(job.id, job.schedule, slot) if own else slot


def _crowds(
    by_minute: Mapping[int, Sequence[str]], queues: Mapping[str, str], only: str | None, top: int
) -> Iterator[Crowd]:
    """The fullest first, of equals the earliest. One job that starts twice in a minute is no crowd."""
    shared = [(minute, set(names)) for minute, names in by_minute.items() if len(names) > 1]
    crowds = [(minute, names) for minute, names in shared if len(names) > 1 and (only is None or only in names)]
    crowds.sort(key=lambda crowd: (-len(crowd[1]), crowd[0]))
    for minute, names in crowds[:top]:
        fullest = sorted(Counter(queues[name] for name in names).items(), key=lambda item: (-item[1], item[0]))
        yield Crowd(minute=EPOCH + minute * _MINUTE, jobs=tuple(sorted(names)), queues=tuple(fullest))


def _rooms(counts: Mapping[int, int], span: range, cycle: int) -> list[Room]:
    """Where an hour or a day has the fewest starts; minutes that the range does not hold are no room.

    Only whole hours or days of the range count, if it has one: else some minutes would be counted more often.
    """
    whole = span[: len(span) // cycle * cycle or None]
    starts = [0] * cycle
    for minute, count in counts.items():
        starts[minute % cycle] += count if minute in whole else 0
    held = {minute % cycle for minute in whole[:cycle]}
    if not held:
        return []
    least = min(starts[minute] for minute in held)
    free = [minute in held and starts[minute] == least for minute in range(cycle)]
    found = [Room(first=first, minutes=length, starts=least * length) for first, length in _stretches(free)]
    return sorted(found, key=lambda room: (-room.minutes, room.first))


def _stretches(free: Sequence[bool]) -> Iterator[tuple[int, int]]:
    """Each longest run of True in a ring: where it begins, and its length."""
    if all(free):
        yield 0, len(free)
        return
    for first, is_free in enumerate(free):
        if is_free and not free[first - 1]:
            yield first, next(step for step in range(len(free)) if not free[(first + step) % len(free)])
