"""The address of a Redis Cluster: `redis+cluster://HOST,HOST:PORT`.

All keys of a namespace with braces are in one slot, and the master of that slot serves them like a single server. Which
one that is, any node of the cluster says (`MOVED`). It is asked again for every new connection, so a node follows a
failover or a resharding by connecting again, as it does after any loss.
"""

from typing import NamedTuple
from urllib.parse import parse_qsl, unquote, urlsplit

from streamrelay.federation.sentinel_address import TLS_OPTIONS, read_host

CLUSTER_PORT = 6_379


class ClusterAddress(NamedTuple):
    """Nodes of the cluster to ask, and the options of connections to any of its nodes."""

    nodes: tuple[tuple[str, int], ...]
    options: dict[str, str | bool]


def cluster_address(url: str) -> ClusterAddress | None:
    """Return what a URL says of a cluster; None for one of a server. Raises ValueError for one that is malformed."""
    parts = urlsplit(url)
    if parts.scheme not in {"redis+cluster", "rediss+cluster"}:
        return None
    credentials, _, hosts = parts.netloc.rpartition("@")
    if not hosts or parts.path.strip("/") not in {"", "0"}:
        raise ValueError("an address of a cluster is redis+cluster://HOST:PORT,HOST:PORT; it has database 0 only")
    username, _, password = map(unquote, credentials.partition(":"))
    options: dict[str, str | bool] = {
        name: text for name, text in (("username", username), ("password", password)) if text
    }
    if parts.scheme == "rediss+cluster":
        options["ssl"] = True
    for name, text in parse_qsl(parts.query, strict_parsing=bool(parts.query)):
        if name not in TLS_OPTIONS:
            raise ValueError(f"an address of a cluster has no option {name!r}")
        options[name] = text
    return ClusterAddress(tuple(read_host(each, CLUSTER_PORT) for each in hosts.split(",")), options)
