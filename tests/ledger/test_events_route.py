import json
from concurrent.futures import ThreadPoolExecutor

import httpx
from ledger.serving import PATIENCE, Service, event

from collector.ingest import MAX_BODY_BYTES


def test_what_is_sent_is_counted_and_what_is_sent_again_is_a_duplicate(service: Service) -> None:
    batch = [event(f"again-{number}") for number in range(3)]
    first, second = service.post(batch), service.post(batch)
    assert first.status_code == second.status_code == 202
    assert first.json() == {"accepted": 3, "duplicate": 0, "rejected": []}
    assert second.json() == {"accepted": 0, "duplicate": 3, "rejected": []}


def test_a_batch_that_holds_an_event_twice_counts_it_once(service: Service) -> None:
    answer = service.post([event("twice"), event("twice")])
    assert answer.json() == {"accepted": 1, "duplicate": 1, "rejected": []}


def test_a_bad_event_in_a_batch_is_told_and_the_others_are_kept(service: Service) -> None:
    answer = service.post([event("good-1"), event("bad", at="yesterday"), event("good-2")])
    assert answer.status_code == 202
    assert answer.json()["accepted"] == 2
    (rejected,) = answer.json()["rejected"]
    assert rejected["index"] == 1 and rejected["field"] == "at" and "yesterday" in rejected["error"]
    runs = {item["id"] for item in service.get("/api/v1/runs", limit="1000")["items"]}
    assert {"r-good-1", "r-good-2"} <= runs and "r-bad" not in runs


def test_a_request_with_no_acceptable_event_is_unprocessable_in_the_same_shape(service: Service) -> None:
    answer = service.post([{"id": "x"}])
    assert answer.status_code == 422
    assert answer.json()["accepted"] == 0 and len(answer.json()["rejected"]) == 1


def test_an_empty_array_is_accepted(service: Service) -> None:
    answer = service.post([])
    assert answer.status_code == 202
    assert answer.json() == {"accepted": 0, "duplicate": 0, "rejected": []}


def test_lines_are_taken_by_their_content_type(service: Service) -> None:
    lines = b"\n".join(json.dumps(event(f"line-{number}")).encode() for number in range(5))
    answer = service.post(lines, **{"Content-Type": "application/x-ndjson"})
    assert answer.json() == {"accepted": 5, "duplicate": 0, "rejected": []}


def test_a_body_at_the_limit_is_read_and_one_byte_more_is_refused(service: Service) -> None:
    body = json.dumps(event("padded")).encode()
    assert service.post(body.ljust(MAX_BODY_BYTES - 1)).status_code == 202
    assert service.post(body.ljust(MAX_BODY_BYTES)).status_code == 202
    refused = service.post(body.ljust(MAX_BODY_BYTES + 1))
    assert refused.status_code == 413
    assert refused.headers["content-type"] == "application/problem+json"


def test_a_body_without_announced_length_meets_the_same_limit(service: Service) -> None:
    parts = (b" " * 65_536 for _ in range(MAX_BODY_BYTES // 65_536 + 1))
    answer = httpx.post(
        f"{service.url}/api/v1/events", content=parts, headers=service.headers("ingest"), timeout=PATIENCE
    )
    assert answer.status_code == 413


def test_eight_writers_with_five_hundred_single_events_each_lose_none(service: Service) -> None:
    before = service.get("/api/v1/status")["event_count"]

    def write(writer: int) -> list[int]:
        with httpx.Client(headers=service.headers("ingest"), timeout=PATIENCE) as client:
            url = f"{service.url}/api/v1/events"
            return [client.post(url, json=event(f"{writer}-{n}")).status_code for n in range(500)]

    with ThreadPoolExecutor(8) as pool:
        answers = [status for statuses in pool.map(write, range(8)) for status in statuses]
    assert set(answers) == {202}
    assert service.get("/api/v1/status")["event_count"] - before == 4000
