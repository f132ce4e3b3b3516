"""Rollups as the ledger keeps them: moved on with each commit, by exactly what changed."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import httpx
from ledger.serving import serving

from scheduler.clock import now
from scheduler.instants import format_instant


def buckets(items: list[dict[str, Any]]) -> dict[str, dict[str, int]]:
    return {item["at"]: item["runs"] for item in items if item["runs"]}


def test_a_late_word_moves_a_run_from_the_bucket_it_was_in_to_the_one_it_belongs_to(tmp_path: Path) -> None:
    minute = now().replace(second=0, microsecond=0) - timedelta(minutes=10)

    def word(name: str, kind: str, after: float, **data: Any) -> dict[str, Any]:
        at = format_instant(minute + timedelta(seconds=after))
        return {"id": name, "source": "test", "type": kind, "job": "watched", "run": "w", "at": at, "data": data}

    with serving(tmp_path) as service:
        service.post([word("1", "started", 0), word("2", "failed", 150, error={"kind": "lost", "message": "silent"})])
        before = service.get("/api/v1/rollups", job="watched")["items"]
        assert buckets(before) == {format_instant(minute + timedelta(minutes=2)): {"failed": 1}}
        service.post([word("3", "succeeded", 65)])
        after = service.get("/api/v1/rollups", job="watched")["items"]
        assert buckets(after) == {format_instant(minute + timedelta(minutes=1)): {"succeeded": 1}}
        hour = service.get("/api/v1/rollups", job="watched", step="1d")["items"]
        assert sum(item["duration_seconds"]["count"] for item in hour) == 1
        assert hour[-1]["duration_seconds"]["p95"] is not None
        (job,) = [item for item in service.get("/api/v1/jobs")["items"] if item["id"] == "watched"]
        assert job["runs"]["succeeded"] == sum(item["runs"].get("succeeded", 0) for item in hour)
        assert service.stop() == 0
    with serving(tmp_path) as service:
        assert service.get("/api/v1/rollups", job="watched")["items"] == after


def test_more_steps_than_an_answer_holds_are_refused_with_the_remedy(tmp_path: Path) -> None:
    with serving(tmp_path) as service:
        asked = {"job": "watched", "from": "2020-01-01T00:00:00Z"}
        answer = httpx.get(f"{service.url}/api/v1/rollups", params=asked, headers=service.headers())
    assert answer.status_code == 422
    assert "longer step" in answer.text
