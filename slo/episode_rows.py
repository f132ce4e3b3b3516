"""Episodes and notices as rows, in the caller's transaction. Decides nothing and sends nothing."""

import hashlib
from collections.abc import Iterable
from typing import Any

import msgspec
from sqlalchemy import Connection

from scheduler.instants import to_micros
from slo.alerts import Episode
from slo.notices import Notice, to_json

_EPISODE = (
    "INSERT INTO episodes (id, slo, severity, started_at, resolved_at, reason, state) VALUES (?, ?, ?, ?, ?, ?, ?)"
    " ON CONFLICT (id) DO UPDATE SET resolved_at = excluded.resolved_at, reason = excluded.reason,"
    " state = excluded.state"
)
_NOTICE = "INSERT OR IGNORE INTO notices (id, episode, at, status, body) VALUES (?, ?, ?, ?, ?)"
_decoder = msgspec.json.Decoder(Episode)


def episode_id(episode: Episode) -> str:
    """An id that fits into a path: the key holds a slash."""
    return hashlib.sha256(episode.key.encode()).hexdigest()[:20]


def put_episode(connection: Connection, episode: Episode) -> None:
    """Writes an episode as it now stands."""
    resolved = None if episode.resolved_at is None else to_micros(episode.resolved_at)
    head = (episode_id(episode), episode.slo, episode.severity, to_micros(episode.started_at), resolved)
    connection.exec_driver_sql(_EPISODE, (*head, episode.reason, msgspec.json.encode(episode)))


def put_notice(connection: Connection, notice: Notice) -> None:
    """Writes a notice that is owed; one of the same id stays as it is."""
    row = (notice.id, notice.episode, to_micros(notice.at), notice.status, to_json(notice))
    connection.exec_driver_sql(_NOTICE, row)


def open_episodes(connection: Connection) -> list[Episode]:
    """The episodes that fire."""
    return _episodes(connection.exec_driver_sql("SELECT state FROM episodes WHERE resolved_at IS NULL"))


def newest_episodes(connection: Connection, limit: int) -> list[Episode]:
    """The episodes, those that fire first, then the newest."""
    query = "SELECT state FROM episodes ORDER BY resolved_at IS NOT NULL, started_at DESC, slo, severity LIMIT ?"
    return _episodes(connection.exec_driver_sql(query, (limit,)))


def notices_of(connection: Connection, episodes: Iterable[str]) -> list[tuple[str, str, int, str]]:
    """(id, episode, at in microseconds, status) of the notices of episodes, by their keys, oldest first."""
    names = msgspec.json.encode(list(episodes)).decode()
    query = (
        "SELECT id, episode, at, status FROM notices WHERE episode IN (SELECT value FROM json_each(?)) ORDER BY at, id"
    )
    return [(row[0], row[1], row[2], row[3]) for row in connection.exec_driver_sql(query, (names,))]


def _episodes(found: Iterable[Any]) -> list[Episode]:
    return [_decoder.decode(row[0]) for row in found]
