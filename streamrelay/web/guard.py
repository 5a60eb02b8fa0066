"""Which requests are answered on a port that every program and web page of this machine can reach. Pure.

A loopback port keeps out other machines only. Other users' programs can connect to it, and every page in a browser can
have requests sent to it. So each request has to pass these checks, in this order:

* `Host` is a name of ours. A foreign page whose name resolves to this machine (DNS rebinding) sends its own name, so it
  has another origin.
* `Origin`, if there is one, equals `Host`, and `Sec-Fetch-Site` names no other site: foreign pages get no answer,
  whatever they know.
* Each request that reads or changes data needs the token, as `Authorization: Bearer TOKEN`. It is no cookie: a browser
  sends those to every port of a host, so another user's server on this machine would get ours, and it sends them
  along with requests that a stranger's page makes.
* What is posted is said to be JSON: no form can say that.

Without a token there is only the page itself, which knows nothing.
"""

import hmac
import ipaddress
from collections.abc import Collection, Iterable, Mapping
from typing import NamedTuple

_SCRIPT = "text/javascript; charset=utf-8"
FILES: Mapping[str, tuple[str, str]] = {
    "/": ("page.html", "text/html; charset=utf-8"),
    **{
        f"/{name}": (name, _SCRIPT)
        for name in (
            "page.js",
            "asking.js",
            "circle.js",
            "composer.js",
            "council.js",
            "drawing.js",
            "home.js",
            "machines.js",
            "session.js",
        )
    },
    "/page.css": ("page.css", "text/css; charset=utf-8"),
    "/icon.svg": ("icon.svg", "image/svg+xml"),
}
"""What is given to everybody: paths, files, media types."""
HEADERS: Mapping[str, str] = {
    # Nothing from anywhere else, nothing inline, no markup made of text (trusted types), and in no frame.
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
        "require-trusted-types-for 'script'; trusted-types 'none'"
    ),
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "cache-control": "no-store",
}
"""What every answer carries."""
MAX_BODY_SIZE = 2**20
"""Bytes that a request may bring along."""
_ONCE = frozenset({"host", "content-length", "origin", "authorization", "content-type", "sec-fetch-site"})
_LOOPBACK = ("127.0.0.1", "localhost", "[::1]")
_ELSEWHERE = frozenset({"cross-site", "same-site"})


class RequestRefusal(NamedTuple):
    """Why a request is not answered."""

    status: int
    code: str
    message: str
    hint: str = ""


class Listen(NamedTuple):
    """Where the page is served."""

    host: str
    """An address or a name of this machine; an IPv6 address without brackets."""
    port: int

    @property
    def written(self) -> str:
        """The form in an address."""
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"

    @property
    def address(self) -> str:
        """What a browser on this machine is given."""
        return f"http://{self._replace(host='127.0.0.1').written if _is_any(self.host) else self.written}/"


def parse_listen(text: str) -> Listen:
    """Parse `[HOST:]PORT`; the host is loopback by default. Raises ValueError."""
    host, _, port = text.rpartition(":")
    if host.startswith("[") and host.endswith("]"):
        host = str(ipaddress.IPv6Address(host[1:-1]))
    elif ":" in host:
        raise ValueError(f"{text!r}: an IPv6 address stands in brackets, as in [::1]:7717")
    if not (port.isascii() and port.isdecimal() and int(port) <= 65535):
        raise ValueError(f"{text!r} does not end in a port")
    return Listen(host or "127.0.0.1", int(port))


class Guard:
    """Judges requests for a page that is served at `listen`; `names` are further names that it is reached by."""

    def __init__(self, listen: Listen, token: str, names: Collection[str] = ()) -> None:
        port = listen.port
        hosts = {f"{name}:{port}" for name in (*_LOOPBACK, *names)} | {listen.written, *names}
        self._hosts = frozenset(host.lower() for host in hosts)
        self._any_address = _is_any(listen.host)
        self._port = port
        self._token = token.encode()

    def refusal(self, method: str, path: str, headers: Iterable[tuple[bytes, bytes]]) -> RequestRefusal | None:
        """Return why a request is not answered; None for one that is."""
        named: dict[str, str] = {}
        for raw, value in headers:
            name = raw.decode("latin-1").lower()
            if name in named and name in _ONCE:
                return RequestRefusal(400, "usage", f"more than one {name} header")
            named[name] = value.decode("latin-1")
        host = named.get("host", "").lower()
        if not self._is_ours(host):
            return RequestRefusal(
                421, "wrong_host", "this server does not have that name", "web.names lists the names that are accepted"
            )
        origin = named.get("origin")
        if origin is not None and origin.lower() not in {f"http://{host}", f"https://{host}"}:
            return RequestRefusal(403, "wrong_origin", "a page of another origin is not answered")
        if path in FILES:
            return None if method in {"GET", "HEAD"} else RequestRefusal(405, "usage", f"{method} is not for {path}")
        if named.get("sec-fetch-site", "") in _ELSEWHERE:
            return RequestRefusal(403, "wrong_origin", "a page of another site is not answered")
        scheme, _, token = named.get("authorization", "").partition(" ")
        # Compared in constant time: an attacker must not measure how much of it was right.
        if scheme.lower() != "bearer" or not hmac.compare_digest(token.strip().encode(), self._token):
            return RequestRefusal(
                401, "unauthorized", "the token is missing or wrong", "`streamrelay web` prints the address"
            )
        media_type = named.get("content-type", "").partition(";")[0].strip().lower()
        if method not in {"GET", "HEAD"} and media_type != "application/json":
            return RequestRefusal(415, "usage", "what is sent is to be application/json")
        length = named.get("content-length", "0")
        if not length.isdecimal() or int(length) > MAX_BODY_SIZE:
            return RequestRefusal(413, "usage", f"more than {MAX_BODY_SIZE} bytes")
        return None

    def _is_ours(self, host: str) -> bool:
        if host in self._hosts:
            return True
        # Served at every address, it is reached by all of them; an address is nothing that a stranger can rebind.
        name, _, port = host.rpartition(":")
        return self._any_address and port == str(self._port) and _is_address(name)


def _is_any(host: str) -> bool:
    return host in {"0.0.0.0", "::"}  # noqa: S104  # compared, not listened at


def _is_address(host: str) -> bool:
    bare = host[1:-1] if host.startswith("[") and host.endswith("]") else host
    try:
        version = ipaddress.ip_address(bare).version
    except ValueError:
        return False
    return (version == 6) == (bare != host)
