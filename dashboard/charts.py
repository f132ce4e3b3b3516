"""Draws: values in, an Altair chart out. Pure; must not fetch, and must not know Streamlit.

Vega formats times by the browser's zone. The screen promises another one, so instants are shifted to that zone's wall
clock and drawn on a UTC scale, which no browser setting touches. The shift is that of `now` for the whole chart: across
a clock change the axis stays straight, and its title says which offset it counts in.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any, NamedTuple
from zoneinfo import ZoneInfo

import altair as alt
import words
from answers import Gap, Slot

BUCKET = timedelta(minutes=1)  # one mark for each job and minute, of its worst verdict: bounds marks by jobs × minutes
JOBS_AT_MOST = 20
ROW_PIXELS = 22
FRAME_PIXELS = 95  # legend above, axis below: Streamlit fits them into the height


class Span(NamedTuple):
    """From when until when a chart reaches, where "now" lies in it, and the zone whose wall clock it shows."""

    since: datetime
    until: datetime
    now: datetime
    zone: ZoneInfo


def timeline(slots: Iterable[Slot], jobs: Sequence[str], gaps: Iterable[Gap], span: Span) -> alt.LayerChart:
    """Slots by verdict against the first `JOBS_AT_MOST` of `jobs`, in that order."""
    shown = list(jobs[:JOBS_AT_MOST])
    plain = alt.X(
        "at:T", scale=alt.Scale(type="utc")
    )  # the domain stands on one layer alone, or Vega warns of a conflict
    layers = [*_blind(gaps, span, plain), _now(span, plain), _points(marks(slots, shown, span), shown, _axis(span))]
    layered: Any = alt.layer(*layers)
    chart: alt.LayerChart = layered.properties(height=max(2, len(shown)) * ROW_PIXELS + FRAME_PIXELS)
    return chart


def marks(slots: Iterable[Slot], jobs: Sequence[str], span: Span) -> list[dict[str, str]]:
    """One mark for each job and minute: at the first slot of its worst verdict, the minute's tally beside it."""
    wanted = set(jobs)
    minutes: dict[tuple[str, int], list[Slot]] = defaultdict(list)
    for slot in slots:
        if slot.job in wanted and span.since <= slot.slot <= span.until:
            minutes[slot.job, int(slot.slot.timestamp() // BUCKET.total_seconds())].append(slot)
    return [_mark(together, span) for _, together in sorted(minutes.items(), key=lambda item: item[0])]


def _mark(together: list[Slot], span: Span) -> dict[str, str]:
    worst = min(together, key=lambda slot: (_rank(slot.verdict), slot.slot))
    tally = Counter(words.look(slot.verdict).word for slot in together)
    return {
        "at": _wall(worst.slot, span),
        "job": worst.job,
        "verdict": words.look(worst.verdict).word,
        "slot": words.clock(worst.slot, span.zone, span.now),
        "late": words.seconds(worst.lateness_seconds),
        "minute": ", ".join(f"{number} {word}" for word, number in tally.most_common()),
    }


def _rank(verdict: str) -> int:
    order = list(words.VERDICTS)
    return order.index(verdict) if verdict in order else -1


def _wall(instant: datetime, span: Span) -> str:
    shift = span.now.astimezone(span.zone).utcoffset() or timedelta(0)
    return f"{(instant.astimezone(UTC) + shift):%Y-%m-%dT%H:%M:%S}Z"


def _axis(span: Span) -> alt.X:
    domain = [alt.DateTime(**_parts(_wall(end, span)), utc=True) for end in (span.since, span.until)]
    return alt.X(
        "at:T",
        title=f"Wall clock of {words.zone_name(span.zone, span.now)}",
        scale=alt.Scale(type="utc", domain=domain),
        axis=alt.Axis(format="%H:%M", tickCount=12, grid=True, gridOpacity=0.25),
    )


def _parts(wall: str) -> dict[str, Any]:
    at = datetime.fromisoformat(wall)
    day = {"year": at.year, "month": at.month, "date": at.day}
    return {**day, "hours": at.hour, "minutes": at.minute, "seconds": at.second}


def _points(values: list[dict[str, str]], jobs: list[str], x: alt.X) -> Any:
    looks = list(words.VERDICTS.values())
    names = [one.word for one in looks]
    colours = alt.Scale(domain=names, range=[one.colour for one in looks])
    shapes = alt.Scale(domain=names, range=[one.shape for one in looks])
    legend = alt.Legend(title=None, orient="top", symbolSize=110)
    return (
        _chart(values)
        .mark_point(filled=True, size=70, opacity=0.95)
        .encode(
            x=x,
            y=alt.Y(
                "job:N",
                title=None,
                sort=jobs,
                scale=alt.Scale(domain=jobs),
                axis=alt.Axis(labelLimit=220, labelOverlap=False),
            ),
            color=alt.Color("verdict:N", legend=legend, scale=colours),
            shape=alt.Shape("verdict:N", legend=legend, scale=shapes),
            tooltip=[
                alt.Tooltip("job:N", title="Job"),
                alt.Tooltip("slot:N", title="Slot"),
                alt.Tooltip("verdict:N", title="Verdict"),
                alt.Tooltip("late:N", title="Lateness"),
                alt.Tooltip("minute:N", title="In this minute"),
            ],
        )
    )


def _chart(values: list[dict[str, str]]) -> Any:
    """`Any`, for Altair's chained methods lose their types."""
    return alt.Chart(alt.InlineData(values=values))


def _now(span: Span, x: alt.X) -> Any:
    return _chart([{"at": _wall(span.now, span)}]).mark_rule(color="#e6e9ec", strokeDash=[4, 3]).encode(x=x)


def _blind(gaps: Iterable[Gap], span: Span, x: alt.X) -> list[Any]:
    """Bands where the collector was blind, cut to the span; drawn below the marks."""
    inside = [(max(gap.since, span.since), min(gap.until or span.now, span.until)) for gap in gaps]
    values = [{"at": _wall(since, span), "end": _wall(until, span)} for since, until in inside if since < until]
    return [_chart(values).mark_rect(color="#c297ff", opacity=0.18).encode(x=x, x2="end")] if values else []
