"""Connects commands to the daemon of a tmux server, required or optional."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from socket import AF_UNIX, SOCK_STREAM, socket
from typing import TYPE_CHECKING

from streamrelay.control import Tmux
from streamrelay.daemon.address import DaemonAddress, address_of
from streamrelay.daemon.instance import running_pid
from streamrelay.errors import DaemonMissing
from streamrelay.service.interface import Service

if TYPE_CHECKING:
    from streamrelay.daemon.openapi import Health


@asynccontextmanager
async def service_if_any(tmux: Tmux, *, wanted: bool = True) -> AsyncIterator[Service | None]:
    """Yield the service of a tmux server's daemon; None if none runs, or with `wanted=False`.

    A daemon serves the tmux server of its own machine.
    """
    address = address_of(tmux) if wanted and tmux.ssh is None else None
    if address is None or running_pid(address) is None:
        yield None
        return
    async with _client(address) as service:
        yield service


@asynccontextmanager
async def service_needed(tmux: Tmux) -> AsyncIterator[Service]:
    """Yield the service of a tmux server's daemon; raises DaemonMissing, whose hint starts one."""
    async with service_if_any(tmux) as service:
        if service is None:
            raise no_daemon(tmux)
        yield service


async def starting(tmux: Tmux) -> "Health | None":
    """Return the health of a tmux server's daemon that answers no call yet; None if it does or none runs."""
    address = address_of(tmux)
    if tmux.ssh is not None or running_pid(address) is None:
        return None
    from streamrelay.daemon.client import DaemonClient

    async with DaemonClient(address.socket) as client:
        health = await client.health()
    return health if health is not None and health.status == "starting" else None


def no_daemon(tmux: Tmux) -> DaemonMissing:
    """Return the error for a tmux server without a daemon."""
    server = address_of(tmux).tmux
    if tmux.ssh is None and not _is_served(server):
        return DaemonMissing(
            f"no daemon runs, and no tmux server at {server}",
            hint="start tmux first, then the daemon: streamrelay daemon start",
            data={"tmux": server},
        )
    return DaemonMissing(f"no daemon runs for the tmux server at {server}", data={"tmux": server})


def _is_served(path: str) -> bool:
    """Return whether a process listens on a unix socket."""
    with socket(AF_UNIX, SOCK_STREAM) as connection:
        try:
            connection.connect(path)
        except (FileNotFoundError, ConnectionRefusedError):
            return False
        except OSError:
            return True
    return True


@asynccontextmanager
async def _client(address: DaemonAddress) -> AsyncIterator[Service]:
    # Imported late: the HTTP client takes a while to import, and most commands do not need it.
    from streamrelay.daemon.client import DaemonClient

    async with DaemonClient(address.socket) as client:
        yield client
