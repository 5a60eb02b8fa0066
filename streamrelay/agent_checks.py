"""The checks of `streamrelay doctor` for agents: which are installed or running, and which lane each offers.

The checks do not assume what a version can do. They run an installed agent with `--version` and `--help`. Of a running
agent they look at the process, and ask its API.
"""

import asyncio
import os
import re
import shutil
import signal
import subprocess
from collections.abc import Sequence
from typing import Final

from streamrelay.agents.lanes.choice import LANES, native_lane
from streamrelay.agents.lanes.inbox import session_inbox
from streamrelay.agents.lanes.lane import Absence
from streamrelay.agents.profile import AgentProfile, LaneChoice
from streamrelay.agents.witnesses.process import foreground_processes
from streamrelay.check import Check
from streamrelay.children import ended, send_signal, start_child

ASK_TIMEOUT: Final = 20.0
"""Seconds for an agent to print its version or its options."""
MAX_OUTPUT: Final = 200_000
"""Bytes of an agent's output that are read."""
_VERSION: Final = re.compile(r"\d+\.\d+(?:\.\d+)?(?:-[\w.]+)?")
_NO_API: Final[dict[Absence, str]] = {
    "no_process": "its process is not accessible",
    "no_server": "it serves no API",
    "protected": "its API wants a password, so messages are typed",
    "several": "several APIs are possible, so messages are typed",
    "no_session": "no session is on its screen",
    "unreadable": "its API does not answer as expected, so messages are typed",
}


async def check_installed_agents(profiles: Sequence[AgentProfile], path: str, choice: LaneChoice) -> Check:
    """Return the installed agents with version and lanes; `path` is the PATH that is searched."""
    agents = [profile for profile in profiles if profile.kind == "agent"]
    installed = [
        (profile, program) for profile in agents if (program := shutil.which(profile.start.command[0], path=path))
    ]
    if not installed:
        return Check("agents", "ok", "none is installed")
    described = await asyncio.gather(*(_describe(profile, program) for profile, program in installed))
    ignores_api = any(offers_api for _, offers_api in described) and choice == "paste"
    note = "; messages are typed, because delivery.lane is paste" if ignores_api else ""
    return Check("agents", "ok", "; ".join(text for text, _ in described) + note)


async def check_running_agents(profiles: Sequence[AgentProfile], panes: Sequence[tuple[str, int, str]]) -> Check:
    """Return which running agents take messages by an API; `panes` are panes, their first processes and commands."""
    found: list[str] = []
    for pane, pid, command in panes:
        profile = next(
            (known for known in profiles if command in known.reading.commands and known.kind == "agent"), None
        )
        if profile is not None:
            found.append(f"{pane} {profile.name}: {await _running_lane(profile, pid)}")
    return Check("lanes", "ok", "; ".join(found) or "no known agent is running")


async def _describe(profile: AgentProfile, program: str) -> tuple[str, bool]:
    """Return the description of an installed agent, and whether it offers an API."""
    questions = [_ask(program, "--version")] + ([_ask(program, "--help")] if profile.delivery.native else [])
    printed, *options = await asyncio.gather(*questions)
    version = _VERSION.search(printed)
    name = f"{profile.name} {version[0]}" if version else f"{profile.name} (prints no version)"
    native = profile.delivery.native
    if native is None and profile.delivery.inbox is not None:
        return f"{name}: typed (a running session tells whether it has an inbox)", False
    if native is None or profile.delivery.lane_for("native") == "paste":
        return f"{name}: typed", False
    lane = LANES[native]
    if re.search(rf"(?m)^\s*{re.escape(lane.option)}\b", options[0]) is None:
        return f"{name}: typed (this version has no option {lane.option})", False
    return f"{name}: typed, or by its {lane.api} if started with {lane.option}", True


async def _running_lane(profile: AgentProfile, pid: int) -> str:
    """Return how messages reach a running agent, whose first process is `pid`."""
    native = profile.delivery.native
    if native is None and profile.delivery.inbox is not None:
        return f"typed ({await asyncio.to_thread(_inbox, pid)})"
    if native is None or profile.delivery.lane_for("native") == "paste":
        return "typed"
    lane = native_lane(native, pid)
    try:
        server = await lane.server()
    finally:
        await lane.close()
    if server == "no_server":
        return f"{_NO_API[server]}; start it with {LANES[native].example}"
    if isinstance(server, str):
        return _NO_API[server]
    address, version = server
    return f"{LANES[native].api} {version} at {address}"


def _inbox(pid: int) -> str:
    """Return what the record of a running agent says about a session inbox."""
    found = session_inbox(foreground_processes(pid))
    if found is None:
        return "no record tells whether it has a session inbox"
    version = found.version or "this version"
    if found.socket is None:
        return f"{version} has no session inbox"
    return f"{version} has a session inbox, {found.socket}, whose protocol is not documented"


async def _ask(program: str, option: str) -> str:
    """Return what a program prints for an option; empty if it does not end in time or cannot be started."""
    try:
        child = await start_child(
            program,
            option,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            start_new_session=True,
            env={**os.environ, "NO_COLOR": "1"},
        )
    except OSError:
        return ""
    assert child.stdout is not None  # noqa: S101  # it is a pipe
    printed = b""
    try:
        async with asyncio.timeout(ASK_TIMEOUT):
            while (part := await child.stdout.read(65_536)) and len(printed) < MAX_OUTPUT:
                printed += part
    except TimeoutError:
        printed = b""
    finally:
        send_signal(child, signal.SIGKILL)
        await ended(child)
    return printed.decode(errors="replace")
