"""What streamrelay leaves behind, found and taken away: in a tmux server, and in the user's folders.

In tmux that is what a process that was killed could not take back (a hub without its client, what a status line shows)
and the marks of deliveries, which are kept for whoever types into the pane next (docs/delivery.md). Nothing in a server
is touched while a hub there has its client: somebody is at work.
"""

import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from streamrelay.config.files import user_folder
from streamrelay.control import Tmux
from streamrelay.control.hub import LIST_SESSIONS, leftovers, parse_sessions
from streamrelay.delivery.lock import lock_folder
from streamrelay.delivery.state import state_home
from streamrelay.errors import NoServer, StreamrelayError, UsageError
from streamrelay.notifying.notifier import OPTION
from streamrelay.panes.widths import cache_folder

_CLIENTS = ("list-clients", "-F", "#{client_control_mode} #{session_id}")
_PLACES = {
    "-p": ("list-panes", "-a", "-F", "#{pane_id}"),
    "-w": ("list-windows", "-a", "-F", "#{window_id}"),
    "": ("list-sessions", "-F", "#{session_id}"),
}
_AT_ONCE = 50
_HERE = "streamrelay-options-of "


@dataclass(frozen=True, slots=True)
class Option:
    """An option of ours: its scope as `set-option` has it (`-p`, `-w`, nothing for a session), of what, its name."""

    scope: str
    of: str
    name: str


@dataclass(frozen=True, slots=True)
class Leftovers:
    """What was found in a server."""

    hubs: tuple[str, ...] = ()
    """Sessions of ours without a client."""
    options: tuple[Option, ...] = ()
    in_use: bool = False
    """Whether streamrelay is at work there."""

    @property
    def shown(self) -> tuple[str, ...]:
        """Panes whose status line shows how a conversation stood that is over."""
        return () if self.in_use else tuple(option.of for option in self.options if option.name == OPTION)


async def find_leftovers(tmux: Tmux) -> Leftovers:
    """Look for what was left in a server; nothing where no server is. Raises what tmux says."""
    try:
        sessions = parse_sessions((await tmux.run(*LIST_SESSIONS)).splitlines())
    except NoServer:
        return Leftovers()
    clients = (line.split() for line in (await tmux.run(*_CLIENTS)).splitlines())
    listening = {session for control, session in clients if control == "1"}
    hubs = [session.session for session in sessions if session.hub]
    options = [option for scope in _PLACES for option in await _options(tmux, scope) if option.of not in hubs]
    return Leftovers(tuple(leftovers(sessions, listening)), tuple(options), not listening.isdisjoint(hubs))


async def clear_server(tmux: Tmux, found: Leftovers) -> list[str]:
    """Take away what was found; return what was, in words. Raises UsageError while somebody is at work there."""
    if found.in_use:
        raise UsageError("streamrelay is at work on this tmux server", hint="end its commands, and its daemon, first")
    done = []
    for hub in found.hubs:
        await tmux.run("kill-session", "-t", hub)
        done.append(f"session {hub}, a hub without a client")
    for option in found.options:
        try:
            await tmux.run("set-option", *filter(None, (option.scope,)), "-u", "-t", option.of, option.name)
        except StreamrelayError:
            # It went away with what it was an option of.
            continue
        done.append(f"option {option.name} of {option.of}")
    return done


def own_folders(*, data: bool) -> list[Path]:
    """Return those folders of ours that are there: caches and locks; with `data` state and configuration too."""
    folders = [cache_folder(), lock_folder(), *([state_home(), user_folder()] if data else [])]
    return [folder for folder in folders if folder.is_dir() and not folder.is_symlink()]


def clear_folders(folders: Iterable[Path]) -> list[str]:
    """Delete folders with all that is in them; return which, in words. Raises StreamrelayError where one cannot be."""
    done = []
    for folder in folders:
        try:
            shutil.rmtree(folder)
        except OSError as error:
            raise StreamrelayError(f"{folder} cannot be deleted: {error.strerror}") from error
        done.append(f"folder {folder}")
    return done


async def _options(tmux: Tmux, scope: str) -> list[Option]:
    """Return the options of ours that panes, windows or sessions have."""
    of = list(dict.fromkeys((await tmux.run(*_PLACES[scope])).split()))
    found = []
    for start in range(0, len(of), _AT_ONCE):
        words: list[str] = []
        for one in of[start : start + _AT_ONCE]:
            words += ["display-message", "-p", "-t", one, _HERE + one, ";"]
            words += ["show-options", *filter(None, (scope,)), "-t", one, ";"]
        found += _parsed((await tmux.run(*words[:-1])).splitlines(), scope)
    return found


def _parsed(lines: Sequence[str], scope: str) -> list[Option]:
    found, here = [], ""
    for line in lines:
        name = line.partition(" ")[0]
        if line.startswith(_HERE):
            here = line.removeprefix(_HERE)
        elif name == OPTION or name.startswith(f"{OPTION}_"):
            found.append(Option(scope, here, name))
    return found
