"""`streamrelay daemon`: the service as a process of its own, in the foreground, in the background, or by the system."""

import asyncio
import os
import signal
import sys
from enum import StrEnum
from typing import Annotated

import typer

from streamrelay.control import Tmux
from streamrelay.counts import counted
from streamrelay.daemon.address import address_of
from streamrelay.daemon.instance import running_pid, until_ended
from streamrelay.errors import DaemonRunning, StreamrelayError, UsageError
from streamrelay.version import VERSION
from streamrelay_cli.command_entry import SETUP, command
from streamrelay_cli.command_group import is_group
from streamrelay_cli.daemon_client import no_daemon
from streamrelay_cli.imports import without_collection
from streamrelay_cli.options import PrintingOptions, ServerOptions, TransportChoice, TransportOption, takes_options
from streamrelay_cli.output import CommandOutput
from streamrelay_cli.runner import run_to_end
from streamrelay_cli.web import Listen

FOLLOW_EVERY = 0.25
"""Seconds between two looks for new lines of the log."""


class LogLevel(StrEnum):
    """The least severe level that the daemon logs."""

    debug = "debug"
    info = "info"
    warning = "warning"
    error = "error"


McpPort = Annotated[
    int | None,
    typer.Option("--mcp-port", min=0, max=65535, help="Serve the tools for agents on this loopback port, too."),
]


@command("daemon", panel=SETUP, place=10)
@takes_options
def daemon(
    context: typer.Context,
    options: ServerOptions,
    log_level: Annotated[
        LogLevel, typer.Option("--log-level", help="The least severe level that is logged, on standard error.")
    ] = (LogLevel.info),
    wait: Annotated[
        bool, typer.Option("--wait", help="Wait for the tmux server if it does not run yet; for service managers.")
    ] = False,
    mcp_port: McpPort = None,
    web: Listen = "",
    transport: TransportOption = TransportChoice.pipes,
) -> None:
    """Run the service that holds sessions, messages, links and relays.

    Without a command it serves one tmux server in the foreground, over HTTP on a unix socket, until Ctrl-C. SIGHUP
    makes it read profiles and configuration again (docs/daemon.md).
    """
    output = CommandOutput()
    if is_group(context):
        return
    chosen = options.server()

    async def main() -> int:
        with without_collection():
            from streamrelay.daemon.assembly import opened, until_there
            from streamrelay.daemon.logs import open_log
            from streamrelay.daemon.process import run_daemon
            from streamrelay.service.restore import RestoreProgress

        address = address_of(chosen)
        if wait:
            await until_there(chosen)
        progress = RestoreProgress()
        service = opened(
            address, chosen, transport=transport.value, mcp_port=mcp_port, web=web, version=VERSION, progress=progress
        )
        await run_daemon(address, service, log=open_log(log_level.value), version=VERSION, progress=progress)
        return 0

    run_to_end(output, main)


@command("daemon start", place=10)
@takes_options
def start(
    options: ServerOptions,
    printing: PrintingOptions,
    log_level: Annotated[
        LogLevel, typer.Option("--log-level", help="The least severe level that is logged, in a file.")
    ] = LogLevel.info,
    mcp_port: McpPort = None,
    web: Listen = "",
) -> None:
    """Start the daemon in the background, and wait until it answers all calls.

    Before that it reads the logs of its panes; `streamrelay status` says how many are left.
    A daemon that runs already keeps running.
    """
    output = printing.output()

    async def main() -> int:
        from streamrelay.daemon import background
        from streamrelay.daemon.openapi import Health

        chosen = options.server()
        address = address_of(chosen)
        before = running_pid(address)
        is_told = False

        def report(health: Health) -> None:
            nonlocal is_told
            if not is_told and health.status == "restoring" and health.panes:
                is_told = True
                left = counted(health.panes - health.read, "pane")
                output.note(f"the daemon answers and reads {left} again; see it with: streamrelay status")

        command = [*daemon_command(chosen, mcp_port, web), "--log-level", log_level.value]
        await background.revive(address, command, report)
        if (pid := running_pid(address)) == before:
            output.note(f"a daemon already runs (process {pid})")
        else:
            output.note(f"the daemon of {address.tmux} runs (process {pid}); its log is {address.log}")
        return 0

    run_to_end(output, main)


@command("daemon stop", place=20)
@takes_options
def stop(
    options: ServerOptions,
    printing: PrintingOptions,
) -> None:
    """End the daemon, and wait until it has ended.

    Undelivered messages are delivered after the next start.
    """
    output = printing.output()

    async def main() -> int:
        chosen = options.server()
        address = address_of(chosen)
        pid = _signalled(chosen, signal.SIGTERM)
        await until_ended(address, pid)
        output.note(f"the daemon has ended (process {pid})")
        return 0

    run_to_end(output, main)


@command("daemon reload", place=50)
@takes_options
def reload(options: ServerOptions, printing: PrintingOptions) -> None:
    """Make the daemon read its profiles and configuration again, and wait until it uses them.

    If a file is invalid, the command fails with its error, and the daemon keeps the previous ones. Some settings need a
    restart instead (docs/configuration.md).
    """
    output = printing.output()

    async def main() -> int:
        from streamrelay.daemon.client import DaemonClient

        chosen = options.server()
        address = address_of(chosen)
        if (pid := running_pid(address)) is None:
            raise no_daemon(chosen)
        async with DaemonClient(address.socket) as client:
            await client.reload()
        output.note(f"the daemon (process {pid}) uses the new profiles and configuration")
        return 0

    run_to_end(output, main)


@command("daemon logs", place=40)
@takes_options
def logs(
    options: ServerOptions,
    printing: PrintingOptions,
    lines: Annotated[int, typer.Option("-n", "--lines", min=0, help="Print only the last lines; 0 for all.")] = 50,
    follow: Annotated[bool, typer.Option("-f", "--follow", help="Print new lines until Ctrl-C.")] = False,
) -> None:
    """Print the log of the daemon that runs in the background.

    A daemon in the foreground logs to standard error; one that systemd started logs to the journal (`journalctl
    --user`).
    """
    output = printing.output()

    async def main() -> int:
        log = address_of(options.server()).log
        try:
            file = log.open("rb")
        except OSError as error:
            raise UsageError(
                f"cannot read the log {log}: {error.strerror}", hint="`streamrelay daemon start` writes it"
            ) from error
        with file:
            *whole, rest = file.read().split(b"\n")
            output.lines(line.decode(errors="replace") for line in (whole[-lines:] if lines else whole))
            while follow:
                *whole, rest = (rest + file.read()).split(b"\n")
                output.lines(line.decode(errors="replace") for line in whole)
                await asyncio.sleep(FOLLOW_EVERY)
        return 0

    run_to_end(output, main, until_ctrl_c=True)


@command("daemon install", place=60)
@takes_options
def install(
    options: ServerOptions,
    printing: PrintingOptions,
    mcp_port: McpPort = None,
    web: Listen = "",
) -> None:
    """Start the daemon now and at every login (systemd or launchd)."""
    output = printing.output()

    async def main() -> int:
        from streamrelay.daemon import units

        chosen = options.server()
        address = address_of(chosen)
        if (pid := running_pid(address)) is not None:
            raise DaemonRunning(
                f"a daemon already runs (process {pid})", hint="stop it with: streamrelay daemon stop; then install"
            )
        unit = units.unit_for(address, [*daemon_command(chosen, mcp_port, web), "--wait"], os.environ)
        refused = units.install(unit)
        output.line(str(unit.file))
        for words in refused:
            output.note(f"written, but not started: {words}")
        if refused:
            raise StreamrelayError(
                "the unit is written, but the supervisor did not start it", hint="start it by hand, or log in again"
            )
        return 0

    run_to_end(output, main)


@command("daemon uninstall", place=70)
@takes_options
def uninstall(options: ServerOptions, printing: PrintingOptions) -> None:
    """Undo `install`; the journal and the outbox stay."""
    output = printing.output()

    async def main() -> int:
        from streamrelay.daemon import units

        chosen = options.server()
        address = address_of(chosen)
        unit = units.unit_for(address, daemon_command(chosen), os.environ)
        found = units.uninstall(unit)
        if running_pid(address) is None:
            for path in (address.log, address.socket, address.lock):
                path.unlink(missing_ok=True)
        output.note(f"{unit.file} is gone" if found else "nothing was installed")
        return 0

    run_to_end(output, main)


def daemon_command(tmux: Tmux, mcp_port: int | None = None, web: str = "") -> list[str]:
    """Return the command that serves a tmux server in the foreground, wherever it is run from."""
    words = [sys.executable, "-m", "streamrelay_cli", "daemon", "-S", address_of(tmux).tmux, "--tmux", tmux.binary]
    words += [] if mcp_port is None else ["--mcp-port", str(mcp_port)]
    return [*words, "--web", web] if web else words


def _signalled(tmux: Tmux, number: signal.Signals) -> int:
    pid = running_pid(address_of(tmux))
    if not pid:
        raise no_daemon(tmux)
    os.kill(pid, number)
    return pid
