"""Which slots are owed so far, and each one's verdict, in memory. Decides nothing: `verdicts.judge` does.

Reads definitions and time, never a scheduler's word: a dead scheduler's slots are here all the same. Pure.
"""

import heapq
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from collector.book import SlotKey
from collector.facts import Gap, Run, Verdict
from collector.verdicts import Slot, judge, moves_at, slot_of
from scheduler.registry import JobVersion
from scheduler.timelaw import slots_between

# A long absence is caught up with piece by piece, so that no single commit grows past what a second can hold.
MAX_SLOTS_A_LOOK = 20_000
_STRIDE = timedelta(hours=6)
_TICK = timedelta(microseconds=1)
OPEN = frozenset({"pending", "unknown"})
Claimants = Callable[[SlotKey], list[Run]]


@dataclass(frozen=True, slots=True)
class Judged:
    """A slot with its limits, the verdict it has now, and the one before (None: it had none)."""

    slot: Slot
    verdict: Verdict
    before: Verdict | None = None


class Desk:
    """All owed slots since `marks`: by job, the instant up to which its slots are known."""

    def __init__(self, born: datetime) -> None:
        self._born = born
        self.judged: dict[SlotKey, Judged] = {}
        self.marks: dict[str, datetime] = {}
        self._due: dict[str, list[datetime]] = {}
        self._versions: Mapping[str, Sequence[JobVersion]] = {}
        self._moves: list[tuple[datetime, SlotKey]] = []

    def set_versions(self, history: Iterable[JobVersion]) -> None:
        """Takes every version of every job; slots that are known already stay as they were judged."""
        versions: dict[str, list[JobVersion]] = {}
        for version in history:
            versions.setdefault(version.job.id, []).append(version)
        self._versions = versions

    def restore(self, judged: Judged, gaps: Sequence[Gap], now: datetime) -> None:
        """Takes a slot back in as it was kept; a job's slots must come in ascending order."""
        key = (judged.slot.job, judged.slot.at)
        self.judged[key] = judged
        if judged.slot.skipped is None:
            self._due.setdefault(key[0], []).append(key[1])
        self._plan(key, judged, gaps, now)

    def owe(self, now: datetime) -> list[Slot]:
        """The slots that have come due up to `now` and were not known yet; at most about MAX_SLOTS_A_LOOK of them."""
        found: list[Slot] = []
        for job in self._versions:
            for slots in self._owed(job, now):
                found += slots
                if len(found) >= MAX_SLOTS_A_LOOK:
                    return found
        return found

    def moving(self, now: datetime) -> set[SlotKey]:
        """The slots whose verdict time alone may change by `now`; each is named once for each such instant."""
        keys: set[SlotKey] = set()
        while self._moves and self._moves[0][0] <= now:
            keys.add(heapq.heappop(self._moves)[1])
        return keys

    def judge(
        self, slots: Iterable[Slot], claimants: Claimants, gaps: Sequence[Gap], now: datetime
    ) -> Iterator[Judged]:
        """Judges slots and yields those whose verdict is another than before."""
        for slot in slots:
            key = (slot.job, slot.at)
            before = self.judged.get(key)
            found = Judged(slot, judge(slot, claimants(key), gaps, now), None if before is None else before.verdict)
            self._plan(key, found, gaps, now)
            if found.before != found.verdict:
                self.judged[key] = found
                yield found

    def known(self, keys: Iterable[SlotKey]) -> list[Slot]:
        """Those of the keys that are owed slots; a run for any other instant is an extra run."""
        return [self.judged[key].slot for key in keys if key in self.judged]

    def touched_by(self, gap: Gap) -> list[Slot]:
        """The slots that a blind time may reach."""
        return [
            each.slot
            for (job, at), each in self.judged.items()
            if gap.job in (None, job) and at - each.slot.early < gap.until and gap.since <= _last_limit(each.slot)
        ]

    def newest_due(self, job: str, now: datetime) -> datetime | None:
        """The job's latest slot at or before `now`, of those that its definition does not excuse."""
        due = self._due.get(job, [])
        index = bisect_right(due, now)
        return due[index - 1] if index else None

    def _owed(self, job: str, now: datetime) -> Iterator[list[Slot]]:
        versions = self._versions[job]
        mark = self.marks.get(job, max(self._born, versions[0].valid_from - _TICK))
        while mark < now:
            until = min(now, mark + _STRIDE)
            slots = [slot for version in versions for slot in _slots(version, mark, until)]
            self.marks[job] = mark = until
            self._due.setdefault(job, []).extend(slot.at for slot in slots if slot.skipped is None)
            yield slots

    def _plan(self, key: SlotKey, judged: Judged, gaps: Sequence[Gap], now: datetime) -> None:
        if judged.verdict.kind in OPEN:
            for at in moves_at(judged.slot, gaps):
                if at > now:
                    heapq.heappush(self._moves, (at, key))


def _slots(version: JobVersion, after: datetime, until: datetime) -> list[Slot]:
    """The slots that a version owes in `(after, until]`: it holds in [valid_from, valid_until)."""
    if version.job.schedule is None:
        return []
    start = max(after, version.valid_from - _TICK)
    end = until if version.valid_until is None else min(until, version.valid_until - _TICK)
    if end <= start:
        return []
    return [slot_of(version.job, at) for at in slots_between(version.job.schedule, start, end)]


def _last_limit(slot: Slot) -> datetime:
    return max(slot.limit, slot.complete_limit or slot.limit)
