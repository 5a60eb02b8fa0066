"""A person's access to a council session that a daemon holds open (`streamrelay.council.console.Seat`)."""

from streamrelay.council import commands
from streamrelay.council.console import WriteFile, write_export
from streamrelay.council.store import CouncilStore
from streamrelay.service.api import Council
from streamrelay.service.interface import Service

_WAIT = 60.0
"""Seconds that one request waits for the end of all answers."""


class ServiceSeat:
    """The seat at one open session. This process writes files; the service does everything else."""

    def __init__(self, service: Service, council: Council, store: CouncilStore, write: WriteFile) -> None:
        self._service, self._council, self._store, self._write = service, council, store, write

    async def enter(self, text: str) -> str:
        """Execute a typed line, and return the text to show; raises UsageError (see `Seat`)."""
        match commands.parse(text):
            case commands.Export(file):
                return await write_export(self._store, self._council.council, file, self._write)
            case _:
                return (await self._service.enter_council(self._council.council, text)).shown

    async def wait_until_idle(self) -> None:
        """Wait until no member speaks, or the session has ended."""
        while not await self._service.rest_council(self._council.council, _WAIT):
            pass

    async def leave(self) -> bool:
        """End the session if this seat opened it; otherwise it continues for the others."""
        if self._council.joined:
            return False
        await self._service.enter_council(self._council.council, "/bye")
        return True
