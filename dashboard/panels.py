"""Puts tables, charts and sentences on the screen: the only file besides the views that speaks Streamlit's widgets.

No foreign text goes into Markdown but through `words.verbatim`, and HTML is never let through.
"""

from typing import Any, Literal
from zoneinfo import ZoneInfo

import charts
import standing
import streamlit as st
import tables
import words
from answers import Job, Snapshot
from data import LOOK_AHEAD, LOOK_BACK, Failure

ROWS_AT_MOST = 20  # a longer table scrolls inside a frame of ROWS_HIGH pixels
ROWS_HIGH = 700
BOXES = {"bad": st.error, "warn": st.warning, "quiet": st.info, "good": st.success}
ICONS = {
    "bad": ":material/error:",
    "warn": ":material/warning:",
    "quiet": ":material/info:",
    "good": ":material/check_circle:",
}


def top(now: Snapshot, zone: ZoneInfo) -> None:
    """The line that answers "is anything wrong?", with the age and the zone of what is shown."""
    state = standing.standing(now, zone)
    dated = f"As of {words.clock(now.as_of, zone, now.as_of)} {words.zone_name(zone, now.as_of)}"
    body = "  \n".join([*state.lines, dated])  # two spaces: a line break in Markdown
    BOXES[state.level](body, icon=ICONS[state.level], title=state.title)


def failure(why: Failure) -> None:
    """A screen of its own: one sentence and one thing to do."""
    st.error(f"{why.todo} This page asks again by itself.", icon=":material/cloud_off:", title=why.what)


def stale(why: Failure, last: Snapshot, missed: int, zone: ZoneInfo) -> None:
    """What is below is old: says since when, and what to do."""
    age = f"What is below is as of {words.clock(last.as_of, zone, last.as_of)} {words.zone_name(zone, last.as_of)}"
    tries = f"{words.plural(missed, 'refresh has', 'refreshes have')} failed since."
    st.error(f"{age}; {tries} {why.todo}", icon=":material/history:", title=f"Old data: {why.what}")


def figures(now: Snapshot) -> None:
    """The five numbers that one looks at from across the room."""
    boxes = st.columns(5)
    boxes[0].metric("Open alerts", words.count(len(now.alerts)), border=True)
    boxes[1].metric("Running runs", words.count(sum(job.running for job in now.jobs)), border=True)
    boxes[2].metric("Waiting in queues", words.count(tables.total(one.depth for one in now.queues)), border=True)
    boxes[3].metric("Dead letters", words.count(tables.total(one.dead_depth for one in now.queues)), border=True)
    coming = [slot for job in now.jobs if job.enabled for slot in job.next_slots if slot > now.as_of]
    boxes[4].metric("Next slot", words.until(min(coming), now.as_of) if coming else "none planned", border=True)


def objectives(now: Snapshot) -> None:
    """Budget left and burn rates."""
    st.subheader("Objectives", anchor=False)
    table = tables.objectives(now.objectives)
    numbers = {
        name: st.column_config.NumberColumn(format="%.2f") for name in list(table)[3:] if name not in ("Bad", "Of")
    }
    state = st.column_config.TextColumn(width=120)  # the longest state is cut in the width that a short one gets
    columns = {**numbers, "State": state}
    _table(table, columns, "No objective is defined. Add one under `slos:` in a file of the job folder.")
    st.caption("Burn 1 × spends just the whole budget by the window's end. “no data”: nothing was due in that time.")


def timeline(now: Snapshot, jobs: list[Job], zone: ZoneInfo) -> None:
    """The last two hours, slot by slot."""
    st.subheader("Slots of the last 2 hours", anchor=False)
    names = [job.id for job in jobs if job.schedule]
    if not names:
        st.info("None of the jobs shown has a schedule, so none owes a slot.", icon=":material/event_busy:")
        return
    span = charts.Span(now.as_of - LOOK_BACK, now.as_of + LOOK_AHEAD, now.as_of, zone)
    chart = charts.timeline(now.slots, names, now.status.gaps, span)
    st.altair_chart(chart, width="stretch", key="timeline")
    more = len(names) - charts.JOBS_AT_MOST
    rest = f" {words.plural(more, 'job is', 'jobs are')} not drawn: search for a job above." if more > 0 else ""
    st.caption(f"One mark per job and minute, of the minute's worst verdict; the dashed line is now.{rest}")


def coming(now: Snapshot, jobs: list[Job], zone: ZoneInfo) -> None:
    """The next slots."""
    st.subheader("Next slots", anchor=False)
    st.caption(f"Times in {words.zone_name(zone, now.as_of)}")
    table = tables.next_slots(jobs, zone, now.as_of)
    _table(table, {}, "No slot is planned for the jobs shown: none has a schedule, or all are disabled.")


def jobs(now: Snapshot, found: list[Job], zone: ZoneInfo) -> None:
    """One row per job."""
    windows = sorted({job.window for job in found if job.window})
    st.subheader("Jobs", anchor=False)
    over = f"Rates, percentiles and counts over {', '.join(map(words.verbatim, windows))}. " if windows else ""
    st.caption(f"{over}Times in {words.zone_name(zone, now.as_of)}. Jobs with trouble come first.")
    table = tables.jobs(found, zone, now.as_of)
    numbers = {name: st.column_config.NumberColumn(format="%.2f") for name in table if name.endswith((" %", " s"))}
    _table(
        table,
        {**numbers, "Last error": st.column_config.TextColumn(width=280)},
        "No job.",
    )


def work(now: Snapshot, found: list[Job], zone: ZoneInfo) -> None:
    """What runs, what waits, what died."""
    shown = {job.id for job in found}
    left, middle, right = st.columns(3)
    with left:
        st.subheader("Running", anchor=False)
        runs = [run for run in now.running if run.job in shown]
        _table(tables.running(runs, zone, now.as_of), {}, "None of the jobs shown runs at this moment.")
    with middle:
        st.subheader("Queues", anchor=False)
        _table(tables.queues(now.queues), {}, "No queue yet. One appears with the first planned run.")
    with right:
        st.subheader("Dead letters", anchor=False)
        letters = [run for run in now.dead if run.job in shown]
        _table(tables.dead(letters, zone, now.as_of), {}, "None of the jobs shown has a dead letter.")
        if len(letters) > (tables.total(one.dead_depth for one in now.queues) or 0):
            st.caption("Discarded ones are listed too; how many still wait stands under Queues.")


def empty() -> None:
    """The control plane answers and has no job."""
    st.info(
        "Put a job file into the folder that `tepat up` was started on; `tepat lint` tells whether it is well.",
        icon=":material/inbox:",
        title="No job is defined yet.",
    )


def no_match() -> None:
    """The search lets no job through."""
    st.info("Clear the search above to see all jobs.", icon=":material/search_off:", title="No job matches the search.")


def cuts(now: Snapshot) -> None:
    """Says which lists are not whole, so that nobody counts them."""
    if now.cut:
        st.caption(f"Not whole, the control plane holds more: {', '.join(now.cut)}.")


def _table(table: tables.Table, columns: dict[str, Any], when_empty: str) -> None:
    rows = len(next(iter(table.values())))
    if not rows:
        st.info(when_empty)
        return
    height: Literal["content"] | int = "content" if rows <= ROWS_AT_MOST else ROWS_HIGH
    st.dataframe(table, hide_index=True, column_config=columns, placeholder=words.NO_DATA, height=height)
