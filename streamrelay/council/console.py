"""The person's side of a session: what they type is carried out, and what they ask to see comes back as text."""

from collections.abc import Callable
from pathlib import Path

from streamrelay.council import commands
from streamrelay.council.export import export, spent_lines
from streamrelay.council.session import CouncilSession
from streamrelay.council.store import CouncilStore


class Console:
    """Takes lines for one session; the app and the line mode share it."""

    def __init__(self, session: CouncilSession, store: CouncilStore, write: Callable[[Path, str], None]) -> None:
        """Take what writes an exported file: it never replaces one, and raises UsageError for one that exists."""
        self.session = session
        self._store = store
        self._write = write

    async def enter(self, text: str) -> str:
        """Carry out what was typed, and return what the person asked to see.

        Raises UsageError for a command that does not exist, lacks something, or names a file that exists.
        """
        match commands.parse(text):
            case commands.Message(said, blind):
                self.session.say(said, blind=blind)
            case commands.Show("cost"):
                return "\n".join(spent_lines(await self.session.spent()))
            case commands.Show("phases"):
                now = self.session.status.phase
                phases = self.session.config.all_phases
                return "\n".join(f"{'*' if name == now else ' '} {name}: {phases[name]}" for name in phases)
            case commands.Show():
                return commands.HELP
            case commands.Export(file):
                text = await export(self._store, self.session.id, as_json=file.endswith(".json"))
                path = _path(file or f"{self.session.id}.md")
                self._write(path, text)
                return f"written: {path}"
            case told:
                self.session.tell(told)
        return ""

    def completions(self, text: str) -> list[str]:
        """Return what may stand in the place of what is typed so far."""
        return commands.completions(text, list(self.session.members), self.session.config.all_phases)


def _path(file: str) -> Path:
    return Path(file).expanduser()
