"""Which time zones are there? The names of the pinned tzdata package, never the host's own zone files."""

import difflib
import zoneinfo
from functools import cache

import scheduler.timelaw  # noqa: F401  (takes the host's zone files off the search path before any name is looked up)


@cache
def zone_names() -> frozenset[str]:
    """Every IANA name that can be used."""
    return frozenset(zoneinfo.available_timezones())


def check_zone(name: str) -> str:
    """The name itself. Raises ValueError with the nearest known names."""
    known = zone_names()
    if name in known:
        return name
    folded = {zone.lower(): zone for zone in known}
    near = [folded[match] for match in difflib.get_close_matches(name.lower(), folded, n=3, cutoff=0.6)]
    remedy = f"did you mean {' or '.join(near)}?" if near else "write an IANA name like Asia/Jakarta"
    raise ValueError(f"is not a time zone; {remedy}")
