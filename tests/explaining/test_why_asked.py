"""The two routes that say why, asked of a real ledger, and the command that asks them."""

import json
from collections.abc import Iterator
from datetime import datetime, timedelta
from typing import Any

import httpx
import pytest
from ledger.serving import PATIENCE, Service, serving

from control import cli
from scheduler import clock
from scheduler.instants import format_instant, parse_instant

JOBS = """
defaults: {timezone: UTC}
jobs:
  - {id: quick, schedule: {every: 2s}, on_time: {start_within: 100ms}}
  - {id: own, run: {command: ["true"]}, schedule: {cron: "0 9 * * 1-5"}}
"""


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Service]:
    with serving(tmp_path_factory.mktemp("why"), JOBS) as running:
        yield running


@pytest.fixture
def asking(service: Service, monkeypatch: pytest.MonkeyPatch) -> Service:
    """The service, as the command line finds it."""
    monkeypatch.setenv("TEPAT_URL", service.url)
    monkeypatch.setenv("TEPAT_TOKEN_FILE", str(service.var / "tokens" / "dashboard"))
    return service


def first_missed(service: Service) -> dict[str, Any]:
    """The first slot that this ledger saw pass in silence."""
    deadline = clock.monotonic() + PATIENCE
    while clock.monotonic() < deadline:
        items = service.get("/api/v1/slots", job="quick")["items"]
        missed = [item for item in items if item["verdict"] == "missed"]
        if missed:
            return dict(missed[0])
        clock.pause(0.1)
    raise AssertionError("no slot was missed in time")


def say(service: Service, kind: str, job: str, run: str, at: datetime, **more: Any) -> None:
    body = {"id": f"{run}-{kind}", "source": "test", "type": kind, "job": job, "run": run, "at": format_instant(at)}
    assert service.post([{**body, **more}]).json()["accepted"] == 1


def test_a_missed_slot_is_told_with_its_limit(service: Service) -> None:
    missed = first_missed(service)
    found = service.get("/api/v1/jobs/quick/why", at=missed["slot"])
    assert (found["slot"], found["owed"], found["code"], found["run"]) == (missed["slot"], True, "missed", None)
    assert "It was missed: nothing had begun by the limit" in found["sentences"][1]


def test_an_instant_that_is_no_slot_names_the_field(service: Service) -> None:
    found = service.get("/api/v1/jobs/own/why", at="2199-05-04T09:00:00Z")
    assert (found["slot"], found["owed"], found["code"]) == (None, False, "weekday")
    assert "It is a Saturday" in found["sentences"][1]


def test_before_its_files_were_applied_a_job_owes_nothing(service: Service) -> None:
    assert service.get("/api/v1/jobs/own/why", at="2001-01-01T09:00:00Z")["code"] == "before_valid_from"


def test_a_slot_that_lies_ahead_is_still_to_come(service: Service) -> None:
    found = service.get("/api/v1/jobs/own/why", at="2199-05-03T09:00:00Z")
    assert (found["owed"], found["code"]) == (True, "to_come")


def test_an_offset_written_by_hand_is_understood(service: Service) -> None:
    answer = httpx.get(
        f"{service.url}/api/v1/jobs/own/why?at=2199-05-03T16:00:00+07:00",
        headers=service.headers("dashboard"),
        timeout=PATIENCE,
    )
    assert answer.json()["slot"] == "2199-05-03T09:00:00Z"


def test_a_run_that_ended_well_makes_its_slot_succeeded(service: Service) -> None:
    slot = parse_instant(first_missed(service)["slot"])
    run = f"quick@{format_instant(slot)}"
    say(service, "started", "quick", run, slot + timedelta(milliseconds=50), slot=format_instant(slot))
    say(service, "succeeded", "quick", run, slot + timedelta(seconds=1), slot=format_instant(slot))
    for path, parameters in ((f"/api/v1/runs/{run}/why", {}), ("/api/v1/jobs/quick/why", {"at": format_instant(slot)})):
        found = service.get(path, **parameters)
        assert (found["run"], found["code"], found["owed"]) == (run, "succeeded", True)
        assert any("It was on time" in sentence for sentence in found["sentences"])


def test_a_skip_that_alone_was_heard_of_a_slot_is_its_reason(service: Service) -> None:
    slot = first_missed(service)["slot"]
    run = f"quick@{slot}"
    say(service, "skipped", "quick", run, parse_instant(slot), slot=slot, data={"reason": "overlap"})
    found = service.get("/api/v1/jobs/quick/why", at=slot)
    assert found["code"] == "overlap"
    assert "`overlap: forbid` skips it then" in " ".join(found["sentences"])


def test_a_run_in_the_queue_says_what_it_waits_for_before_anybody_reported_it(service: Service) -> None:
    asked = httpx.post(
        f"{service.url}/api/v1/jobs/own/runs", json={"key": "k1"}, headers=service.headers(), timeout=PATIENCE
    )
    assert asked.json() == {"run": "own!k1"}
    found = service.get("/api/v1/runs/own!k1/why")
    assert (found["job"], found["run"], found["slot"], found["code"]) == ("own", "own!k1", None, "queued")
    assert found["sentences"][-1] == (
        "Nothing of the job holds it back: it waits for a free worker of the queue `default`."
    )


def test_a_run_that_is_known_by_its_slot_alone_is_explained_by_it(service: Service) -> None:
    assert service.get("/api/v1/runs/own@2199-05-03T09:00:00Z/why")["code"] == "to_come"


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/api/v1/jobs/nobody/why?at=2026-05-05T00:00:00Z", 404),
        ("/api/v1/jobs/own/why?at=yesterday", 422),
        ("/api/v1/jobs/own/why", 422),
        ("/api/v1/jobs/own/why?at=0001-01-01T00:00:00Z", 422),
        ("/api/v1/runs/own@9999-01-01T00:00:00Z/why", 404),
        ("/api/v1/runs/own!nothing/why", 404),
        ("/api/v1/runs/nobody@yesterday/why", 404),
    ],
)
def test_what_can_not_be_explained_is_a_problem_document(service: Service, path: str, status: int) -> None:
    answer = httpx.get(service.url + path, headers=service.headers("dashboard"), timeout=PATIENCE)
    assert (answer.status_code, answer.headers["content-type"]) == (status, "application/problem+json")
    assert answer.json()["detail"]


def test_a_run_for_an_impossible_slot_is_told_by_itself(service: Service) -> None:
    slot = "0001-01-01T00:00:00Z"
    say(service, "started", "quick", "quick-far", clock.now(), slot=slot)
    found = service.get("/api/v1/runs/quick-far/why")
    assert (found["slot"], found["code"]) == (None, "running")


@pytest.mark.parametrize("path", ["/api/v1/jobs/own/why?at=2026-05-05T00:00:00Z", "/api/v1/runs/own!k1/why"])
@pytest.mark.parametrize(("caller", "let_in"), [("ingest", False), ("dashboard", True), ("admin", True)])
def test_the_role_viewer_is_needed_to_ask(service: Service, path: str, caller: str, let_in: bool) -> None:
    answer = httpx.get(service.url + path, headers=service.headers(caller), timeout=PATIENCE)
    assert (answer.status_code not in (401, 403)) == let_in
    nobody = httpx.get(service.url + path, timeout=PATIENCE)
    assert nobody.status_code == 401


def test_the_command_asks_the_service_with_the_token_of_a_viewer(
    asking: Service, capsys: pytest.CaptureFixture[str]
) -> None:
    assert cli.main(["why", "own", "--at", "2199-05-04T16:00:00+07:00"]) == 0
    said = capsys.readouterr().out.splitlines()
    assert said[0] == "Saturday 2199-05-04 09:00 UTC is no slot of own."
    assert "files" not in said[-1]


def test_the_command_asks_the_service_about_a_run_too(asking: Service, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["why", "own@2199-05-03T09:00:00Z", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["code"] == "to_come"


def test_a_job_that_the_service_does_not_know_is_2(asking: Service, capsys: pytest.CaptureFixture[str]) -> None:
    assert cli.main(["why", "nobody", "--at", "2026-05-05T00:00:00Z"]) == 2
    assert "no job 'nobody' is defined" in capsys.readouterr().err
