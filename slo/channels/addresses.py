"""Where a channel may connect to: addresses inside are refused, and the address that was checked is the one used.

A check of names misses number forms, IPv6 forms, redirects, and names that change their answer between check and
use. So the name is resolved once, every answer is checked, and the connection goes to a checked answer, while the
`Host` header and TLS keep the name. It must never show the secret part of a URL.
"""

import logging
import socket
import ssl
from collections.abc import Callable, Iterable, Sequence
from http.cookiejar import CookieJar, DefaultCookiePolicy
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network

import httpx

Address = IPv4Address | IPv6Address
Network = IPv4Network | IPv6Network
Lookup = Callable[[str, int], Sequence[str]]

TIMEOUT = httpx.Timeout(10.0, connect=5.0)
ADDRESSES_TRIED = 3
SHOWN_TAIL = 4
PUBLIC_V6 = IPv6Network("2000::/3")
NAT64 = IPv6Network("64:ff9b::/96")
METADATA = "169.254.169.254"
# Names whose answer is known without asking: a resolver must not be able to say otherwise.
KNOWN_NAMES = {"localhost": "127.0.0.1", "metadata.google.internal": METADATA, "metadata": METADATA}


class AddressError(ValueError):
    """A URL that no channel may be sent to; says why and what to do, and never shows the URL's secret part."""


def parse_networks(texts: Iterable[str]) -> tuple[Network, ...]:
    """`allow_networks` of the settings. Raises ValueError naming the entry that is no network."""
    return tuple(ip_network(text, strict=False) for text in texts)


def redact(url: str) -> str:
    """What of a URL may be shown: `scheme://host/…last4`; no more than `…` of a short path."""
    try:
        parsed = httpx.URL(url)
    except httpx.InvalidURL:
        return "(not a URL)"
    secret = parsed.raw_path.decode("ascii", "replace").lstrip("/")
    port = f":{parsed.port}" if parsed.port else ""
    tail = secret[-SHOWN_TAIL:] if len(secret) >= 3 * SHOWN_TAIL else ""
    return f"{parsed.scheme}://{parsed.host}{port}/…{tail}"


def check_url(url: str, allowed: Sequence[Network] = ()) -> httpx.URL:
    """A URL that is sound as far as it can be seen without asking for its name. Raises AddressError."""
    try:
        parsed = httpx.URL(url)
    except httpx.InvalidURL:
        raise AddressError("the channel's URL can't be read; write it like https://host/path") from None
    if parsed.scheme not in ("http", "https"):
        raise AddressError(f"{redact(url)}: only http and https are delivered to")
    if parsed.userinfo:
        raise AddressError(f"{redact(url)}: a user name or password in a URL is refused; take it out")
    host = host_of(parsed)
    if not host:
        raise AddressError("the channel's URL has no host; write it like https://host/path")
    literal = known_address(host)
    if literal is not None:
        check_addresses(host, [literal], allowed)
    return parsed


def host_of(url: httpx.URL) -> str:
    """The host as it is resolved: ASCII, lower case, without brackets and the root's dot."""
    return url.raw_host.decode("ascii").strip("[]").lower().rstrip(".")


def known_address(host: str) -> Address | None:
    """The address that a host names by itself: IPv4 in any form C libraries take, IPv6, or a name known by heart."""
    name = "localhost" if host.endswith(".localhost") else host
    text = KNOWN_NAMES.get(name, name)
    try:
        return ip_address(text)
    except ValueError:
        pass
    try:
        return IPv4Address(socket.inet_aton(text))
    except (OSError, ValueError):
        return None


def is_inside(address: Address) -> bool:
    """Whether an address is anything but public: IPv4 inside IPv6 is judged by the IPv4 address."""
    plain = _unwrap(address)
    if isinstance(plain, IPv6Address) and plain not in PUBLIC_V6:
        return True
    return not plain.is_global or plain.is_multicast or plain.is_reserved or plain.is_private


def check_addresses(host: str, addresses: Sequence[Address], allowed: Sequence[Network] = ()) -> None:
    """Raises AddressError when any of the answers is inside and not in an allowed network."""
    for address in addresses:
        plain = _mapped(address)
        if is_inside(address) and not any(plain in network for network in allowed):
            raise AddressError(f"{host} is the inside address {address}; list its network in settings.allow_networks")


def resolve(host: str, port: int, allowed: Sequence[Network], lookup: Lookup) -> tuple[Address, ...]:
    """Every address of a host, asked for once, all checked. Raises AddressError, or httpx.ConnectError for none."""
    literal = known_address(host)
    if literal is not None:
        found: tuple[Address, ...] = (literal,)
    else:
        try:
            found = tuple(dict.fromkeys(ip_address(text) for text in lookup(host, port)))
        except (OSError, UnicodeError) as error:
            raise httpx.ConnectError(f"the name {host} can't be resolved: {error}") from None
    if not found:
        raise httpx.ConnectError(f"the name {host} has no address")
    check_addresses(host, found, allowed)
    return found


def ask_system(host: str, port: int) -> list[str]:
    """The system's resolver; it has no time limit of its own beyond the one in resolv.conf."""
    return [str(answer[4][0]) for answer in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]


class PinnedTransport(httpx.BaseTransport):
    """Connects to a checked address while `Host`, SNI and the certificate's name stay those of the URL."""

    def __init__(
        self, allowed: Sequence[Network], lookup: Lookup = ask_system, context: ssl.SSLContext | None = None
    ) -> None:
        self._allowed = tuple(allowed)
        self._lookup = lookup
        self._context = context or httpx.create_ssl_context()
        self._by_host: dict[str, httpx.HTTPTransport] = {}

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Send to one of the checked addresses, the next when one can't be connected to. Raises AddressError."""
        host = host_of(request.url)
        port = request.url.port or (443 if request.url.scheme == "https" else 80)
        addresses = resolve(host, port, self._allowed, self._lookup)[:ADDRESSES_TRIED]
        failure: httpx.TransportError | None = None
        for address in addresses:
            try:
                return self._pool(host).handle_request(_pin(request, address, host))
            except (httpx.ConnectError, httpx.ConnectTimeout) as error:
                failure = error
        raise failure or httpx.ConnectError(f"the name {host} has no address")

    def close(self) -> None:
        """Close every connection."""
        for transport in self._by_host.values():
            transport.close()

    def _pool(self, host: str) -> httpx.HTTPTransport:
        # A pool is keyed by address, so two names on one address would share a connection made for the other's
        # certificate. One pool a name keeps them apart; there are as many as channels.
        return self._by_host.setdefault(host, httpx.HTTPTransport(verify=self._context))


def make_client(
    allowed: Sequence[Network],
    *,
    lookup: Lookup = ask_system,
    context: ssl.SSLContext | None = None,
    timeout: httpx.Timeout = TIMEOUT,
) -> httpx.Client:
    """The one warm client of all channels: pinned, without redirects, proxies or `.netrc`."""
    # httpx logs each request's whole URL at INFO, and a Slack URL is itself the secret.
    logging.getLogger("httpx").setLevel(logging.WARNING)
    transport = PinnedTransport(allowed, lookup, context)
    no_cookies = CookieJar(DefaultCookiePolicy(allowed_domains=[]))
    return httpx.Client(
        transport=transport, timeout=timeout, cookies=no_cookies, follow_redirects=False, trust_env=False
    )


def _pin(request: httpx.Request, address: Address, host: str) -> httpx.Request:
    return httpx.Request(
        request.method,
        request.url.copy_with(host=str(address)),
        headers=request.headers,
        stream=request.stream,
        extensions={**request.extensions, "sni_hostname": host},
    )


def _mapped(address: Address) -> Address:
    return (address.ipv4_mapped or address) if isinstance(address, IPv6Address) else address


def _unwrap(address: Address) -> Address:
    if not isinstance(address, IPv6Address):
        return address
    if address in NAT64:
        return IPv4Address(int(address) & 0xFFFFFFFF)
    return address.ipv4_mapped or address.sixtofour or address
