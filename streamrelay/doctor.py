"""The checks of `streamrelay doctor`: what streamrelay needs from the machine, and how to fix what is missing.

The check of control mode runs on a private tmux server: one line has to come through each transport.
"""

import asyncio
import os
import shlex
import shutil
import stat
import sys
from collections.abc import AsyncIterator
from pathlib import Path
from typing import get_args

from streamrelay.agent_checks import check_installed_agents, check_running_agents
from streamrelay.agents import load_profiles
from streamrelay.agents.hooks import StopHooks
from streamrelay.check import Check
from streamrelay.config.files import load
from streamrelay.config.settings import HistoryTable
from streamrelay.control import ServerInfo, Tmux, TransportName, Version, upgrade_hint
from streamrelay.control.private_tmux import PrivateTmux
from streamrelay.daemon.address import address_of
from streamrelay.daemon.instance import running_pid
from streamrelay.database import MAX_LOG_BYTES
from streamrelay.delivery.state import state_folder
from streamrelay.errors import ConfigError, NoServer, SshFailed, StreamrelayError
from streamrelay.events import Text
from streamrelay.history.retention import MEGABYTE, disk_use, journal_files, most_bytes
from streamrelay.installation_checks import check_installation, check_tmux_path
from streamrelay.leftovers import find_leftovers
from streamrelay.panes.calibration import find_differing_widths, measure_quirks
from streamrelay.panes.server import Server
from streamrelay.panes.widths import WidthCache
from streamrelay.vt.widths import unicode14

TRIAL_TIMEOUT = 10.0
TRIAL_LINE = "control mode works: 中 🦜"


async def examine(tmux: Tmux) -> AsyncIterator[Check]:
    """Yield each check as it completes; for a tmux on another machine, only the checks that work over ssh."""
    for check in check_installation(_own_path()):
        yield check
    yield Check("python", "ok", f"{sys.version.split()[0]}, {sys.executable}")
    if tmux.ssh is not None:
        yield _configuration()
        async for check in _elsewhere(tmux, tmux.ssh.host):
            yield check
        return
    yield _locale()
    yield _configuration()
    yield _hooks()
    yield await _agents()
    yield _daemon(tmux)
    yield check_journal()
    try:
        version = await tmux.client_version()
    except StreamrelayError as error:
        yield Check("tmux", "failed", error.message, error.hint)
        return
    usable = version.at_least(3, 2)
    yield Check(
        "tmux",
        "ok" if usable else "failed",
        f"{tmux.binary} {version.text}",
        "" if usable else "install tmux 3.2 or newer",
    )
    if not usable:
        return
    for transport in get_args(TransportName):
        yield await _try_control_mode(tmux.binary, transport)
    yield await asyncio.to_thread(_widths, tmux, version)
    async for check in _server(tmux, version):
        yield check


async def _elsewhere(tmux: Tmux, host: str) -> AsyncIterator[Check]:
    try:
        version = await tmux.client_version()
    except SshFailed as error:
        yield Check("ssh", "failed", error.message, error.hint)
        return
    except StreamrelayError as error:
        yield Check("tmux", "failed", error.message, error.hint)
        return
    usable = version.at_least(3, 2)
    words = f"{host}: {tmux.binary} {version.text}"
    yield Check("tmux", "ok" if usable else "failed", words, "" if usable else "install tmux 3.2 or newer there")
    if usable:
        async for check in _server(tmux, version):
            yield check


def _locale() -> Check:
    name = next((os.environ[key] for key in ("LC_ALL", "LC_CTYPE", "LANG") if os.environ.get(key)), "")
    if "utf-8" in name.lower() or "utf8" in name.lower():
        return Check("locale", "ok", name)
    return Check(
        "locale",
        "warning",
        name or "no locale is set",
        "export LC_ALL=C.UTF-8, or programs print ? for most characters",
    )


def _configuration() -> Check:
    try:
        sources = load().sources.values()
    except ConfigError as error:
        return Check("configuration", "failed", error.message, error.hint)
    places = sorted({source.where.rpartition(":")[0] or source.where for source in sources})
    return Check("configuration", "ok", f"set in {', '.join(places)}" if places else "nothing is set")


def _hooks() -> Check:
    """Check the stop hooks: a hook whose command is gone reports nothing, to its agent or to us."""
    installed: list[tuple[str, str]] = []
    broken: list[tuple[str, str]] = []
    try:
        hooks = StopHooks(load_profiles(), state_folder())
        for agent in hooks.agents:
            if (command := hooks.show(agent).command) is not None:
                program = shlex.split(command)[0]
                (broken if shutil.which(program) is None else installed).append((agent, program))
    except (StreamrelayError, ValueError) as error:
        return Check("hooks", "warning", str(error), "streamrelay hooks show")
    if broken:
        words = ", ".join(f"the hook of {agent} runs {program}, which does not exist" for agent, program in broken)
        return Check("hooks", "warning", words, "; ".join(f"streamrelay hooks install {agent}" for agent, _ in broken))
    told = ", ".join(agent for agent, _ in installed)
    return Check("hooks", "ok", f"installed for {told}" if told else "none is installed")


async def _agents() -> Check:
    """Check which agents are installed, and which lane their versions offer."""
    try:
        return await check_installed_agents(load_profiles(), _own_path(), load(project=False).settings.delivery.lane)
    except StreamrelayError as error:
        return Check("agents", "warning", error.message, error.hint)


async def _lanes(tmux: Tmux) -> Check:
    """Check which running agents take messages by an API of their own."""
    try:
        listed = await tmux.run("list-panes", "-a", "-F", "#{pane_id}\t#{pane_pid}\t#{pane_current_command}")
        rows = [line.split("\t", 2) for line in listed.splitlines()]
        panes = {row[0]: (row[0], int(row[1]), row[2]) for row in rows if len(row) == 3}
        return await check_running_agents(load_profiles(), list(panes.values()))
    except (StreamrelayError, ValueError) as error:
        return Check("lanes", "warning", str(error), "")


def _daemon(tmux: Tmux) -> Check:
    address = address_of(tmux)
    pid = running_pid(address)
    if pid is None:
        return Check("daemon", "ok", "no daemon runs for this tmux server")
    try:
        mode = address.socket.stat().st_mode
    except OSError as error:
        words = f"cannot ask process {pid} at {address.socket}: {error.strerror}"
        return Check("daemon", "failed", words, f"kill {pid}, then: streamrelay daemon start")
    if mode & (stat.S_IRWXG | stat.S_IRWXO):
        return Check("daemon", "warning", f"others may write to {address.socket}", f"chmod 600 {address.socket}")
    return Check("daemon", "ok", f"process {pid}, {address.socket}")


def check_journal() -> Check:
    """Compare the size of each journal with the limit; the daemon keeps its own within it."""
    try:
        most = most_bytes(load(project=False).settings.history)
    except ConfigError:
        most = most_bytes(HistoryTable())
    files = {file: disk_use(file) for file in journal_files()}
    if not files:
        return Check("journal", "ok", "nothing is journaled")
    limit = f"the limit is {most / MEGABYTE:,.1f} MB" if most else "no limit"
    sizes = ", ".join(f"{file} takes {size / MEGABYTE:,.1f} MB" for file, size in files.items())
    if most and max(files.values()) > most + MAX_LOG_BYTES:
        return Check("journal", "warning", f"{sizes}; {limit}", "streamrelay history prune")
    return Check("journal", "ok", f"{sizes}; {limit}")


def _widths(tmux: Tmux, version: Version) -> Check:
    """Compare character widths with tmux and store the differences: a wrong width shifts the rest of its row."""
    try:
        with PrivateTmux(tmux.binary) as private:
            found = measure_quirks(private)
            differing = find_differing_widths(private, unicode14().replaced({}, found))
        WidthCache(tmux, version).keep(differing, found)
    except (StreamrelayError, TimeoutError, OSError) as error:
        return Check("widths", "warning", str(error), "")
    if not differing:
        return Check("widths", "ok", "tmux and the built-in table agree on the width of every character")
    some = ", ".join(f"U+{ord(one):04X} ({columns})" for one, columns in list(differing.items())[:5])
    words = f"stored the widths of {len(differing)} characters that differ in this tmux: {some}"
    return Check("widths", "ok", words)


async def _try_control_mode(binary: str, transport: TransportName) -> Check:
    name = f"control mode, {transport}"
    try:
        with PrivateTmux(binary) as private:
            pane = private.new_session("trial", ["cat"])
            tmux = Tmux(binary, socket_path=str(private.socket_path))
            async with (
                asyncio.timeout(TRIAL_TIMEOUT),
                Server(tmux, transport=transport) as server,
                server.watch(pane, live=False) as stream,
            ):
                private.run("send-keys", "-l", "-t", pane, TRIAL_LINE)
                private.run("send-keys", "-t", pane, "Enter")
                async for event in stream:
                    if isinstance(event, Text) and event.text == TRIAL_LINE:
                        return Check(name, "ok", "a line came through")
    except TimeoutError:
        return Check(name, "failed", f"no line came through in {TRIAL_TIMEOUT:g} s", "please report this")
    except StreamrelayError as error:
        return Check(name, "failed", error.message, error.hint)
    return Check(name, "failed", "the stream ended before a line came through", "please report this")


async def _server(tmux: Tmux, version: Version) -> AsyncIterator[Check]:
    try:
        info = await tmux.probe()
    except NoServer as error:
        yield Check("server", "warning", error.message, "start tmux, or name a server with -L or -S")
        yield known_crash(version, over_ssh=tmux.ssh is not None)
        return
    except StreamrelayError as error:
        yield Check("server", "failed", error.message, error.hint)
        return
    same = info.version.text == version.text
    yield Check(
        "server",
        "ok" if same else "warning",
        f"tmux {info.version.text}, pid {info.pid}, {info.address}",
        "" if same else f"restart the server when you can, so that it has the version of the binary, {version.text}",
    )
    yield known_crash(info.version, over_ssh=bool(info.host))
    if not info.host:
        yield _socket(info)
        yield await _search_paths(tmux)
        yield await _lanes(tmux)
    yield await _left_behind(tmux)


def known_crash(version: Version, *, over_ssh: bool) -> Check:
    """Say whether a server of this version can die while a control client attaches (`control.identification`)."""
    fix = upgrade_hint(version)
    if fix is None:
        return Check("known crashes", "ok", f"none of tmux {version.text}")
    words = f"tmux {version.text} can crash, with every session in it, while a program attaches in control mode; "
    words += "streamrelay cannot prevent that over ssh" if over_ssh else "streamrelay prevents that for itself only"
    return Check("known crashes", "warning", words, fix)


async def _search_paths(tmux: Tmux) -> Check:
    try:
        line = (await tmux.run("show-environment", "-g", "PATH")).strip()
        programs = [profile.start.command[0] for profile in load_profiles() if profile.kind == "agent"]
    except StreamrelayError as error:
        return Check("PATH of tmux", "warning", error.message, error.hint)
    # A variable that is marked for removal is printed as `-PATH`.
    return check_tmux_path(_own_path(), line.removeprefix("PATH=") if "=" in line else "", programs)


def _own_path() -> str:
    return os.environ.get("PATH", os.defpath)


async def _left_behind(tmux: Tmux) -> Check:
    try:
        found = await find_leftovers(tmux)
    except StreamrelayError as error:
        return Check("leftovers", "warning", error.message, error.hint)
    if found.in_use:
        return Check("leftovers", "ok", "streamrelay is running on this server")
    if not found.hubs and not found.shown:
        return Check("leftovers", "ok", "none")
    words = f"{len(found.hubs)} hubs without a client, {len(found.shown)} panes that show an ended conversation"
    return Check("leftovers", "warning", words, "streamrelay uninstall, or the next command that watches a pane")


def _socket(info: ServerInfo) -> Check:
    """Check the socket's permissions: any user who can write to it can type into every pane."""
    path = Path(info.socket_path)
    try:
        folder = path.parent.stat()
    except OSError as error:
        return Check("socket", "warning", f"{path.parent}: {error.strerror}", "")
    if folder.st_mode & (stat.S_IRWXG | stat.S_IRWXO) and path.stat().st_mode & stat.S_IWOTH:
        return Check("socket", "warning", f"others may write to {path}", f"chmod 700 {path.parent}")
    return Check("socket", "ok", f"only you can access {path}")
