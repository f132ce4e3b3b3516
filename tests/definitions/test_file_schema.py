"""The JSON Schema for editors agrees with the loader: it takes what is taken and refuses what is refused."""

from pathlib import Path
from typing import Any

import jsonschema  # type: ignore[import-untyped]  # it ships no types
import pytest
import yaml

from slo.objectives import json_schema

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def validator() -> jsonschema.Draft202012Validator:
    schema = json_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    return jsonschema.Draft202012Validator(schema)


def test_the_schema_covers_the_whole_file() -> None:
    assert set(json_schema()["properties"]) == {"jobs", "defaults", "calendars", "slos", "channels", "settings"}


@pytest.mark.parametrize("path", sorted((ROOT / "examples").rglob("*.yaml")), ids=lambda path: path.name)
def test_the_examples_fit_the_schema(validator: Any, path: Path) -> None:
    value = yaml.safe_load(path.read_text(encoding="utf-8"))
    validator.validate(_instants_as_text(value))


@pytest.mark.parametrize(
    "value",
    [
        {"jobs": [{"id": "a", "schedule": {"cron": "@daily", "timezone": "UTC"}, "run": {"command": ["df"]}}]},
        {"jobs": [{"id": "a", "run": {"command": "df | wc", "shell": True}, "retry": {"factor": 2, "on_exit": [75]}}]},
        {"jobs": [{"id": "a", "run": {"http": {"url": "https://example.org/", "expect": [200], "body": "x"}}}]},
        {"jobs": [{"id": "a", "run": {"http": {"url": "https://x.org/", "headers": {"Cookie": {"file": "/x"}}}}}]},
        {"jobs": [{"id": "a", "schedule": [{"every": "1m"}, {"cron": "0 0 12 ? * 2", "dialect": "quartz"}]}]},
        {"jobs": [{"id": "a", "schedule": {"repeat": {"every": "2 weeks", "on": "friday", "time": "18:00"}}}]},
        {"jobs": [{"id": "a", "schedule": {"repeat": {"every": "month", "on": [15, "last day"], "time": ["18:00"]}}}]},
        {"jobs": [{"id": "a", "schedule": {"every": "1m"}, "window": {"from": "22:00", "to": "05:00"}}]},
        {"jobs": [{"id": "a", "catch_up": "all", "overlap": "replace", "deadline": {"start": "200s"}}]},
        {"jobs": [{"id": "a", "catch_up": {"mode": "all", "limit": 20}, "history": {"succeeded": 0}}]},
        {"calendars": {"a": {"country": "ID", "add": "2026-12-26"}, "b": {"union": ["a"], "weekend": ["friday"]}}},
        {"slos": [{"id": "a", "indicator": "success", "objective": "99.5%", "select": {"class": ["a", "b"]}}]},
        {"slos": [{"id": "a", "indicator": "success", "objective": 0.995, "alert": "standard", "notify": ["x"]}]},
        {"slos": [{"id": "a", "indicator": "success", "objective": 0.9, "alert": {"policy": "standard"}}]},
        {"channels": {"a": {"slack": {"url": {"file": "/x"}}}, "b": {"webhook": {"url": "http://127.0.0.1/"}}}},
    ],
)
def test_what_the_loader_takes_the_schema_takes(validator: Any, value: Any) -> None:
    validator.validate(value)


@pytest.mark.parametrize(
    "value",
    [
        {"jbos": []},
        {"jobs": [{}]},
        {"jobs": [{"id": "a", "after": ["b"]}]},
        {"jobs": [{"id": "a b"}]},
        {"jobs": [{"id": "a", "run": {"timeout": "1m"}}]},
        {"jobs": [{"id": "a", "run": {"command": ["df"], "http": {"url": "https://example.org/"}}}]},
        {"jobs": [{"id": "a", "run": {"http": {"url": "ftp://example.org/"}}}]},
        {"jobs": [{"id": "a", "run": {"http": {"url": "https://example.org/", "expect": [199]}}}]},
        {"jobs": [{"id": "a", "schedule": {"every": "soon"}}]},
        {"jobs": [{"id": "a", "overlap": "maybe"}]},
        {"jobs": [{"id": "a", "schedule": []}]},
        {"jobs": [{"id": "a", "schedule": {"cron": "@daily", "dst": "never"}}]},
        {"jobs": [{"id": "a", "schedule": {"repeat": {"every": "moon", "time": "18:00"}}}]},
        {"jobs": [{"id": "a", "window": {"from": "22:00", "to": "24:00"}}]},
        {"jobs": [{"id": "a", "window": {"start": "22:00", "end": "05:00"}}]},
        {"jobs": [{"id": "a", "catch_up": {"mode": "all", "limit": 0}}]},
        {"jobs": [{"id": "a", "history": {"succeeded": -1}}]},
        {"calendars": {"a b": {"country": "ID"}}},
        {"calendars": {"a": {"dates": ["26.12.2026"]}}},
        {"calendars": {"a": {"weekend": ["fri"]}}},
        {"slos": [{"id": "a", "indicator": "freshness", "objective": "99%"}]},
        {"slos": [{"id": "a", "indicator": "success"}]},
        {"channels": {"a": {"email": {}}}},
    ],
)
def test_what_the_loader_refuses_by_form_the_schema_refuses(validator: Any, value: Any) -> None:
    with pytest.raises(jsonschema.ValidationError):
        validator.validate(value)


def test_the_defaults_that_the_schema_shows_are_ones_a_file_may_hold(validator: Any) -> None:
    shown = validator.schema["$defs"]
    for name, model in shown.items():
        for key, field in model.get("properties", {}).items():
            if "default" in field:
                jsonschema.validate(field["default"], {**field, "$defs": shown})
                assert "PT" not in str(field["default"]), f"{name}.{key}"


def _instants_as_text(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _instants_as_text(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_instants_as_text(inner) for inner in value]
    return value.isoformat() if hasattr(value, "isoformat") else value
