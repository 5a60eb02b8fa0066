"""Finds and removes what streamrelay leaves behind: in a tmux server, and in the user's folders.

In tmux that is what a process that was killed could not take back (a hub without its client, what a status line shows)
and the marks of deliveries, which stay for the next writer of the pane (docs/delivery.md). This module changes nothing
in a server while a hub there has its client: another process is at work.
"""

import contextlib
import shutil
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from streamrelay.config.files import user_folder
from streamrelay.control import Tmux
from streamrelay.control.hub import LIST_SESSIONS, leftovers, parse_sessions
from streamrelay.daemon.address import address_of
from streamrelay.daemon.instance import running_pid
from streamrelay.delivery.lock import find_free_locks, remove_free_lock
from streamrelay.delivery.state import state_home
from streamrelay.errors import NoServer, StreamrelayError, UsageError
from streamrelay.notifying.notifier import OPTION
from streamrelay.panes.injections import find_notes
from streamrelay.panes.runtime_folder import runtime_folder
from streamrelay.panes.widths import cache_folder

_CLIENTS = ("list-clients", "-F", "#{client_control_mode} #{session_id}")
_PLACES = {
    "-p": ("list-panes", "-a", "-F", "#{pane_id}"),
    "-w": ("list-windows", "-a", "-F", "#{window_id}"),
    "": ("list-sessions", "-F", "#{session_id}"),
}
_AT_ONCE = 50
_SHOWN = 2
"""How many names of a kind a summary shows."""
_HERE = "streamrelay-options-of "


@dataclass(frozen=True, slots=True)
class Option:
    """An option of streamrelay: scope as in `set-option` (`-p`, `-w`, empty for a session), target, name."""

    scope: str
    of: str
    name: str


@dataclass(frozen=True, slots=True)
class Removal:
    """One thing that was taken away, or would be."""

    kind: Literal["hub", "option", "hook", "file", "folder"]
    name: str

    def __str__(self) -> str:
        return f"session {self.name}, a hub without a client" if self.kind == "hub" else f"{self.kind} {self.name}"


@dataclass(frozen=True, slots=True)
class Leftovers:
    """What was found in a server."""

    hubs: tuple[str, ...] = ()
    """Sessions of streamrelay without a client."""
    options: tuple[Option, ...] = ()
    in_use: bool = False
    """Whether streamrelay is at work there."""

    @property
    def shown(self) -> tuple[str, ...]:
        """Panes whose status line still shows a conversation that is over."""
        return () if self.in_use else tuple(option.of for option in self.options if option.name == OPTION)


async def find_leftovers(tmux: Tmux) -> Leftovers:
    """Find the leftovers in a server; without a server there are none. Raises the errors of tmux."""
    daemon = tmux.ssh is None and running_pid(address_of(tmux)) is not None
    try:
        sessions = parse_sessions((await tmux.run(*LIST_SESSIONS)).splitlines())
    except NoServer:
        return Leftovers(in_use=daemon)
    clients = (line.split() for line in (await tmux.run(*_CLIENTS)).splitlines())
    listening = {session for control, session in clients if control == "1"}
    hubs = [session.session for session in sessions if session.hub]
    options = [option for scope in _PLACES for option in await _options(tmux, scope) if option.of not in hubs]
    in_use = daemon or not listening.isdisjoint(hubs)
    return Leftovers(tuple(leftovers(sessions, listening)), tuple(options), in_use)


async def clear_server(tmux: Tmux, found: Leftovers) -> list[Removal]:
    """Remove the leftovers; return what was removed. Raises UsageError while streamrelay runs on the server."""
    if found.in_use:
        raise UsageError("streamrelay is at work on this tmux server", hint="end its commands, and its daemon, first")
    done = []
    for hub in found.hubs:
        await tmux.run("kill-session", "-t", hub)
        done.append(Removal("hub", hub))
    for option in found.options:
        try:
            await tmux.run("set-option", *filter(None, (option.scope,)), "-u", "-t", option.of, option.name)
        except StreamrelayError:
            # It went away with what it was an option of.
            continue
        done.append(Removal("option", f"{option.name} of {option.of}"))
    return done


async def find_files(tmux: Tmux) -> list[Path]:
    """Return the lock files and the daemon's socket that ended processes left for this tmux server.

    Those of the user's other servers are not among them.
    """
    try:
        server = await tmux.probe()
    except NoServer:
        server = None
    address = address_of(tmux)
    dead = [] if running_pid(address) is not None else [address.socket, address.lock]
    return [*find_free_locks(server), *find_notes(server), *(path for path in dead if path.exists())]


def own_folders(tmux: Tmux, *, data: bool) -> list[Path]:
    """Return the existing folders of streamrelay: caches; with `data` also state and configuration.

    State and configuration serve all tmux servers of the user. Raises UsageError where they are asked for while the
    daemon of another server runs.
    """
    if data and (others := _other_daemons(tmux)):
        raise UsageError(
            f"--data deletes what a running daemon of another tmux server uses: process {', '.join(map(str, others))}",
            hint="end it first: streamrelay -S SOCKET daemon stop",
            data={"processes": others},
        )
    folders = [cache_folder(), *([state_home(), user_folder()] if data else [])]
    return [folder for folder in folders if folder.is_dir() and not folder.is_symlink()]


def clear_files(files: Iterable[Path]) -> list[Removal]:
    """Delete files that no process holds, and the folder of locks once it is empty; return what was deleted."""
    done = []
    for file in files:
        try:
            removed = remove_free_lock(file) if file.suffix == ".lock" else _unlink(file)
        except OSError as error:
            raise StreamrelayError(
                f"{file} cannot be deleted: {error.strerror}",
                hint="check the permissions of its folder, and run the command again",
            ) from error
        if removed:
            done.append(Removal("file", str(file)))
    with contextlib.suppress(OSError):  # other tmux servers have files in it, or it was never made
        runtime_folder().rmdir()
    return done


def clear_folders(folders: Iterable[Path]) -> list[Removal]:
    """Delete folders with all that is in them; return which. Raises StreamrelayError where one cannot be."""
    done = []
    for folder in folders:
        try:
            shutil.rmtree(folder)
        except OSError as error:
            raise StreamrelayError(
                f"{folder} cannot be deleted: {error.strerror}",
                hint="check the permissions of its folder, and run the command again",
            ) from error
        done.append(Removal("folder", str(folder)))
    return done


def planned(
    found: Leftovers, hooks: Iterable[Removal], files: Iterable[Path], folders: Iterable[Path]
) -> list[Removal]:
    """Return what clear_server, clear_files and clear_folders would remove, and the hooks between them."""
    return [
        *(Removal("hub", hub) for hub in found.hubs),
        *(Removal("option", f"{option.name} of {option.of}") for option in found.options),
        *hooks,
        *(Removal("file", str(file)) for file in files),
        *(Removal("folder", str(folder)) for folder in folders),
    ]


def summarised(removals: Sequence[Removal]) -> list[str]:
    """Return one line for each kind of removal, in columns: how many, of what kind, and some of them by name."""
    names: dict[str, list[str]] = {}
    for removal in removals:
        names.setdefault(removal.kind, []).append(removal.name)
    width = max((len(str(len(some))) for some in names.values()), default=0)
    lines = []
    for kind, some in names.items():
        words = kind if len(some) == 1 else f"{kind}s"
        shown = ", ".join(some[:_SHOWN]) + (", ..." if len(some) > _SHOWN else "")
        lines.append(f"{len(some):>{width}} {words:<8}  {shown}")
    return lines


def _other_daemons(tmux: Tmux) -> list[int]:
    """Return the processes of the daemons that run for other tmux servers of this user."""
    own = address_of(tmux)
    others = (path for path in own.lock.parent.glob("daemon-*.lock") if path != own.lock)
    return [pid for path in others if (pid := running_pid(own._replace(lock=path))) is not None]


def _unlink(file: Path) -> bool:
    file.unlink(missing_ok=True)
    return True


async def _options(tmux: Tmux, scope: str) -> list[Option]:
    """Return streamrelay's options of panes, windows or sessions."""
    of = list(dict.fromkeys((await tmux.run(*_PLACES[scope])).split()))
    found = []
    for start in range(0, len(of), _AT_ONCE):
        words: list[str] = []
        for one in of[start : start + _AT_ONCE]:
            # `%56` alone would be a time format of width 56 (tmux 3.3a format.c, format_expand_time).
            words += ["display-message", "-p", "-t", one, _HERE + one.replace("%", "%%"), ";"]
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
