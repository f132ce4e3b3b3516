"""The page for this moment: what is wrong, what comes, what runs, and how every job does. Draws nothing by itself."""

from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

import panels
import streamlit as st
import tables
from answers import Snapshot
from data import Failure, load

REFRESH = "5s"


def zone() -> ZoneInfo:
    """`?tz=` of the address, else the viewer's own zone, else UTC. Every time on the screen is written with it."""
    for name in (st.query_params.get("tz"), st.context.timezone):
        try:
            if name:
                return ZoneInfo(name)
        except (ZoneInfoNotFoundError, ValueError, OSError):
            continue
    return ZoneInfo("UTC")


def filters(now: Snapshot) -> tables.Wanted:
    """Two fields that live in the address, so that a link shows what its sender saw."""
    left, right = st.columns([2, 1])
    job = left.text_input("Job", key="job", bind="query-params", placeholder="id, description or owner", max_chars=100)
    asked = {st.query_params.get("tenant", "")}
    options = sorted({"", *(job.tenant for job in now.jobs if job.tenant), *asked})
    tenant = right.selectbox("Tenant", options, key="tenant", bind="query-params", format_func=_or_all)
    return tables.Wanted(job or "", tenant or "")


def _or_all(tenant: str) -> str:
    return tenant or "all"


@st.fragment(run_every=REFRESH)
def refreshing() -> None:
    """What goes on by itself. A failed refresh keeps the last good answer, under a heading that says so."""
    where, now = zone(), load()
    if isinstance(now, Failure):
        st.session_state["failed"] = st.session_state.get("failed", 0) + 1
        last = st.session_state.get("last")
        if last is None:
            panels.failure(now)
            return
        panels.stale(now, last, st.session_state["failed"], where)
        now = last
    else:
        st.session_state.update(last=now, failed=0)
        panels.top(now, where)
    show(now, where)


def show(now: Snapshot, where: ZoneInfo) -> None:
    """Everything below the line of state."""
    panels.figures(now)
    if not now.jobs:
        panels.empty()
        return
    panels.objectives(now)
    found = tables.narrowed(now, filters(now))
    if not found:
        panels.no_match()
        return
    left, right = st.columns([3, 2])
    with left:
        panels.timeline(now, found, where)
    with right:
        panels.coming(now, found, where)
    panels.jobs(now, found, where)
    panels.work(now, found, where)
    panels.cuts(now)


refreshing()
