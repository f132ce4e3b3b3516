"""`docs/scaling.md`: its examples are what an autoscaler and the route understand, and its numbers are the code's."""

import re
from inspect import signature
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import msgspec
import pytest
import yaml

from collector.telemetry import METRICS
from control.api.scaling import scaling_routes
from control.sampling import SAMPLE_SECONDS, STALE_SECONDS, Sample, scaling_item
from scheduler.instants import parse_instant
from scheduler.policy import OUTAGE
from scheduler.queue_load import QueueLoad
from scheduler.scaling import MAX_AGE, MOST_REPLICAS, PER_REPLICA, Limits

PAGE = (Path(__file__).parents[2] / "docs" / "scaling.md").read_text()
SHOWN = QueueLoad(
    queue="default", depth=50, ready=42, in_flight=3, due_soon=12, arrivals=420, oldest_age=17.25, mean_duration=12.5
)
ITEM = scaling_item(SHOWN, Limits(), Sample(parse_instant("2026-11-30T21:00:00Z"), {}))
SIGNAL = "/api/v1/queues/default/scaling"


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```", PAGE, re.DOTALL | re.MULTILINE)


def documents() -> dict[str, Any]:
    found = [document for block in blocks("yaml") for document in yaml.safe_load_all(block)]
    return {document.get("kind", "rules"): document for document in found}


def parameters() -> set[str]:
    (route,) = scaling_routes(None).routes  # type: ignore[arg-type]  # nothing is asked
    given = signature(route.endpoint).parameters.values()  # type: ignore[attr-defined]
    return {{"least": "min", "most": "max"}.get(one.name, one.name) for one in given} - {"queue"}


def test_the_answer_that_is_shown_is_the_answer_to_these_numbers() -> None:
    (shown,) = blocks("json")
    assert msgspec.json.decode(shown) == ITEM


def test_every_example_parses_and_is_of_a_kind_that_clusters_know() -> None:
    kinds = {name: document.get("apiVersion") for name, document in documents().items()}
    assert kinds == {
        "TriggerAuthentication": "keda.sh/v1alpha1",
        "ScaledObject": "keda.sh/v1alpha1",
        "rules": None,
        "HorizontalPodAutoscaler": "autoscaling/v2",
    }


def test_each_keda_trigger_asks_the_route_for_a_number_that_it_answers() -> None:
    triggers = documents()["ScaledObject"]["spec"]["triggers"]
    for trigger in triggers:
        assert trigger["type"] == "metrics-api"
        asked = urlsplit(trigger["metadata"]["url"])
        assert asked.path == SIGNAL and set(parse_qs(asked.query)) <= parameters()
        assert isinstance(ITEM[trigger["metadata"]["valueLocation"]], int)
        assert float(trigger["metadata"]["targetValue"]) > 0
        assert trigger["authenticationRef"]["name"] == documents()["TriggerAuthentication"]["metadata"]["name"]
    wanted = [trigger["metadata"]["valueLocation"] for trigger in triggers]
    assert wanted == ["desired_replicas", "due_soon"]


def test_the_hpa_asks_for_the_series_that_the_rule_makes() -> None:
    (rule,) = documents()["rules"]["externalRules"]
    (metric,) = documents()["HorizontalPodAutoscaler"]["spec"]["metrics"]
    name = metric["external"]["metric"]["name"]
    assert name == rule["name"]["as"] == rule["seriesQuery"]
    assert name in {each.name for each in METRICS}


def test_the_table_of_fields_names_each_field_of_the_answer_and_each_gauge() -> None:
    table = PAGE.split("| field |")[1].split("\n\n")[0]
    told = {row.split("|")[1].strip(" `") for row in table.splitlines() if row.startswith("| `")}
    assert told == ITEM.keys() - {"queue", "formula", "per_replica", "stale"}
    gauges = set(re.findall(r"`(tepat_\w+)`", PAGE))
    assert gauges <= {each.name for each in METRICS}
    assert {"tepat_queue_oldest_age_seconds", "tepat_queue_ingress_rate", "tepat_queue_due_soon"} < gauges


def test_the_table_of_parameters_names_each_one_with_its_default() -> None:
    table = PAGE.split("| parameter |")[1].split("\n\n")[0]
    named = {name for row in table.splitlines()[2:] for name in re.findall(r"`(\w+)`", row.split("|")[1])}
    assert named == parameters()
    for row in (f"| `per_replica` | {PER_REPLICA} |", f"| `max_age` | {MAX_AGE:g} |", f"| 0, {MOST_REPLICAS} |"):
        assert row in table


@pytest.mark.parametrize(
    "words",
    [
        f"older than {STALE_SECONDS:g} seconds",
        f"looked at them for {OUTAGE.total_seconds():g} seconds",
        f"a sample serves for {SAMPLE_SECONDS:g} seconds",
    ],
)
def test_the_page_states_the_bounds_that_the_signal_keeps(words: str) -> None:
    assert words in PAGE
