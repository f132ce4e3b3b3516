"""`H` in a cron text: a number that is a fixed function of the job, so that jobs spread and yet stay. Pure."""

import hashlib
import re
from collections.abc import Iterator

from scheduler.cron_fields import DAY, HOUR, MINUTE, MONTH, WEEKDAY, Field, ScheduleError

_H = re.compile(r"H(?:\((\d{1,2})-(\d{1,2})\))?(?:/(\d{1,4}))?")
# Days only up to 28, so that every month has one; weekdays without the second Sunday.
_HIGHEST = {DAY: 28, WEEKDAY: 6}


def spread(text: str, job_id: str) -> str:
    """`H`, `H/15`, `H(0-29)` and `H(0-29)/10` replaced by numbers that are a fixed function of job and field.

    The text itself where no field has an `H`. Raises ScheduleError for an `H` that can't be read.
    """
    fields = text.split()
    if len(fields) != 5 or not any(_hashed(word) for word in fields):
        return text
    return " ".join(_fields(fields, job_id))


def _fields(fields: list[str], job_id: str) -> Iterator[str]:
    for place, word in zip((MINUTE, HOUR, DAY, MONTH, WEEKDAY), fields, strict=True):
        yield ",".join(_term(place, term.upper(), job_id) for term in word.split(",")) if _hashed(word) else word


def _hashed(word: str) -> bool:
    # Names like THU hold an H too, but never first.
    return any(term[:1] in ("H", "h") for term in word.split(","))


def _term(place: Field, term: str, job_id: str) -> str:
    if not term.startswith("H"):
        return term
    match = _H.fullmatch(term)
    if match is None:
        raise ScheduleError(f"{term!r} is not understood; write H, H/15, H(0-29) or H(0-29)/10")
    low, top = (int(match[1]), int(match[2])) if match[1] else (place.low, _HIGHEST.get(place, place.high))
    if not place.low <= low <= top <= place.high:
        raise ScheduleError(f"{term!r} leaves the {place.title} field; use {place.low}-{place.high}")
    digest = hashlib.sha256(f"{job_id}/{place.title}".encode()).digest()
    chosen = int.from_bytes(digest[:8], "big")
    if match[3] is None:
        return str(low + chosen % (top - low + 1))
    step = int(match[3])
    if not 0 < step <= top - low + 1:
        raise ScheduleError(f"{term!r} has a step that leaves its range; use 1-{top - low + 1}")
    return f"{low + chosen % step}-{top}/{step}"
