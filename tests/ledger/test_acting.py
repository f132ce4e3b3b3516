"""What a person asks the queue for, through the API of a real ledger."""

from datetime import timedelta
from pathlib import Path

import httpx
import pytest
from ledger.serving import Service, serving

from control.service import kept_for
from scheduler.clock import now
from scheduler.instants import format_instant

LONG = """
defaults: {timezone: UTC}
jobs:
  - {id: watched, schedule: {every: 1h}}
slos:
  - {id: quarter, indicator: success, select: {job: watched}, objective: 99%, window: 90d}
"""


def ask(service: Service, job: str, body: object) -> httpx.Response:
    return httpx.post(f"{service.url}/api/v1/jobs/{job}/runs", json=body, headers=service.headers())


@pytest.mark.parametrize(
    ("job", "body", "status", "word"),
    [
        ("own", {"slot": "2026-01-01T00:00:00Z"}, 409, "no slot of 'own'"),
        ("own", {"slot": "yesterday"}, 422, "slot"),
        ("own", {"when": "now"}, 422, "when"),
        ("watched", {}, 409, "run elsewhere"),
        ("nowhere", {}, 404, "nowhere"),
    ],
)
def test_what_cannot_be_run_says_why(service: Service, job: str, body: object, status: int, word: str) -> None:
    answer = ask(service, job, body)
    assert (answer.status_code, answer.headers["content-type"]) == (status, "application/problem+json")
    assert word in answer.text


def test_a_run_by_hand_is_named_by_its_key(service: Service) -> None:
    assert ask(service, "own", {"key": "k1"}).json() == {"run": "own!k1"}


def test_the_last_run_is_the_one_that_began_last_though_all_were_planned_at_once(service: Service) -> None:
    base = now() - timedelta(minutes=30)
    events = []
    for number in range(3):
        for kind, minute in (("queued", 0), ("started", number + 1), ("succeeded", number + 1.5)):
            at = format_instant(base + timedelta(minutes=minute))
            about = {"id": f"plan-{number}-{kind}", "source": "test", "job": "planned", "run": f"planned-{number}"}
            events.append({**about, "type": kind, "at": at})
    assert service.post(events).json()["accepted"] == 9
    (item,) = [item for item in service.get("/api/v1/jobs")["items"] if item["id"] == "planned"]
    assert item["last_run"]["id"] == "planned-2"


def test_an_objective_over_a_quarter_keeps_its_facts_through_a_restart(tmp_path: Path) -> None:
    at = format_instant(now() - timedelta(days=60))
    event = {"id": "old", "source": "test", "type": "succeeded", "job": "watched", "run": "old", "at": at}
    for _ in range(2):
        with serving(tmp_path, LONG) as service:
            service.post([event])
            (quarter,) = service.get("/api/v1/slos")["items"]
            assert (quarter["good"], quarter["bad"]) == (1, 0)
            assert service.stop() == 0


def test_facts_are_kept_for_a_month_at_least() -> None:
    assert kept_for(()) == timedelta(days=31)
