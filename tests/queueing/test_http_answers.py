from datetime import timedelta

import pytest
from queueing.farm import START

from scheduler.executors.http_answers import (
    LONGEST,
    AddressError,
    Answer,
    failure_of,
    poll_wait,
    status_address,
    wait_asked,
)
from scheduler.jobs import Retry
from scheduler.policy import after_failure
from scheduler.retry_after import parse_retry_after

SECOND, HOUR = timedelta(seconds=1), timedelta(hours=1)
URL = "https://a.example/v1/start?x=1"


def kind(status: int, *expect: int) -> str:
    failure = failure_of(Answer(status), expect)
    return "success" if failure is None else failure[0]


@pytest.mark.parametrize(
    ("status", "meant"),
    [
        (200, "success"),
        (202, "success"),
        (299, "success"),
        *((status, "permanent") for status in (300, 301, 399, 400, 401, 404, 407)),
        (408, "temporary"),
        *((status, "permanent") for status in (409, 424)),
        (425, "temporary"),
        *((status, "permanent") for status in (426, 428)),
        (429, "temporary"),
        *((status, "permanent") for status in (430, 499)),
        (500, "temporary"),
        (501, "temporary"),
        (599, "temporary"),
        (600, "permanent"),
        (999, "permanent"),
    ],
)
def test_a_status_says_whether_another_attempt_is_worth_it(status: int, meant: str) -> None:
    assert kind(status) == meant


@pytest.mark.parametrize(
    ("status", "expect", "meant"),
    [
        (200, (200,), "success"),
        (201, (200,), "permanent"),
        (404, (200, 404), "success"),
        (503, (503,), "success"),
        (302, (302,), "success"),
        (500, (503,), "temporary"),
    ],
)
def test_what_the_file_expects_is_success_and_nothing_else(status: int, expect: tuple[int, ...], meant: str) -> None:
    assert kind(status, *expect) == meant


def test_a_redirect_says_where_it_leads_and_hides_its_query() -> None:
    found = failure_of(Answer(302, location="https://b.example/x?token=s3cret"), ())
    says = "the service answered 302 Found, to 'https://b.example/x'; redirects are not followed: change `url`"
    assert found == ("permanent", says)


def test_an_unknown_status_is_told_by_its_number_alone() -> None:
    assert failure_of(Answer(599, polled=True), ()) == ("temporary", "the status address answered 599")


@pytest.mark.parametrize(
    ("header", "seconds"),
    [
        ("0", 0),
        ("1", 1),
        (" 120 ", 120),
        ("999999999999", LONGEST.total_seconds()),
        ("Sun, 01 Mar 2026 08:01:00 GMT", 60),
        ("Sun, 01 Mar 2026 08:00:00 GMT", 0),
        ("Sun, 01 Mar 2026 07:59:59 GMT", 0),
        ("Fri, 31 Dec 9999 23:59:59 GMT", LONGEST.total_seconds()),
    ],
)
def test_retry_after_is_read_as_seconds_or_as_a_date(header: str, seconds: float) -> None:
    assert parse_retry_after(header, START, LONGEST) == timedelta(seconds=seconds)


@pytest.mark.parametrize("header", [None, "", "soon", "-1", "1.5", "²", "Sun, 99 Mar 2026 08:01:00 GMT"])
def test_what_is_no_time_to_wait_is_passed_over(header: str | None) -> None:
    assert parse_retry_after(header, START, LONGEST) is None


@pytest.mark.parametrize(("status", "seconds"), [(429, 7), (503, 7), (500, 0), (408, 0), (404, 0), (200, 0)])
def test_only_429_and_503_put_the_next_attempt_off(status: int, seconds: int) -> None:
    assert wait_asked(Answer(status, retry_after="7"), START) == timedelta(seconds=seconds)


@pytest.mark.parametrize(
    ("header", "seconds"), [(None, 2), ("soon", 2), ("0", 1), ("1", 1), ("2", 2), ("29", 29), ("30", 30), ("31", 30)]
)
def test_the_status_is_asked_for_every_1_to_30_seconds(header: str | None, seconds: int) -> None:
    assert poll_wait(Answer(202, retry_after=header), START) == timedelta(seconds=seconds)


@pytest.mark.parametrize(
    ("asked", "most", "delay"),
    [
        (timedelta(0), timedelta(minutes=5), 5 * SECOND),
        (4 * SECOND, timedelta(minutes=5), 5 * SECOND),
        (6 * SECOND, timedelta(minutes=5), 6 * SECOND),
        (HOUR - SECOND, timedelta(minutes=5), HOUR - SECOND),
        (HOUR, timedelta(minutes=5), HOUR),
        (HOUR + SECOND, timedelta(minutes=5), HOUR),
        (3 * HOUR, 2 * HOUR, 2 * HOUR),
    ],
)
def test_a_retry_waits_as_asked_but_not_for_ever(asked: timedelta, most: timedelta, delay: timedelta) -> None:
    then = after_failure(Retry(attempts=2, max=most), "temporary", 0, 1.0, asked=asked)
    assert (then.again, then.delay) == (True, delay)


@pytest.mark.parametrize("kind", ["interrupted", "permanent"])
def test_what_is_no_retry_waits_for_nobody(kind: str) -> None:
    assert after_failure(Retry(attempts=2), kind, 0, 1.0, asked=HOUR).delay == timedelta(0)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("answer", "address"),
    [
        (Answer(202, location="/jobs/7"), "https://a.example/jobs/7"),
        (Answer(202, location="jobs/7#top"), "https://a.example/v1/jobs/7"),
        (Answer(202, location="https://a.example:443/jobs/7?y=2"), "https://a.example:443/jobs/7?y=2"),
        (Answer(202, body='{"status_url": "/jobs/8"}'), "https://a.example/jobs/8"),
        (Answer(202, location="/jobs/7", body='{"status_url": "/jobs/8"}'), "https://a.example/jobs/7"),
        (Answer(202), None),
        (Answer(202, body='{"status_url": 8}'), None),
        (Answer(202, body='["status_url"]'), None),
        (Answer(202, body="[" * 100_000), None),
        (Answer(202, body='{"status_url": "/jobs'), None),
    ],
)
def test_an_accepted_request_names_where_to_ask(answer: Answer, address: str | None) -> None:
    assert status_address(URL, answer) == address


@pytest.mark.parametrize(
    "location",
    ["https://b.example/", "http://a.example/", "https://a.example:444/", "//b.example/", "https://a.example:x/"],
)
def test_a_status_address_elsewhere_is_not_asked(location: str) -> None:
    with pytest.raises(AddressError, match="status address"):
        status_address(URL, Answer(202, location=location))
