"""Installs, finds and removes stop hooks in agents' configurations.

After `remove`, every byte of a configuration is as if the hook had never been installed, whatever other changes were
made meanwhile. A separate file records what was created for a hook (a file, a list), but no content of the
configuration.
"""

import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec
import regex

from streamrelay.agents import notify_file, settings_file
from streamrelay.agents.files import change, located, read_text
from streamrelay.agents.jsonc import JsonError
from streamrelay.agents.notify_file import TomlError
from streamrelay.agents.profile import AgentProfile, StopHook
from streamrelay.agents.settings_file import Made
from streamrelay.errors import ConfigError, StorageError, UsageError

_NOTES = "hooks.json"


class _Note(msgspec.Struct):
    """The parts that were created for the hook in one file."""

    made: list[Made] = []
    folders: list[str] = []


@dataclass(frozen=True, slots=True)
class InstalledHook:
    """The state of our hook in an agent's configuration; `command` is None if it is not installed."""

    agent: str
    file: Path
    event: str
    command: str | None


class StopHooks:
    """The stop hooks of all agents with a profile; `folder` keeps the notes."""

    def __init__(self, profiles: Sequence[AgentProfile], folder: Path) -> None:
        self._hooks = {
            profile.name: profile.stop_hook
            for profile in profiles
            if profile.stop_hook is not None and profile.stop_hook.format is not None
        }
        self._notes = folder / _NOTES

    @property
    def agents(self) -> list[str]:
        """The agents whose hooks can be installed."""
        return sorted(self._hooks)

    def show(self, agent: str) -> InstalledHook:
        """Return the hook of an agent; raises UsageError for an agent without hooks, and ConfigError."""
        hook = self._hook(agent)
        file = located(hook.file, hook.home)
        text = read_text(file) or ""
        try:
            if hook.format == "notify":
                words = notify_file.installed(text, agent)
                command = None if words is None else shlex.join(words)
            else:
                command = settings_file.installed(text, hook.event, _ours(agent))
        except (JsonError, TomlError) as error:
            raise _refused(file, error) from error
        return InstalledHook(agent, file, hook.event, command)

    def install(self, agent: str, program: Sequence[str]) -> InstalledHook:
        """Make an agent run `program`, followed by `hook AGENT`, whenever it stops; repeating it does no harm.

        Raises UsageError, and ConfigError for a configuration that cannot be parsed or written.
        """
        hook = self._hook(agent)
        file = located(hook.file, hook.home)
        words = [*program, "hook", agent]
        notes = self._read_notes()
        note = notes.get(str(file)) or _Note(["file"] if not file.exists() else [], _make_folders(file.parent))
        made: set[Made] = set(note.made)

        def changed(text: str | None) -> str:
            new: tuple[Made, ...] = ()
            try:
                if hook.format == "notify":
                    after = notify_file.install(text or "", program, agent)
                else:
                    after, new = settings_file.install(text or "", hook.event, shlex.join(words), _ours(agent))
            except (JsonError, TomlError) as error:
                raise _refused(file, error) from error
            made.update(new)
            note.made = sorted(made)
            self._write_notes(notes | {str(file): note})
            return after

        try:
            change(file, changed)
        except ConfigError:
            _remove_folders(note.folders)
            raise
        return self.show(agent)

    def remove(self, agent: str) -> bool:
        """Remove our hook; return whether there was one. Raises UsageError and ConfigError."""
        hook = self._hook(agent)
        file = located(hook.file, hook.home)
        notes = self._read_notes()
        note = notes.get(str(file)) or _Note()
        was_there = self.show(agent).command is not None

        def changed(text: str | None) -> str | None:
            if text is None:
                return None
            try:
                if hook.format == "notify":
                    after = notify_file.remove(text, agent)
                else:
                    after = settings_file.remove(text, hook.event, _ours(agent), note.made)
            except (JsonError, TomlError) as error:
                raise _refused(file, error) from error
            return None if "file" in note.made and not after.strip("\ufeff \t\r\n") else after

        if was_there:
            change(file, changed)
        _remove_folders(note.folders)
        if not self._is_shared(file) and notes.pop(str(file), None) is not None:
            self._write_notes(notes)
        return was_there

    def _is_shared(self, file: Path) -> bool:
        """Return whether a configuration has the hook of any agent."""
        hooks = {agent: located(hook.file, hook.home) for agent, hook in self._hooks.items()}
        return any(at == file and self.show(agent).command is not None for agent, at in hooks.items())

    def _hook(self, agent: str) -> StopHook:
        hook = self._hooks.get(agent)
        if hook is None:
            raise UsageError(f"no hook can be installed for {agent!r}", hint=f"for one of: {', '.join(self.agents)}")
        return hook

    def _read_notes(self) -> dict[str, _Note]:
        try:
            return msgspec.json.decode(self._notes.read_bytes(), type=dict[str, _Note])
        except FileNotFoundError:
            return {}
        except (OSError, msgspec.DecodeError) as error:
            raise StorageError(f"{self._notes} cannot be read: {error}") from error

    def _write_notes(self, notes: dict[str, _Note]) -> None:
        text = msgspec.json.encode(notes).decode() if notes else None
        change(self._notes, lambda _: text)


def _ours(agent: str) -> regex.Pattern[str]:
    return regex.compile(rf"\bstreamrelay['\"]?\s+hook\s+{regex.escape(agent)}\s*$")


def _refused(file: Path, error: Exception) -> ConfigError:
    return ConfigError(str(file), "", str(error), hint="nothing was changed there; docs/agents.md says what is put in")


def _make_folders(folder: Path) -> list[str]:
    """Create a folder with its parents; return the created ones, the innermost last."""
    missing = [one for one in (folder, *folder.parents) if not one.exists()][::-1]
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise ConfigError(str(folder), "", f"cannot be made: {error.strerror}") from error
    return list(map(str, missing))


def _remove_folders(folders: Sequence[str]) -> None:
    """Remove those of the folders that are still empty."""
    for folder in reversed(folders):
        try:
            Path(folder).rmdir()
        except OSError:
            return
