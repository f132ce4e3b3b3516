from datetime import timedelta
from pathlib import Path

import pytest
from definitions.reading import Write, fault_of, faults_of, job_of

from scheduler.definitions import load_folder
from scheduler.http_models import MAX_BODY, MAX_HEADER, MAX_HEADERS, MAX_URL
from scheduler.jobs import Command, HttpCall

URL = "https://reports.example/month"
A_FILE = "{file: /run/secrets/name}"


def http_of(write: Write, text: str) -> HttpCall:
    run = job_of(write, f"run: {{http: {{url: '{URL}', {text}}}}}").run
    assert run is not None
    assert run.http is not None
    return run.http


def http_fault(write: Write, text: str, url: str = URL) -> str:
    return fault_of(write, f"run: {{http: {{url: {url!r}, {text}}}}}")


def test_a_request_needs_no_more_than_its_address(write: Write) -> None:
    assert job_of(write, f"run: {{http: {{url: '{URL}'}}}}").run == Command(argv=(), http=HttpCall(url=URL))


def test_all_that_a_request_may_say_reaches_the_job(write: Write) -> None:
    text = (
        "method: PUT, headers: {X-Team: a, Authorization: {file: /run/secrets/x}, Cookie: {file: cookie}}, body: '{}',"
        " expect: [204, 200, 204], idempotency_header: X-Once"
    )
    folder = write("")
    job = job_of(write, f"run: {{http: {{url: '{URL}', {text}}}, timeout: 40m, grace: 0s}}")
    assert job.run == Command(
        argv=(),
        timeout=timedelta(minutes=40),
        grace=timedelta(0),
        http=HttpCall(
            url=URL,
            method="PUT",
            headers={"X-Team": "a"},
            secret_headers={"Authorization": "/run/secrets/x", "Cookie": str(folder / "cookie")},
            body="{}",
            expect=(200, 204),
            idempotency_header="X-Once",
        ),
    )


@pytest.mark.parametrize(
    "name",
    ["Authorization", "authorization", "Proxy-Authorization", "Cookie", "X-Api-Key", "X-ApiKey", "X-Auth-Token"],
)
def test_a_secret_header_in_plain_sight_is_refused_and_never_repeated(write: Write, name: str) -> None:
    said = http_fault(write, f"headers: {{{name}: s3cret}}")
    remedy = f"keep the value in a file and write {name}: {A_FILE}"
    assert said == f"run.http.headers: has {name} in plain sight; {remedy}"


@pytest.mark.parametrize(
    ("headers", "said"),
    [
        ("[a]", "is not a mapping"),
        ("{X: 5}", "has no usable text for X"),
        ('{X: "a\\r\\nY: b"}', "has no usable text for X"),
        ("{X: ' a'}", "has no usable text for X"),
        ("{X: é}", "has no usable text for X"),
        ("{'X Y': a}", "'X Y', which is no header's name"),
        ("{X: a, x: b}", "has x twice"),
        ("{X: {file: ''}}", "names no file for X"),
        ("{X: {path: a}}", "names no file for X"),
        ("{Content-Length: '5'}", "has Content-Length, which is set for each request"),
        ("{Traceparent: a}", "has Traceparent, which is set for each request"),
    ],
)
def test_headers_that_can_not_be_sent_are_refused(write: Write, headers: str, said: str) -> None:
    assert said in http_fault(write, f"headers: {headers}")


@pytest.mark.parametrize(
    "url",
    [*("x", "ftp://a.example/", "https://", "/path", "https://a.example:x/"), "https://a b/", "http://[::1/", ""],
)
def test_an_address_that_is_none_is_refused(write: Write, url: str) -> None:
    assert "write https://host/path" in http_fault(write, "method: GET", url)


def test_a_password_in_the_address_is_refused_and_never_repeated(write: Write) -> None:
    said = http_fault(write, "method: GET", "https://user:s3cret@a.example/")
    assert said.startswith("run.http.url: has a user or password in plain sight")
    assert "s3cret" not in said


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("method: TRACE", "run.http.method: 'TRACE' is not one of the words known here"),
        ("method: GET, body: a", "has a body with method GET"),
        ("body: 5", "is not a text of up to 100000 characters"),
        ("expect: 200", "expect"),
        ("expect: [199]", "expect"),
        ("expect: [600]", "expect"),
        ("headers: {X-Once: a}, idempotency_header: x-once", "carries the run's id"),
        ("idempotency_header: ''", "no header's name"),
        ("idempotency_header: Traceparent", "set for each request"),
        ("redirects: true", "is not a known key"),
    ],
)
def test_a_request_that_makes_no_sense_is_refused(write: Write, text: str, said: str) -> None:
    assert said in http_fault(write, text)


def test_each_bound_holds_what_is_exactly_at_it(write: Write) -> None:
    assert len(http_of(write, f"body: {'b' * MAX_BODY}").body or "") == MAX_BODY
    assert len(http_of(write, f"headers: {{X: {'x' * MAX_HEADER}}}").headers["X"]) == MAX_HEADER
    many = ", ".join(f"X{number}: a" for number in range(MAX_HEADERS))
    assert len(http_of(write, f"headers: {{{many}}}").headers) == MAX_HEADERS
    long = URL.ljust(MAX_URL, "x")
    run = job_of(write, f"run: {{http: {{url: '{long}'}}}}").run
    assert run == Command(argv=(), http=HttpCall(url=long))


@pytest.mark.parametrize(
    "text",
    [
        f"body: {'b' * (MAX_BODY + 1)}",
        f"headers: {{X: {'x' * (MAX_HEADER + 1)}}}",
        f"headers: {{{', '.join(f'X{number}: a' for number in range(MAX_HEADERS + 1))}}}",
    ],
    ids=["body", "header", "headers"],
)
def test_one_more_than_a_bound_is_refused(write: Write, text: str) -> None:
    assert http_fault(write, text)


def test_an_address_past_its_bound_is_refused(write: Write) -> None:
    assert "up to 2000 characters" in http_fault(write, "method: GET", URL.ljust(MAX_URL + 1, "x"))


@pytest.mark.parametrize("text", ["shell: false", "cwd: sub", "env: {A: b}"])
def test_what_only_a_command_has_is_refused_with_a_request(write: Write, text: str) -> None:
    said = fault_of(write, f"run: {{http: {{url: '{URL}'}}, {text}}}")
    assert said == f"run: has {text.split(':')[0]} with http, which starts no command; remove it"


def test_exit_codes_to_retry_on_are_refused_with_a_request(write: Write) -> None:
    job = f"run: {{http: {{url: '{URL}'}}}}, retry: {{on_exit: [75]}}"
    folder = write(f"defaults: {{timezone: UTC}}\n\njobs:\n  - {{id: a, {job}}}\n")
    (said,) = faults_of(folder)
    assert said.startswith("4: jobs[0].retry.on_exit")
    assert "is about exit codes, and a request has none; remove it" in said


def test_the_example_of_the_page_is_a_job_file(write: Write) -> None:
    page = (Path(__file__).parents[2] / "docs" / "jobs-http.md").read_text(encoding="utf-8")
    (job,) = load_folder(write(page.split("```yaml\n")[1].split("```")[0])).jobs
    assert job.run is not None
    assert job.run.http is not None
    assert (job.run.http.secret_headers, job.run.http.expect) == (
        {"Authorization": "/run/secrets/reports"},
        (200, 201, 204),
    )
