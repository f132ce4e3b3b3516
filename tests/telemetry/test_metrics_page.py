"""`docs/metrics.md` is what users build dashboards and rules on: it says what the code does, no less and no more."""

from pathlib import Path

from collector.sender import CLOSE_WITHIN, MAX_WAITING
from collector.telemetry import ATTRIBUTES, METRICS, SPANS, Metric, series_bound
from collector.traces import MAX_SPANS_PER_RUN, MAX_TEXT_BYTES

PAGE = (Path(__file__).parents[2] / "docs" / "metrics.md").read_text()


def rows(heading: str) -> list[str]:
    """The rows of the table below a heading, without its head."""
    section = PAGE.split(f"\n## {heading}\n")[1].split("\n## ")[0]
    return [line for line in section.splitlines() if line.startswith("|")][2:]


def metric_row(metric: Metric) -> str:
    labels = ", ".join(f"`{label}`" for label in metric.labels) or "none"
    per = {"job": "per job", "queue": "per queue", "objective": "per SLO", "process": "in all"}[metric.scope]
    return f"| `{metric.name}` | {metric.kind} | {labels} | {metric.series} {per} | {metric.help} |"


def test_the_page_lists_every_metric_with_its_kind_labels_and_bound() -> None:
    assert rows("Metrics") == [metric_row(metric) for metric in METRICS]


def test_the_page_lists_every_span() -> None:
    expected = [f"| `{s.name}` | {s.spans} | {', '.join(f'`{name}`' for name in s.attributes)} |" for s in SPANS]
    assert rows("Spans") == expected


def test_the_page_lists_every_attribute() -> None:
    assert rows("Attributes") == [f"| `{name}` | {meaning} |" for name, meaning in ATTRIBUTES]


def test_the_page_states_the_bounds_that_the_code_keeps() -> None:
    each = [series_bound(*counts) - series_bound(0, 0, 0) for counts in ((1, 0, 0), (0, 1, 0), (0, 0, 1))]
    series = "{} for each job, {} for each queue, {} for each SLO and {} more".format(*each, series_bound(0, 0, 0))
    for bound in (
        series,
        f"{MAX_WAITING:,} spans",
        f"within {CLOSE_WITHIN:g} seconds",
        f"{MAX_SPANS_PER_RUN:,} spans",
        f"{MAX_TEXT_BYTES:,} bytes",
    ):
        assert bound in PAGE
