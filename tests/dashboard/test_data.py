"""What comes back from the one file that fetches, against a real HTTP server."""

import json
import socket
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import data
import pytest
from answers import Snapshot

from dashboard.playback import Backend


def failed(settings: dict[str, str]) -> data.Failure:
    found = data.load(settings)
    assert isinstance(found, data.Failure)
    assert found.what.endswith(".")
    assert found.todo.endswith(".")
    return found


def test_a_snapshot_holds_what_the_api_said(settings: dict[str, str], backend: Backend) -> None:
    found = data.load(settings)
    assert isinstance(found, Snapshot)
    assert [job.id for job in found.jobs] == [job["id"] for job in backend.answers["jobs"]["items"]]
    assert found.jobs[0].duration_seconds.p95 == backend.answers["jobs"]["items"][0]["duration_seconds"]["p95"]
    assert [alert.id for alert in found.alerts] == ["ep-1", "ep-2"], "resolved episodes are not open alerts"
    assert found.status.gaps[0].until is not None


def test_slots_are_asked_for_from_two_hours_before_the_apis_own_now(settings: dict[str, str], backend: Backend) -> None:
    data.load(settings)
    [target] = [target for target in backend.asked if "/slots" in target]
    asked = parse_qs(urlsplit(target).query)
    assert asked.pop("limit") == ["5000"]
    assert asked == {"from": ["2026-03-29T03:31:07.250000+00:00"], "until": ["2026-03-29T05:41:07.250000+00:00"]}


def test_many_screens_share_one_fetch(settings: dict[str, str], backend: Backend) -> None:
    for _ in range(20):
        data.load(settings)
    assert len([target for target in backend.asked if "/status" in target]) == 1


def test_another_token_never_gets_the_answer_kept_for_this_one(
    settings: dict[str, str], backend: Backend, token_file: Path
) -> None:
    assert isinstance(data.load(settings), Snapshot)
    token_file.write_text("another", encoding="utf-8")
    assert failed(settings).kind == "unauthorised"


def test_the_token_stands_in_no_key_of_the_cache(settings: dict[str, str]) -> None:
    assert "viewer-token" not in repr(failed({**settings, "TEPAT_API": "http://127.0.0.1:1"}))


@pytest.mark.parametrize("status", [401, 403])
def test_a_refused_token_is_told_apart(settings: dict[str, str], backend: Backend, status: int) -> None:
    backend.status = status
    found = failed(settings)
    assert found.kind == "unauthorised"
    assert str(status) in found.what


def test_a_port_that_nobody_listens_on_is_unreachable(settings: dict[str, str]) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        settings["TEPAT_API"] = f"http://127.0.0.1:{free.getsockname()[1]}"
        assert failed(settings).kind == "unreachable"


@pytest.mark.parametrize("url", ["ftp://127.0.0.1", "127.0.0.1:8080", "http://[", "http://127.0.0.1:99999"])
def test_a_url_that_is_none_is_a_sentence_not_a_crash(settings: dict[str, str], url: str) -> None:
    assert failed({**settings, "TEPAT_API": url}).kind == "unreachable"


def test_a_token_that_no_header_can_carry_is_a_sentence(settings: dict[str, str], token_file: Path) -> None:
    token_file.write_text("tök\nen", encoding="utf-8")
    assert failed(settings).kind in {"unreachable", "unauthorised"}


def test_settings_that_are_missing_are_named(settings: dict[str, str], tmp_path: Path) -> None:
    assert "TEPAT_API" in failed({}).todo
    assert "TEPAT_TOKEN_FILE" in failed({"TEPAT_API": settings["TEPAT_API"]}).todo
    assert failed({**settings, "TEPAT_TOKEN_FILE": str(tmp_path / "none")}).kind == "settings"


@pytest.mark.parametrize("body", [b"<html>", b"[]", b'{"as_of": "yesterday"}', b'{"as_of": 5}', b"\xff\xfe"])
def test_an_answer_of_another_shape_is_odd_and_names_its_path(
    settings: dict[str, str], backend: Backend, body: bytes
) -> None:
    backend.body = body
    found = failed(settings)
    assert found.kind == "odd"
    assert "/api/v1/status" in found.what


def test_a_server_error_is_odd(settings: dict[str, str], backend: Backend) -> None:
    backend.status = 500
    assert "500" in failed(settings).what


@pytest.mark.parametrize(("beyond", "kind"), [(-1, "ok"), (0, "ok"), (1, "odd")])
def test_an_answer_past_the_bound_is_refused(
    settings: dict[str, str], backend: Backend, monkeypatch: pytest.MonkeyPatch, beyond: int, kind: str
) -> None:
    backend.answers = {name: {"items": []} for name in backend.answers if name != "status"}
    status = {"as_of": "2026-03-29T05:31:07Z", "version": "x" * 500}
    backend.answers["status"] = status
    monkeypatch.setattr(data, "BYTES_AT_MOST", len(json.dumps(status)) - beyond)
    found = data.load(settings)
    assert (found.kind if isinstance(found, data.Failure) else "ok") == kind


def test_a_list_that_goes_on_is_said_to_be_cut(settings: dict[str, str], backend: Backend) -> None:
    backend.answers["jobs"]["next"] = "cursor"
    found = data.load(settings)
    assert isinstance(found, Snapshot)
    assert found.cut == ["jobs"]


def test_slots_are_read_to_their_last_page(settings: dict[str, str], backend: Backend) -> None:
    whole = backend.answers["slots"]["items"]
    backend.answers["slots"].update(items=whole[:3], next="a:b")
    backend.answers["slots?cursor=a:b"] = {"items": whole[3:], "next": None}
    found = data.load(settings)
    assert isinstance(found, Snapshot)
    assert (len(found.slots), found.cut) == (len(whole), [])


def test_a_list_without_end_is_cut_and_said_to_be(settings: dict[str, str], backend: Backend) -> None:
    backend.answers["slots"]["next"] = "again"
    backend.answers["slots?cursor=again"] = backend.answers["slots"]
    found = data.load(settings)
    assert isinstance(found, Snapshot)
    assert found.cut == ["slots"]
    assert len([target for target in backend.asked if "/slots" in target]) == data.SLOT_PAGES_AT_MOST


def test_keys_that_this_dashboard_does_not_know_are_passed_over(settings: dict[str, str], backend: Backend) -> None:
    backend.answers["jobs"]["items"][0]["new_key"] = {"of": "a later version"}
    assert isinstance(data.load(settings), Snapshot)
