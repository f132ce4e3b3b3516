"""The live judge: what the ledger's commits and time change, as episodes and notices in the same transaction.

It decides nothing: `board.Board` does, by the same lines as in a backtest. A notice is a row before it is a message.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from datetime import datetime
from threading import Lock
from typing import Any

from sqlalchemy import Connection

from collector.facts import Run, Verdict
from collector.store import Present
from slo.alerts import Episode, Owed
from slo.board import Board, Ruling
from slo.episode_rows import open_episodes, put_episode, put_notice
from slo.notices import Notice
from slo.objectives import Objective
from slo.outbox_receipts import told
from slo.outbox_rows import enqueue
from slo.telling import notice_of, objective_item, plain_notice


class SloEngine:
    """Holds the board. Called by the writer's thread alone, but `reports` may be asked from any thread."""

    def __init__(self, objectives: Sequence[Objective], wake: Callable[[], None]) -> None:
        self._objectives = objectives
        self._wake = wake
        self._lock = Lock()
        self._present: Present | None = None
        self._board: Board | None = None
        self._touched: set[str] = set()
        self._orphans: list[Episode] = []
        self._owed = False

    def reset(self, connection: Connection, present: Present, at: datetime) -> None:
        """Begins anew from everything that is known: verdicts and runs from memory, open episodes from their rows."""
        board = Board(self._objectives, present.current, present.desk.newest_due, None)
        for judged in present.desk.judged.values():
            board.verdict_changed(judged.verdict)
        for key, run in present.book.runs.items():
            board.run_changed(key, run, run.job, at)
        orphans = []
        for episode in open_episodes(connection):
            standing = board.standings.get(episode.slo)
            if standing is None:
                orphans.append(episode)
            else:
                standing.episodes[episode.severity] = episode
        with self._lock:
            self._present, self._board, self._orphans = present, board, orphans
            self._touched = set(board.standings)

    def verdict_changed(self, verdict: Verdict) -> None:
        """Takes a slot's new verdict."""
        with self._lock:
            self._touched |= self._known().verdict_changed(verdict)

    def run_changed(self, key: str, run: Run | None, job: str, at: datetime) -> None:
        """Takes a run as it now is; None says that it is no run any more."""
        with self._lock:
            self._touched |= self._known().run_changed(key, run, job, at)

    def waits(self) -> bool:
        """Whether something was touched that has not been judged yet."""
        return bool(self._touched)

    def judge(self, connection: Connection, at: datetime, *, everything: bool) -> None:
        """Writes the episodes and notices that the touched objectives (or all) owe at `at`; they go to the outbox."""
        with self._lock:
            rulings = self._known().judge(at, None if everything else sorted(self._touched))
            self._touched = set()
            for ruling in rulings:
                self._record(connection, ruling, at)
            for orphan in self._orphans:
                self._end_orphan(connection, orphan, at)
            self._orphans = []

    def committed(self) -> None:
        """Tells delivery that something is owed now."""
        if self._owed:
            self._owed = False
            self._wake()

    def reports(self, at: datetime) -> list[dict[str, Any]]:
        """Every objective as it stands at `at`, in the shape of the API; empty before the ledger has read itself."""
        with self._lock:
            board = self._board
            if board is None:
                return []
            found = board.standings.items()
            return [objective_item(standing, board.report(name, at), at) for name, standing in found]

    def _known(self) -> Board:
        assert self._board is not None, "the ledger resets its judge before it tells of any change"
        return self._board

    def _record(self, connection: Connection, ruling: Ruling, at: datetime) -> None:
        put_episode(connection, ruling.episode)
        board = self._known()
        standing = board.standings[ruling.episode.slo]
        jobs = self._present.jobs if self._present is not None else {}
        for owed in ruling.owed:
            report = board.report(ruling.episode.slo, at)
            notice = notice_of(ruling.episode, owed, standing, report, jobs)
            self._owe(connection, notice, standing.objective.notify, at)

    def _owe(self, connection: Connection, notice: Notice, channels: Iterable[str], at: datetime) -> None:
        put_notice(connection, notice)
        if notice.status == "resolved":
            # Only those who heard that it fires are told that it is over, whoever the files name by now.
            channels = sorted(told(connection, notice.episode))
        enqueue(connection, [(notice, tuple(channels))], at)
        self._owed = True

    def _end_orphan(self, connection: Connection, episode: Episode, at: datetime) -> None:
        """An episode whose objective stands in no file any more ends; those who were told hear of it."""
        over = replace(episode, resolved_at=at, reason="objective_removed")
        put_episode(connection, over)
        if episode.told:
            owed = Owed(id=f"{episode.key}/resolved", at=at, status="resolved")
            self._owe(connection, plain_notice(over, owed), (), at)
