import json
from collections.abc import Iterator, Mapping, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Event, Thread
from typing import Any, ClassVar

import pytest
from queueing.farm import START, job, new_queue, said, until
from sqlalchemy import Engine, select

from scheduler.database import read
from scheduler.identity import event_id
from scheduler.outbox import BATCH, LONGEST_WAIT_SECONDS, DeliveryError, Forwarder, http_deliver, outbox_depth
from scheduler.queue import trigger_run
from scheduler.tables import outbox_rejected


class Collector:
    """Takes batches as a collector does, or refuses to."""

    def __init__(self) -> None:
        self.batches: list[list[dict[str, Any]]] = []
        self.refused: dict[int, str] = {}
        self.error: DeliveryError | None = None

    def __call__(self, events: Sequence[dict[str, Any]]) -> Mapping[int, str]:
        if self.error is not None:
            raise self.error
        self.batches.append(list(events))
        return self.refused


def filled(folder: Path, count: int) -> Engine:
    engine = new_queue(folder, job())
    for number in range(count):
        trigger_run(engine, "tidy", f"k{number}", START)
    return engine


def forwarder(engine: Engine, folder: Path, deliver: Any) -> Forwarder:
    return Forwarder(engine, deliver, folder / "forwarder.lock", Event())


def test_events_leave_in_order_and_only_after_they_were_taken(tmp_path: Path) -> None:
    engine, collector = filled(tmp_path, 3), Collector()
    collector.error = DeliveryError("down")
    one = forwarder(engine, tmp_path, collector)
    one.step(START)
    assert outbox_depth(engine) == 3
    collector.error = None
    written = said(engine)
    one.step(START)
    assert [event | {"sent_at": "2026-03-01T08:00:00Z"} for event in written] == collector.batches[0]
    assert outbox_depth(engine) == 0


@pytest.mark.parametrize(("count", "sizes"), [(BATCH - 1, [BATCH - 1]), (BATCH, [BATCH]), (BATCH + 1, [BATCH, 1])])
def test_a_batch_never_holds_more_than_its_bound(tmp_path: Path, count: int, sizes: list[int]) -> None:
    engine, collector = filled(tmp_path, count), Collector()
    one = forwarder(engine, tmp_path, collector)
    while one.step(START) == 0:
        pass
    assert [len(batch) for batch in collector.batches] == sizes


def test_a_refused_event_is_kept_with_its_reason_and_holds_up_no_other(tmp_path: Path) -> None:
    engine, collector = filled(tmp_path, 3), Collector()
    collector.refused = {1: "at: is required"}
    forwarder(engine, tmp_path, collector).step(START)
    with read(engine) as connection:
        rows = connection.execute(select(outbox_rejected)).all()
    assert [(one.reason, json.loads(one.body)["run"]) for one in rows] == [("at: is required", "tidy!k1")]
    assert outbox_depth(engine) == 0


def test_failures_wait_longer_and_longer_up_to_a_bound_and_then_start_afresh(tmp_path: Path) -> None:
    engine, collector = filled(tmp_path, 1), Collector()
    one = forwarder(engine, tmp_path, collector)
    collector.error = DeliveryError("down")
    waits = [one.step(START) for _ in range(20)]
    assert waits[:4] == [0.5, 1, 2, 4]
    assert waits[-1] == LONGEST_WAIT_SECONDS
    collector.error = DeliveryError("busy", 3.0)
    assert one.step(START) == 3.0
    collector.error = None
    one.step(START)
    trigger_run(engine, "tidy", "again", START)
    collector.error = DeliveryError("down")
    assert one.step(START) == 0.5


def test_a_batch_that_is_too_large_is_halved(tmp_path: Path) -> None:
    engine, taken = filled(tmp_path, 8), list[int]()

    def deliver(events: Sequence[dict[str, Any]]) -> Mapping[int, str]:
        if len(events) > 4:
            raise DeliveryError("413", too_large=True)
        taken.append(len(events))
        return {}

    one = forwarder(engine, tmp_path, deliver)
    until(lambda: one.step(START) and outbox_depth(engine) == 0)
    assert sum(taken) == 8


def test_one_forwarder_works_and_the_next_takes_over_when_it_ends(tmp_path: Path) -> None:
    engine, first, second = filled(tmp_path, 1), Collector(), Collector()
    stops = [Event(), Event()]
    threads = [
        Thread(target=forwarder(engine, tmp_path, collector).run, args=(stop,))
        for collector, stop in zip((first, second), stops, strict=True)
    ]
    threads[0].start()
    until(lambda: first.batches)
    threads[1].start()
    trigger_run(engine, "tidy", "more", START)
    until(lambda: len(first.batches) == 2)
    stops[0].set()
    threads[0].join()
    assert second.batches == []
    trigger_run(engine, "tidy", "last", START)
    until(lambda: len(second.batches) == 1)
    stops[1].set()
    threads[1].join()


def test_ids_sort_by_time_and_never_repeat() -> None:
    ids = [event_id(START.replace(microsecond=number)) for number in range(2000)]
    assert ids == sorted(ids)
    assert len({event_id(START) for _ in range(2000)}) == 2000
    assert ids[0][14] == "7" and ids[0][19] in "89ab"


class Handler(BaseHTTPRequestHandler):
    answers: ClassVar[list[tuple[int, dict[str, Any], dict[str, str]]]] = []
    seen: ClassVar[list[tuple[str, str, list[dict[str, Any]]]]] = []

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.seen.append((self.path, self.headers["Authorization"], body))
        status, content, headers = self.answers.pop(0)
        data = json.dumps(content).encode()
        self.send_response(status)
        for name, value in (headers | {"Content-Length": str(len(data))}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the library's own name
        pass


@pytest.fixture
def server() -> Iterator[tuple[str, type[Handler]]]:
    class Here(Handler):
        answers: ClassVar = []
        seen: ClassVar = []

    with ThreadingHTTPServer(("127.0.0.1", 0), Here) as http:
        thread = Thread(target=http.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{http.server_port}", Here
        http.shutdown()
        thread.join()


def test_delivery_over_http_knows_every_answer(server: tuple[str, type[Handler]]) -> None:
    url, handler = server
    refusal = {"rejected": [{"index": 0, "field": "at", "error": "is required"}]}
    handler.answers = [(202, {"rejected": []}, {}), (422, refusal, {}), (429, {}, {"Retry-After": "7"}), (413, {}, {}),
                       (401, {}, {}), (202, {"odd": 1}, {})]  # fmt: skip
    deliver = http_deliver(url, "secret")
    assert deliver([{"id": "a"}]) == {}
    assert handler.seen == [("/api/v1/events", "Bearer secret", [{"id": "a"}])]
    assert deliver([{"id": "a"}]) == {0: "at: is required"}
    problems = []
    for _ in range(4):
        with pytest.raises(DeliveryError) as caught:
            deliver([{"id": "a"}, {"id": "b"}])
        problems.append((caught.value.retry_after, caught.value.too_large))
    assert problems == [(7.0, False), (None, True), (None, False), (None, False)]


def test_a_collector_that_is_down_is_a_delivery_error() -> None:
    with pytest.raises(DeliveryError, match=r"127\.0\.0\.1:9"):
        http_deliver("http://127.0.0.1:9", "secret")([{"id": "a"}])
