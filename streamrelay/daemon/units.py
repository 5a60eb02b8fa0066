"""A daemon that the system starts: a systemd user unit, or a launchd agent on macOS.

A tmux server that the daemon starts belongs to its unit. By default systemd and launchd kill all processes of a unit
when they stop or restart the daemon, which would end the user's sessions. `KillMode=process` and `AbandonProcessGroup`
prevent that.

The unit contains the environment variables of the moment of installing, because neither supervisor reads a shell's
configuration, and the daemon finds agents by `PATH`.
"""

import os
import plistlib
import shlex
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from streamrelay.daemon.address import DaemonAddress
from streamrelay.errors import StreamrelayError

VARIABLES = (
    "PATH", "LANG", "LC_ALL", "TMUX_TMPDIR", "XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_STATE_HOME", "STREAMRELAY_TMUX",
)  # fmt: skip
_SUPERVISOR_TIMEOUT = 60.0


@dataclass(frozen=True)
class Unit:
    """The unit's file, and the commands that register it with the supervisor or remove it."""

    file: Path
    content: str
    enable: tuple[tuple[str, ...], ...]
    disable: tuple[tuple[str, ...], ...]
    forget: tuple[tuple[str, ...], ...]
    """Commands to run after the file is deleted."""


def unit_for(
    address: DaemonAddress, command: Sequence[str], environment: Mapping[str, str], platform: str = sys.platform
) -> Unit:
    """Return the unit that runs `command` for a tmux server on this kind of system."""
    kept = {name: environment[name] for name in VARIABLES if environment.get(name)}
    return (_agent if platform == "darwin" else _systemd)(address, command, kept, environment)


def install(unit: Unit) -> list[str]:
    """Write the file and start the unit, now and at every login; return the supervisor's error messages, if any."""
    try:
        unit.file.parent.mkdir(parents=True, exist_ok=True)
        unit.file.write_text(unit.content, encoding="utf-8")
    except OSError as error:
        raise StreamrelayError(
            f"cannot write {unit.file}: {error.strerror}",
            hint="check the folder's permissions and the free space of its disk",
        ) from error
    return _run(unit.enable)


def uninstall(unit: Unit) -> bool:
    """Stop the unit and delete its file; return whether the file existed."""
    if not unit.file.exists():
        return False
    _run(unit.disable)
    unit.file.unlink(missing_ok=True)
    _run(unit.forget)
    return True


def _systemd(
    address: DaemonAddress, command: Sequence[str], kept: Mapping[str, str], environment: Mapping[str, str]
) -> Unit:
    name = f"streamrelay-{address.name}.service"
    config = environment.get("XDG_CONFIG_HOME", "")
    home = Path(config) if config.startswith("/") else Path.home() / ".config"
    variables = "".join(f"Environment={_quoted(f'{key}={value}')}\n" for key, value in kept.items())
    content = f"""\
[Unit]
Description=streamrelay for the tmux server at {address.tmux.replace("%", "%%")}

[Service]
Type=notify
ExecStart={" ".join(_quoted(word).replace("$", "$$") for word in command)}
ExecReload=/bin/kill -HUP $MAINPID
{variables}UMask=0077
Restart=on-failure
RestartSec=2
# It reads the logs of its panes first, however long they are.
TimeoutStartSec=infinity
# The tmux server and what runs in it may have been started by the daemon: they outlive it.
KillMode=process

[Install]
WantedBy=default.target
"""
    manager = ("systemctl", "--user")
    return Unit(
        home / "systemd" / "user" / name,
        content,
        enable=((*manager, "daemon-reload"), (*manager, "enable", "--now", name)),
        disable=((*manager, "disable", "--now", name),),
        forget=((*manager, "daemon-reload"),),
    )


def _agent(address: DaemonAddress, command: Sequence[str], kept: Mapping[str, str], _: Mapping[str, str]) -> Unit:
    label = f"streamrelay.{address.name}"
    file = Path.home() / "Library" / "LaunchAgents" / f"{label}.plist"
    content = plistlib.dumps(
        {
            "Label": label,
            "ProgramArguments": list(command),
            "EnvironmentVariables": dict(kept),
            "RunAtLoad": True,
            "KeepAlive": {"SuccessfulExit": False},
            "AbandonProcessGroup": True,
            "StandardErrorPath": str(address.log),
            "Umask": 0o077,
        }
    ).decode()
    domain = f"gui/{os.getuid()}"
    return Unit(
        file,
        content,
        enable=(("launchctl", "bootstrap", domain, str(file)),),
        disable=(("launchctl", "bootout", f"{domain}/{label}"),),
        forget=(),
    )


def _quoted(word: str) -> str:
    """Return a word as systemd.syntax(7) reads it: in quotes, with its own escapes and specifiers inert."""
    escaped = "".join(
        f"\\x{ord(letter):02x}" if letter < " " or letter == "\x7f" else {"\\": "\\\\", '"': '\\"'}.get(letter, letter)
        for letter in word
    )
    return f'"{escaped}"'.replace("%", "%%")


def _run(commands: Sequence[tuple[str, ...]]) -> list[str]:
    refused: list[str] = []
    for command in commands:
        try:
            done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=_SUPERVISOR_TIMEOUT)
            words = done.stderr.strip() or f"ended with status {done.returncode}" if done.returncode else ""
        except (OSError, subprocess.TimeoutExpired) as error:
            words = str(error)
        if words:
            refused.append(f"{shlex.join(command)}: {words}")
            break
    return refused
