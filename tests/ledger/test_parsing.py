import json
from typing import Any

import pytest
from ledger.serving import event

from collector.ingest import MAX_REJECTIONS_LISTED, parse_body

JSON = "application/json"


def parsed(value: Any) -> tuple[list[str], list[tuple[int, str]]]:
    found = parse_body(json.dumps(value).encode(), JSON)
    return [each.id for each in found.events], [(each.index, each.field) for each in found.rejected]


def test_one_object_an_array_and_lines_carry_the_same_events() -> None:
    one = json.dumps(event(1)).encode()
    assert parse_body(one, JSON).events == parse_body(b"[" + one + b"]", JSON).events
    assert parse_body(one + b"\n\n" + one + b"\n", "application/x-ndjson; charset=utf-8").events == 2 * (
        parse_body(one, JSON).events
    )


def test_an_empty_array_holds_nothing_and_rejects_nothing() -> None:
    assert parsed([]) == ([], [])


@pytest.mark.parametrize(
    ("wrong", "field"),
    [
        ({"type": "begun"}, "type"),
        ({"id": ""}, "id"),
        ({"id": "x" * 201}, "id"),
        ({"at": "2026-03-29T00:30:00"}, "at"),
        ({"attempt": 0}, "attempt"),
        ({"job": "a/b"}, "job"),
        ({"data": {"text": "x" * 20_000}}, "data"),
    ],
)
def test_a_bad_event_is_named_by_place_and_field_and_harms_no_other(wrong: dict[str, Any], field: str) -> None:
    assert parsed([event(1), event(2, **wrong), event(3)]) == (["e-1", "e-3"], [(1, field)])


@pytest.mark.parametrize("value", [1, "text", None, [], [[]]])
def test_what_is_no_object_is_no_event(value: Any) -> None:
    assert parsed([event(1), value, event(2)]) == (["e-1", "e-2"], [(1, "event")])


def test_a_line_that_is_no_json_is_rejected_alone() -> None:
    body = json.dumps(event(1)).encode() + b"\n{not json}\n" + json.dumps(event(2)).encode()
    found = parse_body(body, "application/x-ndjson")
    assert [each.id for each in found.events] == ["e-1", "e-2"]
    assert [(each.index, each.field) for each in found.rejected] == [(1, "event")]


@pytest.mark.parametrize("body", [b"", b"{", b"\xff\xfe", b"[" * 100_000, b'{"a": NaN}'])
def test_a_body_that_is_no_json_is_one_rejection_with_a_remedy(body: bytes) -> None:
    found = parse_body(body, JSON)
    assert not found.events
    assert [(each.index, each.field) for each in found.rejected] == [(0, "body")]
    assert "application/x-ndjson" in found.rejected[0].error


def test_rejections_are_listed_up_to_a_bound_and_counted_past_it() -> None:
    found = parse_body(json.dumps([1] * (MAX_REJECTIONS_LISTED + 7)).encode(), JSON)
    assert len(found.rejected) == MAX_REJECTIONS_LISTED + 1
    assert found.rejected[-1].error.startswith("and 7 more")
