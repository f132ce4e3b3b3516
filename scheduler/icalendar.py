"""Slots as an iCalendar text (RFC 5545), for the calendars that people look at. Pure: the same slots, the same bytes.

A slot is a VEVENT that blocks nobody's day. Nothing here depends on when it was written: DTSTAMP is
the slot itself, and UID is its key, so that a calendar that imports the text again changes events and doubles none.
"""

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta

from scheduler.instants import format_instant
from scheduler.jobs import Job
from scheduler.timelaw import jitter_of

MAX_EVENTS = 10_000
"""More would make a file that calendar programs choke on."""
MAX_OCTETS = 75
"""Of a line without its end; longer ones are folded, as the RFC asks."""
SHORTEST = timedelta(minutes=5)
"""How long an event looks at least: calendars draw nothing for one without length."""


class CalendarTextError(ValueError):
    """Slots that make no iCalendar text. Its text is `what is wrong; what to do`."""


def calendar_text(job: Job, slots: Sequence[datetime], skipped: Mapping[datetime, str]) -> str:
    """The owed `slots` and the `skipped` ones (with the reason) of a job as a VCALENDAR, ascending, with CRLF ends.

    Raises CalendarTextError for more than MAX_EVENTS, and for none: the RFC wants at least one component.
    """
    count = len(slots) + len(skipped)
    if count > MAX_EVENTS:
        raise CalendarTextError(f"{count} slots are more than a calendar holds ({MAX_EVENTS}); ask for a shorter range")
    if not count:
        raise CalendarTextError("there are no slots in that range, and a calendar needs one; ask for a longer range")
    lines = ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//Tepat//Slots//EN", "CALSCALE:GREGORIAN"]
    for slot in sorted({*slots, *skipped}):
        lines += _event(job, slot, skipped.get(slot))
    return "".join(f"{folded}\r\n" for line in [*lines, "END:VCALENDAR"] for folded in _folded(line))


def _event(job: Job, slot: datetime, skipped: str | None) -> list[str]:
    summary = job.id if skipped is None else f"{job.id} (skipped: {skipped})"
    about = _about(job, "" if skipped else _delayed(job, slot))
    end = slot + max(job.on_time.complete_within or SHORTEST, SHORTEST)
    return [
        "BEGIN:VEVENT",
        f"UID:{_escaped(f'{job.id}@{format_instant(slot)}@tepat')}",
        f"DTSTAMP:{_moment(slot)}",
        f"DTSTART:{_moment(slot)}",
        f"DTEND:{_moment(end)}",
        f"SUMMARY:{_escaped(summary)}",
        *([f"DESCRIPTION:{_escaped(about)}"] if about else []),
        f"STATUS:{'CONFIRMED' if skipped is None else 'CANCELLED'}",
        "TRANSP:TRANSPARENT",
        "END:VEVENT",
    ]


def _about(job: Job, starts: str) -> str:
    facts = (("Owner", job.owner), ("Impact", job.impact), ("Runbook", job.runbook), ("Starts", starts))
    told = [f"{title}: {text}" for title, text in facts if text]
    return "\n".join([*([job.description] if job.description else []), *told])


def _delayed(job: Job, slot: datetime) -> str:
    """When a run starts that its jitter delays; of jobs that others run, nobody knows."""
    delay = jitter_of(job.id, job.schedule, slot) if job.schedule is not None and job.run is not None else None
    return f"{format_instant((slot + delay).replace(microsecond=0))} (slot and jitter)" if delay else ""


def _moment(value: datetime) -> str:
    # iCalendar knows whole seconds only; the UID keeps the fraction, so that no two events become one.
    return f"{value.astimezone(UTC):%Y%m%dT%H%M%SZ}"


def _escaped(text: str) -> str:
    """A TEXT value: four characters escaped, every kind of line end one newline, other control characters left out."""
    lines = "\n".join(text.splitlines())
    plain = "".join(char for char in lines if char in "\n\t" or not _is_control(char))
    return plain.replace("\\", "\\\\").replace(";", "\\;").replace(",", "\\,").replace("\n", "\\n")


def _is_control(char: str) -> bool:
    return ord(char) < 32 or 127 <= ord(char) < 160


def _folded(line: str) -> Iterator[str]:
    """Pieces of at most MAX_OCTETS octets, each after the first with the space that marks it; no character is cut."""
    piece, size = "", 0
    for char in line:
        width = len(char.encode())
        if size + width > MAX_OCTETS:
            yield piece
            piece, size = " ", 1
        piece += char
        size += width
    yield piece
