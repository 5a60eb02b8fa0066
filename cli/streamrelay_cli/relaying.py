"""`streamrelay relay`: programs in panes hear each other."""

import asyncio
import contextlib
from collections.abc import Callable
from typing import Annotated, NoReturn

import typer

import streamrelay
from streamrelay.delivery.sending import open_outbox
from streamrelay.events import Event, Receipt, RelayDelivered, RelayOpened
from streamrelay.panes.tasks import until_first
from streamrelay.relay.session import RelaySession
from streamrelay_cli.options import (
    AsEvents,
    NoProfiles,
    Quiet,
    SocketName,
    SocketPath,
    TmuxBinary,
    Transport,
    TransportOption,
)
from streamrelay_cli.output import Output, as_events, as_lines
from streamrelay_cli.running import run_to_end

LONGEST_QUEUE = 10_000
PRINTING_TIMEOUT = 2.0


def relay(
    targets: Annotated[
        list[str],
        typer.Argument(
            help="Two or more panes as tmux writes them, each with a name if wanted: Ann=%3 Bob=work:0.1.",
            metavar="[NAME=]TARGET...",
        ),
    ],
    allow_shell: Annotated[
        bool, typer.Option("--allow-shell", help="Let a shell take part: it runs what the others say.")
    ] = False,
    budget: Annotated[int, typer.Option("--budget", min=0, help="End after this many deliveries; 0 for no end.")] = 0,
    read_timeout: Annotated[
        float,
        typer.Option("--read-timeout", min=1, help="Seconds after which a program that reads nothing is given up."),
    ] = 30.0,
    socket_name: SocketName = None,
    socket_path: SocketPath = None,
    tmux: TmuxBinary = None,
    transport: TransportOption = Transport.pipes,
    no_profiles: NoProfiles = False,
    as_json: AsEvents = False,
    quiet: Quiet = False,
) -> None:
    """Pass on what each program says to all others, as `Name (number):`, until one of them ends or Ctrl-C."""
    output = Output(quiet=quiet, as_json=as_json)

    printing: asyncio.Queue[bytes] = asyncio.Queue(LONGEST_QUEUE)

    def publish(event: Event) -> None:
        if isinstance(event, RelayOpened):
            output.note(f"{' and '.join(event.participants)} hear each other; Ctrl-C ends")
        if isinstance(event, Receipt) and event.state == "failed":
            output.note(f"not delivered to {event.pane}: {event.message_id} ({event.reason})")
        if as_json:
            data = as_events([event])
        elif isinstance(event, RelayDelivered):
            data = as_lines([*event.text.split("\n"), ""])
        else:
            return
        try:
            printing.put_nowait(data)
        except asyncio.QueueFull:
            output.note("standard output is not read: something was not printed")

    async def print_all() -> NoReturn:
        while True:
            await output.write(await printing.get())
            printing.task_done()

    async def main() -> int:
        async with (
            streamrelay.connect(
                socket_name=socket_name,
                socket_path=socket_path,
                tmux=tmux,
                transport=transport.value,
                profiles=() if no_profiles else None,
            ) as server,
            open_outbox() as outbox,
        ):
            pairs = [(name, await server.find(target)) for name, target in map(_split, targets)]
            session = RelaySession(
                server, pairs, allow_shell=allow_shell, budget=budget, read_timeout=read_timeout, outbox=outbox
            )
            await until_first(_relay_and_print(session, publish, printing), print_all())
        if session.error is not None:
            raise session.error
        output.note(f"the budget of {budget} deliveries is spent")
        return 0

    run_to_end(output, main)


async def _relay_and_print(
    session: RelaySession, publish: Callable[[Event], None], printing: asyncio.Queue[bytes]
) -> None:
    await session.run(publish)
    # A reader that has stopped is not waited for.
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(PRINTING_TIMEOUT):
            await printing.join()


def _split(target: str) -> tuple[str | None, str]:
    """Split `Ann=%3`; a leading `=` is tmux's own, for an exact name."""
    name, separator, rest = target.partition("=")
    return (name, rest) if separator and name and rest else (None, target)
