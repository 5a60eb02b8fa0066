"""A person's side of a session: executes the typed text, and returns text that the person asked to see."""

from collections.abc import Callable
from pathlib import Path
from typing import Protocol

from streamrelay.council import commands, coordinator
from streamrelay.council.export import export, spent_lines
from streamrelay.council.session import CouncilSession
from streamrelay.council.store import CouncilStore

WriteFile = Callable[[Path, str], None]
"""Writes an exported file: it never replaces one, and raises UsageError for one that exists."""


class Seat(Protocol):
    """A person's access to a session, in this process or in a daemon; the app and the plain lines use it."""

    async def enter(self, text: str) -> str:
        """Execute a typed line, and return the text that the person asked to see.

        Raises UsageError for a command that does not exist, lacks something, or names a file that exists.
        """
        ...

    async def wait_until_idle(self) -> None:
        """Wait until all input is handled and no member speaks, or the session has ended."""
        ...

    async def leave(self) -> bool:
        """Leave the session; return whether that ends it."""
        ...


class Console:
    """The seat in a session of this process."""

    def __init__(self, session: CouncilSession, store: CouncilStore, write: WriteFile) -> None:
        self.session = session
        self._store = store
        self._write = write

    async def enter(self, text: str) -> str:
        """See `Seat`."""
        match commands.parse(text):
            case commands.Message(said, blind):
                await self.session.until_stored(self.session.say(said, blind=blind))
            case commands.Show("cost"):
                return "\n".join(spent_lines(await self.session.spent()))
            case commands.Show("phases"):
                now = self.session.status.phase
                phases = self.session.config.all_phases
                return "\n".join(f"{'*' if name == now else ' '} {name}: {phases[name]}" for name in phases)
            case commands.Show():
                return commands.HELP
            case commands.Export(file):
                return await write_export(self._store, self.session.id, file, self._write)
            case command:
                self.session.submit(command)
        return ""

    async def wait_until_idle(self) -> None:
        """See `Seat`."""
        await self.session.wait_until_idle()

    async def leave(self) -> bool:
        """End the session, which can be resumed."""
        self.session.submit(coordinator.Bye())
        return True


async def write_export(store: CouncilStore, session: str, file: str, write: WriteFile) -> str:
    """Write a session to a file, by default one named after it; return the sentence to show."""
    text = await export(store, session, as_json=file.endswith(".json"))
    path = _path(file or f"{session}.md")
    write(path, text)
    return f"written: {path}"


def _path(file: str) -> Path:
    return Path(file).expanduser()
