"""The live ledger: journal, runs, slots and verdicts, in one transaction each, with the book of the present in memory.

What is in memory is worked out from the journal by the same lines as in a backtest; after a failed transaction, and
once a day, it is thrown away and worked out again. Only the writer's thread may call this.
"""

import heapq
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta
from typing import Protocol

from sqlalchemy import Connection, Engine

from collector import rows
from collector.book import Book, Touched
from collector.facts import Run, Verdict
from collector.journal import append, events_of_runs, events_since
from collector.rollup_rows import count_runs, count_slots
from collector.slots import Desk
from collector.summary import overdue_at
from collector.verdicts import Slot
from collector.watchdog import Pulse
from scheduler.database import write
from scheduler.events import RunEvent
from scheduler.jobs import Job
from scheduler.registry import JobVersion

# How far back runs and slots stay in memory at least; a longer objective window needs more (its user says so).
KEEP = timedelta(days=31)
_TICK = timedelta(microseconds=1)
FINAL = frozenset({"succeeded", "failed", "cancelled", "dead_lettered"})


class Judge(Protocol):
    """Who is told what changed, and judges it: each call inside the writer's thread, `judge` inside a transaction."""

    def reset(self, connection: Connection, present: "Present", at: datetime) -> None:
        """Everything is known anew."""

    def verdict_changed(self, verdict: Verdict) -> None:
        """A slot has another verdict."""

    def run_changed(self, key: str, run: Run | None, job: str, at: datetime) -> None:
        """A run is another than before; None: it is no run any more."""

    def waits(self) -> bool:
        """Whether `judge` has something to do before the next tick."""

    def judge(self, connection: Connection, at: datetime, *, everything: bool) -> None:
        """Judge what was touched, or everything, and write what follows."""

    def committed(self) -> None:
        """What `judge` wrote is durable."""


@dataclass(slots=True)
class Present:
    """What is known now, in memory. `jobs` is each job's newest version, `current` those that still stand."""

    jobs: dict[str, Job]
    current: dict[str, Job]
    book: Book
    desk: Desk
    day: date
    outcomes: dict[str, str | None] = field(default_factory=dict)
    overdue: list[tuple[datetime, str]] = field(default_factory=list)


History = Callable[[], Sequence[JobVersion] | None]
Ended = Callable[[Run, Job | None], None]


class Ledger:
    """The writer's keeper. `history` answers every job version, or None when nothing changed since last asked."""

    def __init__(self, engine: Engine, history: History, judge: Judge, ended: Ended, keep: timedelta = KEEP) -> None:
        self._engine = engine
        self._history = history
        self._judge = judge
        self._ended = ended
        self._keep = keep
        self._versions: Sequence[JobVersion] = ()
        self._present: Present | None = None
        self._pulse = Pulse()
        self._just_ended: list[Run] = []

    def take(self, connection: Connection, events: Sequence[RunEvent], at: datetime) -> Sequence[bool]:
        """Journals events and works in what is new of them; answers per event whether it was."""
        present = self._ready(connection, at)
        self._bring_back(present, connection, events)
        appended = append(connection, events, at)
        touched = Touched()
        if appended.withdrawn:
            present = self._reload(connection, at)
            touched.runs.update(present.book.runs)
            touched.slots.update(present.desk.judged)
        for event in () if appended.withdrawn else appended.events:
            present.book.take(event, touched)
        self._settle(present, connection, touched, at)
        return appended.fresh

    def judge(self, at: datetime, *, everything: bool) -> None:
        """Judges what the last commits touched; with `everything` also what time alone has changed."""
        if everything:
            with write(self._engine) as connection:
                self._tick(connection, at)
                self._judge.judge(connection, at, everything=True)
        elif self._judge.waits():
            with write(self._engine) as connection:
                self._judge.judge(connection, at, everything=False)
        self._judge.committed()
        self._tell_ended()

    def abandoned(self) -> None:
        """A transaction was undone: what is in memory may be ahead of it, so it is worked out anew at the next call."""
        self._present = None
        self._pulse = Pulse()
        self._just_ended.clear()

    def _ready(self, connection: Connection, at: datetime) -> Present:
        if self._present is not None and self._present.day == at.date():
            return self._present
        return self._reload(connection, at)

    def _reload(self, connection: Connection, at: datetime) -> Present:
        changed = self._history()
        self._versions = self._versions if changed is None else changed
        jobs = newest(self._versions)
        since = at - self._keep
        present = Present(jobs, standing(self._versions, at), Book(jobs), Desk(rows.born(connection, at)), at.date())
        present.desk.set_versions(self._versions)
        for event in events_since(connection, since):
            present.book.take(event, Touched())
        present.desk.marks.update(rows.slot_marks(connection))
        for judged in rows.slots_since(connection, since):
            present.desk.restore(judged, present.book.gaps, at - _TICK)
        for key, run in present.book.runs.items():
            self._note(present, key, run)
        self._present = present
        self._judge.reset(connection, present, at)
        return present

    def _bring_back(self, present: Present, connection: Connection, events: Iterable[RunEvent]) -> None:
        """A late word about a run that is no longer in memory: without its other events it would be folded wrongly."""
        unknown = {event.run for event in events if event.run is not None and event.run not in present.book.runs}
        if unknown:
            for found in events_of_runs(connection, unknown).values():
                for event in found:
                    present.book.take(event, Touched())

    def _tick(self, connection: Connection, at: datetime) -> None:
        present = self._ready(connection, at)
        changed = self._history()
        if changed is not None:
            self._adopt(connection, present, changed, at)
        blind = self._pulse.beat(connection, at)
        if blind is not None:
            self.take(connection, [blind], at)
            present = self._ready(connection, at)
        self._write_slots(present, connection, present.desk.owe(at), at)
        self._write_slots(present, connection, present.desk.known(present.desk.moving(at)), at)
        while present.overdue and present.overdue[0][0] < at:
            self._tell_run(present, heapq.heappop(present.overdue)[1], at)

    def _adopt(self, connection: Connection, present: Present, versions: Sequence[JobVersion], at: datetime) -> None:
        self._versions = versions
        present.jobs.clear()
        present.jobs.update(newest(versions))
        present.current = standing(versions, at)
        present.desk.set_versions(versions)
        self._judge.reset(connection, present, at)

    def _settle(self, present: Present, connection: Connection, touched: Touched, at: datetime) -> None:
        slots = present.desk.known(touched.slots)
        if touched.gap:
            slots += [slot for gap in present.book.gaps for slot in present.desk.touched_by(gap)]
        self._write_slots(present, connection, slots, at)
        runs = {key: present.book.runs.get(key) for key in touched.runs}
        count_runs(connection, runs)
        rows.put_runs(connection, runs)
        for key, run in sorted(runs.items(), key=lambda item: item[0]):
            self._tell_run(present, key, at)
            if run is not None and run.outcome in FINAL and present.outcomes.get(key) not in FINAL:
                self._just_ended.append(run)
            self._note(present, key, run)

    def _write_slots(self, present: Present, connection: Connection, slots: Iterable[Slot], at: datetime) -> None:
        judged = list(present.desk.judge(slots, present.book.claimants, present.book.gaps, at))
        count_slots(connection, ((each.before, each.verdict) for each in judged))
        rows.put_slots(connection, judged)
        for each in judged:
            self._judge.verdict_changed(each.verdict)

    def _tell_run(self, present: Present, key: str, at: datetime) -> None:
        run = present.book.runs.get(key)
        # A run that is no run any more was one without an id: its key begins with its job's name.
        self._judge.run_changed(key, run, key.split("~")[0] if run is None else run.job, at)

    def _note(self, present: Present, key: str, run: Run | None) -> None:
        if run is None:
            present.outcomes.pop(key, None)
            return
        present.outcomes[key] = run.outcome
        deadline = overdue_at(run, present.jobs.get(run.job)) if run.outcome == "running" else None
        if deadline is not None:
            heapq.heappush(present.overdue, (deadline, key))

    def _tell_ended(self) -> None:
        ended, self._just_ended = self._just_ended, []
        for run in ended:
            self._ended(run, self._present.jobs.get(run.job) if self._present is not None else None)


def newest(versions: Iterable[JobVersion]) -> dict[str, Job]:
    """Each job as its newest version has it, removed ones too."""
    return {version.job.id: version.job for version in versions}


def standing(versions: Iterable[JobVersion], at: datetime) -> dict[str, Job]:
    """The jobs that still stand at `at`: removed ones are not among them."""
    return {v.job.id: v.job for v in versions if v.valid_until is None or v.valid_until > at}
