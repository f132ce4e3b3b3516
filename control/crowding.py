"""How collisions look on a screen and as JSON. Words and columns alone: `scheduler.collisions` counts."""

from typing import Any

from scheduler.collisions import MINUTES_OF_DAY, MINUTES_OF_HOUR, Collisions, Room
from scheduler.instants import format_instant

SHOWN_JOBS = 5
SHOWN_ROOMS = 3


def crowding_table(found: Collisions) -> str:
    """The fullest minutes with their jobs and queues, then where there is room."""
    if not found.starts:
        return "Nothing starts in that range."
    if not found.crowds:
        lines = ["No two jobs start in the same minute."]
    else:
        lines = [f"{'minute (UTC)':<20}  {'jobs':>6}  which (by queue)"]
        for crowd in found.crowds:
            queues = ", ".join(f"{queue} {count}" for queue, count in crowd.queues[:SHOWN_JOBS])
            lines.append(f"{format_instant(crowd.minute):<20}  {len(crowd.jobs):>6}  {_some(crowd.jobs)} ({queues})")
    return "\n".join([*lines, *_rooms("hour", found.hour, MINUTES_OF_HOUR), *_rooms("day", found.day, MINUTES_OF_DAY)])


def crowding_json(found: Collisions) -> dict[str, Any]:
    """The same as values. Minutes are UTC; a room's `from` and `to` are minutes of the hour, or times of the day."""
    return {
        "starts": found.starts,
        "collisions": [
            {
                "minute": format_instant(crowd.minute),
                "count": len(crowd.jobs),
                "jobs": list(crowd.jobs),
                "queues": dict(crowd.queues),
            }
            for crowd in found.crowds
        ],
        "room": {
            "hour": [_room(room, MINUTES_OF_HOUR) for room in found.hour],
            "day": [_room(room, MINUTES_OF_DAY) for room in found.day],
        },
    }


def _room(room: Room, cycle: int) -> dict[str, Any]:
    return {
        "from": _minute(room.first, cycle),
        "to": _minute(room.first + room.minutes - 1, cycle),
        "minutes": room.minutes,
        "starts": room.starts,
        "suggestion": _minute(room.middle, cycle),
    }


def _minute(number: int, cycle: int) -> str:
    number %= cycle
    return f"{number // 60:02}:{number % 60:02}" if cycle == MINUTES_OF_DAY else f"{number:02}"


def _rooms(title: str, rooms: tuple[Room, ...], cycle: int) -> list[str]:
    """One line: the widest stretches with the fewest starts, and the minute in the middle of the first."""
    if not rooms:
        return []
    told = [_stretch(room, cycle) for room in rooms[:SHOWN_ROOMS]]
    zone = " (UTC)" if cycle == MINUTES_OF_DAY else ""
    return [f"room in the {title}{zone}: {', '.join(told)}; try {_minute(rooms[0].middle, cycle)}"]


def _stretch(room: Room, cycle: int) -> str:
    first, last = _minute(room.first, cycle), _minute(room.first + room.minutes - 1, cycle)
    span = first if room.minutes == 1 else f"{first}-{last}"
    return f"{span} ({room.starts} starts)"


def _some(jobs: tuple[str, ...]) -> str:
    more = len(jobs) - SHOWN_JOBS
    return ", ".join(jobs[:SHOWN_JOBS]) + (f" and {more} more" if more > 0 else "")
