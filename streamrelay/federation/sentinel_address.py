"""The address of a server that Redis Sentinel keeps available: `redis+sentinel://HOST,HOST:PORT/SERVICE/DB`.

Sentinel tells which server is the primary of a service now. It is asked again for every new connection, so a node
follows a failover by connecting again, as it does after any loss. What the new primary lacks is sent again.
"""

from typing import NamedTuple
from urllib.parse import parse_qsl, unquote, urlsplit

SENTINEL_PORT = 26_379
TLS_OPTIONS = frozenset({"ssl_ca_certs", "ssl_certfile", "ssl_keyfile"})
_SENTINEL_OPTIONS = {"sentinel_username": "username", "sentinel_password": "password"}


class SentinelAddress(NamedTuple):
    """Which sentinels to ask for which service, and the options of connections to them and to the servers."""

    sentinels: tuple[tuple[str, int], ...]
    service: str
    server_options: dict[str, str | int | bool]
    sentinel_options: dict[str, str | int | bool]


def sentinel_address(url: str) -> SentinelAddress | None:
    """Return what a URL says of sentinels; None for one of a server. Raises ValueError for one that is malformed."""
    parts = urlsplit(url)
    if parts.scheme not in {"redis+sentinel", "rediss+sentinel"}:
        return None
    credentials, _, hosts = parts.netloc.rpartition("@")
    service, _, database = parts.path.strip("/").partition("/")
    if not hosts or not service or not (database or "0").isdecimal():
        raise ValueError("an address of sentinels is redis+sentinel://HOST:PORT,HOST:PORT/SERVICE/DB")
    username, _, password = map(unquote, credentials.partition(":"))
    server: dict[str, str | int | bool] = {"db": int(database or "0")}
    server |= {name: text for name, text in (("username", username), ("password", password)) if text}
    sentinel: dict[str, str | int | bool] = {}
    if parts.scheme == "rediss+sentinel":
        server["ssl"] = sentinel["ssl"] = True
    for name, text in parse_qsl(parts.query, strict_parsing=bool(parts.query)):
        if name in _SENTINEL_OPTIONS:
            sentinel[_SENTINEL_OPTIONS[name]] = text
        elif name in TLS_OPTIONS:
            server[name] = sentinel[name] = text
        else:
            raise ValueError(f"an address of sentinels has no option {name!r}")
    return SentinelAddress(
        tuple(read_host(each, SENTINEL_PORT) for each in hosts.split(",")), service, server, sentinel
    )


def read_host(text: str, default_port: int) -> tuple[str, int]:
    """Return host and port; raises ValueError for a text that names no host."""
    parts = urlsplit(f"//{text}")
    if not parts.hostname or parts.username is not None:
        raise ValueError(f"{text!r} is no host")
    return parts.hostname, default_port if parts.port is None else parts.port
