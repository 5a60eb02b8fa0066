"""Asking the daemon of a tmux server, for the commands that need one and for those that use one when it runs."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from streamrelay.control import Tmux
from streamrelay.daemon.address import DaemonAddress, address_of
from streamrelay.daemon.instance import running_pid
from streamrelay.errors import DaemonMissing
from streamrelay.service.api import Service


@asynccontextmanager
async def service_if_any(tmux: Tmux, *, wanted: bool = True) -> AsyncIterator[Service | None]:
    """Give the service of the daemon that runs for a tmux server; None where none does, or none is wanted.

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
    """Give the service of the daemon that runs for a tmux server; raises DaemonMissing, which says how to start it."""
    async with service_if_any(tmux) as service:
        if service is None:
            raise no_daemon(tmux)
        yield service


def no_daemon(tmux: Tmux) -> DaemonMissing:
    """Return the error for a tmux server without a daemon."""
    server = address_of(tmux).tmux
    return DaemonMissing(f"no daemon runs for the tmux server at {server}", data={"tmux": server})


@asynccontextmanager
async def _client(address: DaemonAddress) -> AsyncIterator[Service]:
    # What speaks HTTP takes a while to import, and most commands never need it.
    from streamrelay.daemon.client import DaemonClient

    async with DaemonClient(address.socket) as client:
        yield client
