"""How long does a `Retry-After` header ask to wait (RFC 9110, section 10.2.3)? No clock: `now` is handed in."""

import re
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime


def parse_retry_after(header: str | None, now: datetime, most: timedelta) -> timedelta | None:
    """Seconds or an HTTP date as the wait from `now`, from zero to `most`; None for anything else."""
    text = (header or "").strip()
    if re.fullmatch(r"[0-9]{1,12}", text):
        return min(timedelta(seconds=min(int(text), 10**8)), most)
    try:
        at = parsedate_to_datetime(text)
        at = at if at.tzinfo else at.replace(tzinfo=UTC)
        return min(max(at - now, timedelta(0)), most)
    except (ValueError, TypeError, OverflowError):
        return None
