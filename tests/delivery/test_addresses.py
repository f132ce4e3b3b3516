"""Channels reach nothing inside unless it is listed; only checks, and servers on this host's loopback."""

import logging
import ssl
import subprocess
from collections.abc import Sequence
from contextlib import nullcontext
from http.server import ThreadingHTTPServer
from ipaddress import ip_address
from pathlib import Path

import httpx
import pytest
from delivery.receiving import LOOPBACK, Receiver, Reply, receiver

from slo.channels.addresses import AddressError, check_url, make_client, parse_networks, redact, resolve

DENIED = [
    "127.0.0.1", "2130706433", "0x7f000001", "0177.0.0.1", "127.1", "::1", "::ffff:127.0.0.1", "169.254.169.254",
    "::ffff:169.254.169.254", "100.64.0.1", "100.100.100.200", "10.0.0.5", "172.31.255.255", "192.168.1.1", "fe80::1",
    "fc00::1", "fd00:ec2::254", "0.0.0.0", "224.0.0.1", "198.18.0.1", "192.0.2.1", "64:ff9b::7f00:1", "2002:7f00:1::",
    "localhost", "metadata.google.internal", "LOCALHOST", "localhost.", "a.localhost", "::127.0.0.1", "255.255.255.255",
    "240.0.0.1", "ff02::1", "2001:db8::1",
]  # fmt: skip
ALLOWED = ["172.32.0.1", "8.8.8.8", "2606:4700:4700::1111", "64:ff9b::808:808"]


def never(host: str, port: int) -> Sequence[str]:
    raise AssertionError(f"{host} must not be asked for")


def url_of(host: str) -> str:
    return f"https://[{host}]/hook" if ":" in host else f"https://{host}/hook"


@pytest.mark.parametrize("host", DENIED)
def test_an_inside_host_is_refused_without_asking_anyone(host: str) -> None:
    with pytest.raises(AddressError):
        check_url(url_of(host))
    with pytest.raises(AddressError):
        resolve(host.lower().rstrip("."), 443, (), never)


@pytest.mark.parametrize("host", ALLOWED)
def test_a_public_host_passes(host: str) -> None:
    assert check_url(url_of(host)).path == "/hook"
    assert resolve(host, 443, (), never) == (ip_address(host),)


@pytest.mark.parametrize("host", ["127.0.0.1", "127.1", "localhost", "::ffff:127.0.0.1"])
def test_a_listed_network_is_let_through_in_every_form(host: str) -> None:
    check_url(url_of(host), parse_networks(LOOPBACK))


@pytest.mark.parametrize(("host", "passes"), [("10.0.0.255", False), ("10.0.1.0", True), ("10.0.2.0", False)])
def test_a_listed_network_opens_itself_and_no_more(host: str, passes: bool) -> None:
    expected = nullcontext() if passes else pytest.raises(AddressError, match=r"settings\.allow_networks")
    with expected:
        check_url(url_of(host), parse_networks(["10.0.1.0/24"]))


def test_a_name_with_one_inside_answer_is_refused() -> None:
    with pytest.raises(AddressError, match=r"169\.254\.169\.254"):
        resolve("rebind.example", 443, (), lambda _host, _port: ["93.184.216.34", "169.254.169.254"])


def test_a_name_that_has_no_address_is_trouble_and_not_a_refusal() -> None:
    def unknown(host: str, port: int) -> Sequence[str]:
        raise OSError("Name or service not known")

    def empty(host: str, port: int) -> Sequence[str]:
        return []

    for lookup in (unknown, empty):
        with pytest.raises(httpx.ConnectError):
            resolve("gone.example", 443, (), lookup)


def test_the_second_answer_of_a_name_is_checked_again_and_never_connected_to() -> None:
    answers = iter([["127.0.0.1"], ["169.254.169.254"]])
    with receiver() as box, make_client(parse_networks(LOOPBACK), lookup=lambda _host, _port: next(answers)) as client:
        assert client.post(f"http://rebind.example:{box.port}/").status_code == 200
        with pytest.raises(AddressError):
            client.post(f"http://rebind.example:{box.port}/")
        assert len(box.seen) == 1


def test_a_name_with_a_dead_first_address_is_reached_by_its_second() -> None:
    allowed = parse_networks(LOOPBACK)
    with receiver() as box, make_client(allowed, lookup=lambda _host, _port: ["127.0.0.9", "127.0.0.1"]) as client:
        assert client.post(f"http://two.example:{box.port}/", content=b"x").status_code == 200
        assert box.seen[0].content == b"x"


@pytest.mark.parametrize(
    "url",
    ["https://user:pw@ok.example/", "https://user@ok.example/", "file:///etc/passwd", "ftp://ok.example/", "https:///x",
     "gopher://ok.example/", "//ok.example/", "ok.example", "https://[::1/", "http://0177.0.0.1/"],
)  # fmt: skip
def test_a_url_that_no_channel_should_have_is_refused(url: str) -> None:
    with pytest.raises(AddressError) as caught:
        check_url(url)
    assert "pw" not in str(caught.value)


def test_a_redirect_is_not_followed() -> None:
    moved = Reply(302, {"Location": "http://169.254.169.254/latest"})
    with receiver(moved) as box, make_client(parse_networks(LOOPBACK)) as client:
        assert client.post(box.url).status_code == 302
        assert len(box.seen) == 1


def test_a_proxy_of_the_environment_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:1")
    with receiver() as box, make_client(parse_networks(LOOPBACK)) as client:
        assert client.post(box.url).status_code == 200


def test_no_cookie_is_taken() -> None:
    with receiver(Reply(200, {"Set-Cookie": "a=b"})) as box, make_client(parse_networks(LOOPBACK)) as client:
        client.post(box.url)
        client.post(box.url)
        assert "cookie" not in box.seen[1].headers


def test_the_secret_part_of_a_url_is_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    with receiver() as box, make_client(parse_networks(LOOPBACK)) as client:
        client.post(box.url)
    assert "T000" not in caplog.text and "secret-part" not in caplog.text


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("https://hooks.slack.com/services/T0/B0/abcdef1234", "https://hooks.slack.com/…1234"),
        ("https://u:pw@h.example/aaaaaaaaaaaaaaaa?key=zzzz", "https://h.example/…zzzz"),
        ("http://127.0.0.1:9000/hook", "http://127.0.0.1:9000/…"),
        ("https://[::1/", "(not a URL)"),
    ],
)
def test_a_shown_url_keeps_its_secret_part(url: str, shown: str) -> None:
    assert redact(url) == shown


@pytest.fixture(scope="module")
def certificate(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("tls")
    command = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=hooks.example"]
    names = ["-addext", "subjectAltName=DNS:hooks.example"]
    files = ["-keyout", str(folder / "key.pem"), "-out", str(folder / "cert.pem")]
    subprocess.run([*command, *names, *files], check=True, capture_output=True)
    return folder


def tls_post(folder: Path, host: str) -> tuple[Receiver, list[str | None]]:
    asked: list[str | None] = []
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(folder / "cert.pem", folder / "key.pem")
    context.sni_callback = lambda _socket, name, _context: asked.append(name)

    def wrap(server: ThreadingHTTPServer) -> None:
        server.socket = context.wrap_socket(server.socket, server_side=True)

    trusting = ssl.create_default_context(cafile=str(folder / "cert.pem"))
    allowed = parse_networks(LOOPBACK)
    with receiver(wrap=wrap) as box:
        with make_client(allowed, lookup=lambda _host, _port: ["127.0.0.1"], context=trusting) as client:
            client.post(f"https://{host}:{box.port}/hook")
        return box, asked


def test_tls_and_host_keep_the_name_while_the_address_is_pinned(certificate: Path) -> None:
    box, asked = tls_post(certificate, "hooks.example")
    assert asked == ["hooks.example"]
    assert box.seen[0].headers["host"] == f"hooks.example:{box.port}"


def test_a_certificate_for_another_name_is_not_accepted(certificate: Path) -> None:
    with pytest.raises(httpx.ConnectError, match="certificate verify failed"):
        tls_post(certificate, "other.example")
