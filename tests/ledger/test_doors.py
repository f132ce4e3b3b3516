import socket

import httpx
import pytest
from ledger.serving import PATIENCE, Service

ROUTES = [
    ("GET", "/healthz", "nobody"),
    ("GET", "/readyz", "nobody"),
    ("GET", "/metrics", "nobody"),
    ("GET", "/api/v1/jobs", "viewer"),
    ("GET", "/api/v1/jobs/own/why?at=2026-01-01T00:00:00Z", "viewer"),
    ("GET", "/api/v1/runs/own!x/why", "viewer"),
    ("GET", "/api/v1/slots", "viewer"),
    ("GET", "/api/v1/runs", "viewer"),
    ("GET", "/api/v1/queues", "viewer"),
    ("GET", "/api/v1/queues/default/scaling", "viewer"),
    ("GET", "/api/v1/slos", "viewer"),
    ("GET", "/api/v1/alerts", "viewer"),
    ("GET", "/api/v1/status", "viewer"),
    ("GET", "/api/v1/dead", "viewer"),
    ("GET", "/api/v1/dead/x", "viewer"),
    ("GET", "/docs", "viewer"),
    ("GET", "/openapi.json", "viewer"),
    ("GET", "/no/such/route", "viewer"),
    ("POST", "/api/v1/events", "ingest"),
    ("POST", "/api/v1/jobs/own/runs", "admin"),
    ("POST", "/api/v1/dead/x/redrive", "admin"),
    ("POST", "/api/v1/dead/x/discard", "admin"),
    ("DELETE", "/api/v1/jobs", "admin"),
    ("PUT", "/no/such/route", "admin"),
]
LET_IN = {
    "nobody": {"nobody", "unknown", "ingest", "dashboard", "admin"},
    "viewer": {"dashboard", "admin"},
    "ingest": {"ingest", "admin"},
    "admin": {"admin"},
}
CALLERS = ("nobody", "unknown", "ingest", "dashboard", "admin")


def call(service: Service, method: str, path: str, caller: str) -> httpx.Response:
    tokens = {"nobody": {}, "unknown": {"Authorization": "Bearer " + "x" * 43}}
    headers = tokens[caller] if caller in tokens else service.headers(caller)
    return httpx.request(method, service.url + path, headers=headers, timeout=PATIENCE)


@pytest.mark.parametrize("caller", CALLERS)
@pytest.mark.parametrize(("method", "path", "need"), ROUTES)
def test_each_route_lets_in_those_with_its_role_and_nobody_else(
    service: Service, method: str, path: str, need: str, caller: str
) -> None:
    answer = call(service, method, path, caller)
    if caller in LET_IN[need]:
        assert answer.status_code not in (401, 403)
        return
    assert answer.status_code == (401 if caller in ("nobody", "unknown") else 403)
    assert answer.headers["content-type"] == "application/problem+json"
    assert f"role {need}" in answer.json()["detail"]


def test_a_rotated_token_takes_effect_without_a_restart(service: Service) -> None:
    path, old = service.var / "tokens" / "dashboard", service.token("dashboard")
    path.write_text("rotated-token\n")
    try:
        assert call(service, "GET", "/api/v1/jobs", "dashboard").status_code == 200
        stale = httpx.get(service.url + "/api/v1/jobs", headers={"Authorization": f"Bearer {old}"}, timeout=PATIENCE)
        assert stale.status_code == 401
    finally:
        path.write_text(old + "\n")


def test_token_files_and_stores_are_the_owners_alone(service: Service) -> None:
    files = [*(service.var / "tokens").iterdir(), service.var / "ledger.db", service.var / "queue.db"]
    assert {path.name: path.stat().st_mode & 0o777 for path in files} == {path.name: 0o600 for path in files}


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "localhost:1", "[::1]:8080", socket.gethostname()])
def test_a_host_that_names_this_service_is_answered(service: Service, host: str) -> None:
    assert httpx.get(service.url + "/healthz", headers={"Host": host}, timeout=PATIENCE).status_code == 200


@pytest.mark.parametrize("host", ["evil.example", "localhost.evil.example", "127.0.0.1.evil.example", "a:b:c", "[x]"])
def test_a_foreign_host_is_refused_before_anything_else(service: Service, host: str) -> None:
    answer = httpx.get(service.url + "/healthz", headers={"Host": host}, timeout=PATIENCE)
    assert answer.status_code == 421
    assert answer.headers["content-type"] == "application/problem+json"


@pytest.mark.parametrize("path", ["/healthz", "/api/v1/jobs", "/no/such/route"])
def test_every_answer_carries_the_security_headers(service: Service, path: str) -> None:
    headers = call(service, "GET", path, "admin").headers
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["x-frame-options"] == "DENY"
    assert "default-src 'none'" in headers["content-security-policy"]


@pytest.mark.parametrize(
    ("method", "path", "status"),
    [
        ("GET", "/no/such/route", 404),
        ("DELETE", "/api/v1/jobs", 405),
        ("GET", "/api/v1/runs?limit=0", 422),
        ("GET", "/api/v1/runs?cursor=x", 422),
        ("GET", "/api/v1/slots?from=now", 422),
        ("GET", "/api/v1/slots?until=2999-01-01T00:00:00Z", 422),
        ("POST", "/api/v1/jobs/nobody-knows-it/runs", 404),
        ("POST", "/api/v1/dead/x/redrive", 422),
    ],
)
def test_every_error_is_a_problem_document(service: Service, method: str, path: str, status: int) -> None:
    answer = call(service, method, path, "admin")
    assert answer.status_code == status
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["status"] == status and answer.json()["detail"]
