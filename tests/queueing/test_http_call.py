import json
import socket
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from threading import Event, Thread
from typing import Any

import pytest
from queueing.answering import Reply, Service, service
from queueing.farm import START, job, new_queue, row, said, states, until

from scheduler import clock
from scheduler.endings import Result
from scheduler.executors import http as executor
from scheduler.executors.command import Stop
from scheduler.executors.http import call
from scheduler.executors.output import HEAD_BYTES, TAIL_BYTES
from scheduler.executors.traces import traceparent
from scheduler.http_models import MAX_HEADER
from scheduler.instants import parse_instant
from scheduler.jobs import Command, HttpCall, Retry
from scheduler.queue import Claimed, trigger_run
from scheduler.worker import run_worker

RUN_ID = "tidy@2026-03-01T08:00:00Z"
MINUTE = timedelta(minutes=1)


def ask(url: str, stop: Stop | None = None, timeout: timedelta = MINUTE, grace: float = 0, **how: Any) -> Result:
    http = HttpCall(url=url, **how)
    run = Command(argv=(), timeout=timeout, grace=timedelta(seconds=grace), http=http)
    claimed = Claimed(run_id=RUN_ID, job=job(run=run), slot=START, attempt=2, fence=7, retries_used=1, worker="w1",
                      started_at=START)  # fmt: skip
    return call(claimed, run, http, stop or Stop())


def ended(result: Result) -> tuple[str, str]:
    assert result.problem is not None
    assert result.problem.exit_code is None
    return result.problem.kind, result.problem.message


@pytest.fixture
def no_waits(monkeypatch: pytest.MonkeyPatch) -> list[str | None]:
    """Polls follow at once; the list holds what each answer asked for."""
    waits: list[str | None] = []

    def at_once(answer: Any, now: datetime) -> timedelta:
        assert now.tzinfo is UTC
        waits.append(answer.retry_after)
        return timedelta(0)

    monkeypatch.setattr(executor, "poll_wait", at_once)
    return waits


def test_a_request_carries_body_headers_run_id_and_trace() -> None:
    with service(Reply(200, body=b"done\n")) as box:
        result = ask(box.url + "?month=2", method="PUT", body="é", headers={"X-Team": "a", "user-agent": "mine"})
    (asked,) = box.asked
    assert (asked.method, asked.path, asked.body) == ("PUT", "/start?month=2", "é".encode())
    wanted = {"x-team": "a", "idempotency-key": RUN_ID, "traceparent": traceparent(RUN_ID, 2), "user-agent": "mine"}
    assert asked.headers.items() >= wanted.items()
    assert (result.problem, result.output) == (None, "done\n")
    assert result.seconds is not None


def test_the_run_id_goes_into_the_header_that_the_service_knows() -> None:
    with service() as box:
        ask(box.url, idempotency_header="X-Once")
    assert box.asked[0].headers["x-once"] == RUN_ID
    assert "idempotency-key" not in box.asked[0].headers


@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"])
def test_every_method_reaches_the_service(method: str) -> None:
    with service(Reply(204)) as box:
        assert ask(box.url, method=method).problem is None
    assert [asked.method for asked in box.asked] == [method]


@pytest.mark.parametrize(
    ("status", "kind"),
    [
        *((status, None) for status in (200, 201, 202, 204, 299)),
        *((status, "permanent") for status in (300, 304, 400, 401, 404, 407, 409, 424, 426, 428, 430, 499, 600)),
        *((status, "temporary") for status in (408, 425, 429, 500, 502, 503, 504, 599)),
    ],
)
def test_each_status_of_a_real_service_is_told_apart(status: int, kind: str | None) -> None:
    with service(Reply(status)) as box:
        problem = ask(box.url).problem
    assert (problem and problem.kind) == kind
    assert problem is None or str(status) in problem.message


def test_a_redirect_is_not_followed_and_is_said() -> None:
    with service(Reply(307, {"Location": "/elsewhere"})) as box:
        kind, message = ended(ask(box.url))
    assert [asked.path for asked in box.asked] == ["/start"]
    says = "the service answered 307 Temporary Redirect, to '/elsewhere'; redirects are not followed: change `url`"
    assert (kind, message) == ("permanent", says)


@pytest.mark.parametrize(("status", "seconds"), [(429, 90), (503, 90), (500, 0), (404, 0)])
def test_a_wish_to_be_left_alone_is_handed_on(status: int, seconds: int) -> None:
    with service(Reply(status, {"Retry-After": "90"})) as box:
        assert ask(box.url).retry_after == timedelta(seconds=seconds)


def test_nobody_at_the_address_is_temporary() -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        kind, message = ended(ask(f"http://127.0.0.1:{free.getsockname()[1]}/"))
    assert (kind, message.partition(":")[0]) == ("temporary", "no whole answer came")


def test_a_connection_that_breaks_before_the_answer_is_temporary() -> None:
    with service(Reply(act="close")) as box:
        assert ended(ask(box.url))[0] == "temporary"


def test_a_plain_service_behind_an_https_address_is_temporary() -> None:
    with service() as box:
        assert ended(ask(box.url.replace("http:", "https:")))[0] == "temporary"


def test_an_address_that_no_host_can_have_is_permanent() -> None:
    assert ended(ask("http://\N{ZERO WIDTH SPACE}.example/")) == (
        *("permanent", "the request could not be made: InvalidURL; look at `url`"),
    )


def test_a_service_that_never_answers_is_a_timeout() -> None:
    with service(Reply(act="hang")) as box:
        found = ended(ask(box.url, timeout=timedelta(milliseconds=300)))
    assert found == ("timeout", "the service gave no final answer within 300ms")


def test_an_answer_cut_off_by_the_timeout_keeps_what_came() -> None:
    with service(Reply(200, body=b"begun", act="stall")) as box:
        result = ask(box.url, timeout=timedelta(seconds=3))
    assert (ended(result)[0], result.output) == ("timeout", "begun")


def test_a_long_answer_is_kept_within_the_bound_of_a_commands_output() -> None:
    body = b"a" * HEAD_BYTES + b"b" * 100_000 + b"c" * TAIL_BYTES
    with service(Reply(200, body=body)) as box:
        text = ask(box.url).output
    assert text == "a" * HEAD_BYTES + "\n[100000 bytes left out]\n" + "c" * TAIL_BYTES


def test_an_answer_that_is_no_text_is_kept_as_text() -> None:
    with service(Reply(500, body=b"\xff\0ok")) as box:
        assert ask(box.url).output == "\ufffd\ufffdok"


def test_a_small_answer_is_not_asked_to_unpack_to_a_large_one() -> None:
    with service() as box:
        ask(box.url)
    assert box.asked[0].headers["accept-encoding"] == "identity"


@pytest.mark.parametrize(
    "first",
    [
        Reply(202, {"Location": "/jobs/7", "Retry-After": "9"}),
        Reply(202, {"Retry-After": "9"}, b'{"status_url": "/jobs/7"}'),
    ],
    ids=["location", "body"],
)
def test_an_accepted_request_is_asked_for_until_it_is_over(first: Reply, no_waits: list[str | None]) -> None:
    later = Reply(202, {"Retry-After": "11"}, b"at work"), Reply(202), Reply(200, body=b"made 5")
    with service(first, *later) as box:
        result = ask(box.url, body="x", headers={"X-Team": "a"}, expect=(200,))
    assert (result.problem, result.output) == (None, "made 5")
    assert [(asked.method, asked.path) for asked in box.asked] == [("POST", "/start"), *[("GET", "/jobs/7")] * 3]
    assert {asked.headers["x-team"] for asked in box.asked} == {"a"}
    assert [asked.body for asked in box.asked] == [b"x", b"", b"", b""]
    assert no_waits == ["9", "11", None]


@pytest.mark.usefixtures("no_waits")
@pytest.mark.parametrize(("status", "kind"), [(500, "temporary"), (303, "permanent"), (404, "permanent")])
def test_a_status_that_ends_badly_is_the_end_of_the_attempt(status: int, kind: str) -> None:
    with service(Reply(202, {"Location": "/jobs/7"}), Reply(status)) as box:
        found = ended(ask(box.url))
    assert found[0] == kind
    assert found[1].startswith(f"the status address answered {status}")


def test_a_status_that_never_comes_is_a_timeout() -> None:
    with service(Reply(202, {"Location": "/jobs/7"}, b"queued")) as box:
        result = ask(box.url, timeout=timedelta(seconds=3))
    assert (ended(result)[0], result.output) == ("timeout", "queued")


def test_who_expects_202_is_content_with_it() -> None:
    with service(Reply(202, {"Location": "/jobs/7"})) as box:
        assert ask(box.url, expect=(200, 202)).problem is None
    assert len(box.asked) == 1


def test_an_accepted_request_without_an_address_is_a_success_only_when_202_may_be() -> None:
    with service(Reply(202)) as box:
        assert ask(box.url).problem is None
        assert ended(ask(box.url, expect=(200,))) == ("permanent", "the service answered 202 Accepted")


def test_headers_never_go_to_a_status_address_on_another_port() -> None:
    with service() as other, service(Reply(202, {"Location": other.url})) as box:
        kind, message = ended(ask(box.url))
    assert (kind, other.asked) == ("permanent", [])
    assert "status address on another host or port" in message


STOPS: list[tuple[Callable[[Stop], Event], str]] = [
    (lambda stop: stop.soft, "the request was ended with its worker"),
    (lambda stop: stop.hard, "the request was ended with its worker"),
    (lambda stop: stop.replaced, "the request was ended for a newer run of its job"),
]
WAITS = [Reply(act="hang"), Reply(act="stall"), Reply(202, {"Location": "/jobs/7", "Retry-After": "30"})]


@pytest.mark.parametrize(("which", "message"), STOPS, ids=["soft", "hard", "replaced"])
@pytest.mark.parametrize("reply", WAITS, ids=["answer", "body", "status"])
def test_a_stop_ends_a_request_wherever_it_waits(which: Callable[[Stop], Event], message: str, reply: Reply) -> None:
    stop = Stop()
    with service(reply) as box:
        found = begin(box, stop)
        which(stop).set()
        assert ended(until(lambda: found[0] if found else None)) == ("interrupted", message)


def begin(box: Service, stop: Stop, grace: float = 0) -> list[Result]:
    """A request under way in a thread of its own, which the service has; the list gets its result."""
    found: list[Result] = []
    thread = Thread(target=lambda: found.append(ask(box.url, stop, timedelta(minutes=10), grace)), daemon=True)
    thread.start()
    until(lambda: box.asked)
    return found


@pytest.mark.parametrize("which", [lambda stop: stop.soft, lambda stop: stop.replaced], ids=["soft", "replaced"])
def test_a_request_that_answers_within_its_grace_counts(which: Callable[[Stop], Event]) -> None:
    stop = Stop()
    which(stop).set()
    with service(Reply(200, body=b"done")) as box:
        assert ask(box.url, stop, grace=30).output == "done"


def test_a_drain_waits_no_longer_than_it_can_whatever_the_grace(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(executor, "STOP_GRACE_SECONDS", 0.2)
    stop = Stop()
    with service(Reply(act="hang")) as box:
        found = begin(box, stop, grace=3000)
        stop.soft.set()
        assert ended(until(lambda: found[0] if found else None))[0] == "interrupted"


def test_a_lost_lease_leaves_a_request_no_grace() -> None:
    stop = Stop()
    with service(Reply(act="hang")) as box:
        found = begin(box, stop, grace=3000)
        stop.replaced.set()
        stop.hard.set()
        assert ended(until(lambda: found[0] if found else None))[0] == "interrupted"


def test_a_secret_is_read_anew_for_each_request(tmp_path: Path) -> None:
    secret = tmp_path / "token"
    with service() as box:
        for text in ("Bearer one\n", "Bearer two\r\n"):
            secret.write_text(text)
            assert ask(box.url, secret_headers={"Authorization": str(secret)}).problem is None
    assert [asked.headers["authorization"] for asked in box.asked] == ["Bearer one", "Bearer two"]


@pytest.mark.parametrize(
    "content", [b"", b"\n", b"a\nb", b"s3cret\0", b"\xff\xfe", "é".encode(), b"x" * (MAX_HEADER + 1)]
)
def test_a_secret_that_can_not_be_sent_is_named_by_its_file_alone(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "token").write_bytes(content)
    with service() as box:
        kind, message = ended(ask(box.url, secret_headers={"Cookie": str(tmp_path / "token")}))
    assert (kind, box.asked) == ("permanent", [])
    assert str(tmp_path / "token") in message
    assert "s3cret" not in message


def test_a_secret_that_is_not_there_says_which_file_to_mend(tmp_path: Path) -> None:
    kind, message = ended(ask("http://127.0.0.1:1/", secret_headers={"Cookie": str(tmp_path / "none")}))
    where = str(tmp_path / "none")
    says = f"the file '{where}' for the header Cookie can't be read: No such file or directory; mend the file"
    assert (kind, message) == ("permanent", says)


def work(folder: Path, done: Callable[[], Any], **how: timedelta) -> Any:
    """A real worker on the folder's queue until something is true."""
    stop = Event()
    thread = Thread(target=run_worker, args=(folder / "queue.db", "w1", 2, stop), kwargs=how)
    thread.start()
    try:
        return until(done)
    finally:
        stop.set()
        thread.join()


def test_a_run_by_request_goes_through_queue_and_worker_with_one_key_over_all_attempts(tmp_path: Path) -> None:
    replies = Reply(503), Reply(act="close"), Reply(202, {"Location": "/jobs/7"}), Reply(200, body=b'{"rows": 5}')
    with service(*replies) as box:
        run = Command(argv=(), timeout=MINUTE, http=HttpCall(url=box.url, body=json.dumps({"month": 2})))
        engine = new_queue(tmp_path, job(run=run, retry=Retry(attempts=3, initial=timedelta(0))))
        trigger_run(engine, "tidy", "k", clock.now())
        work(tmp_path, lambda: states(engine) == {"tidy!k": "succeeded"})
    assert [event["type"] for event in said(engine)] == [
        *("queued", "started", "retrying", "started", "retrying", "started", "succeeded")
    ]
    assert [(asked.method, asked.path) for asked in box.asked] == [*[("POST", "/start")] * 3, ("GET", "/jobs/7")]
    assert {asked.headers["idempotency-key"] for asked in box.asked} == {"tidy!k"}
    traces = [asked.headers["traceparent"] for asked in box.asked]
    assert traces == [traceparent("tidy!k", number) for number in (1, 2, 3, 3)]
    assert row(engine, "tidy!k")["output_tail"] == '{"rows": 5}'


def test_a_service_that_asks_to_be_left_alone_is_not_asked_again_before(tmp_path: Path) -> None:
    with service(Reply(429, {"Retry-After": "1800"}, b"slow down")) as box:
        run = Command(argv=(), timeout=MINUTE, http=HttpCall(url=box.url))
        engine = new_queue(tmp_path, job(run=run, retry=Retry(attempts=3, initial=timedelta(0))))
        trigger_run(engine, "tidy", "k", clock.now())
        (retrying,) = work(tmp_path, lambda: said(engine, "retrying"))
    assert len(box.asked) == 1
    wait = parse_instant(retrying["data"]["retry_at"]) - parse_instant(retrying["at"])
    assert wait == timedelta(minutes=30)
    assert retrying["data"]["error"] == {"kind": "temporary", "message": "the service answered 429 Too Many Requests"}
    assert states(engine) == {"tidy!k": "queued"}


def test_a_drain_ends_a_request_and_gives_its_run_back_unharmed(tmp_path: Path) -> None:
    with service(Reply(act="hang")) as box:
        run = Command(argv=(), timeout=MINUTE, grace=timedelta(0), http=HttpCall(url=box.url))
        engine = new_queue(tmp_path, job(run=run))
        trigger_run(engine, "tidy", "k", clock.now())
        work(tmp_path, lambda: box.asked, grace=timedelta(0))
    found = row(engine, "tidy!k")
    assert (found["state"], found["retries_used"], found["attempt"]) == ("queued", 0, 1)
    assert said(engine, "retrying")[0]["data"]["error"]["kind"] == "interrupted"
