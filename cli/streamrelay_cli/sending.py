"""`streamrelay send`: one message into a pane, with receipts."""

import sys
from enum import StrEnum
from typing import Annotated

import typer

import streamrelay
from streamrelay.delivery.message import Policy
from streamrelay.delivery.sending import open_outbox, send
from streamrelay.errors import UsageError
from streamrelay.events import Event, NeedsHuman, Receipt
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
from streamrelay_cli.output import Output
from streamrelay_cli.running import run_to_end


class NeedsHumanPolicy(StrEnum):
    """What becomes of a message while the program waits for a person."""

    hold = "hold"
    fail = "fail"


class CommandsPolicy(StrEnum):
    """What becomes of a text that starts with `/ ! # @`."""

    send = "send"
    refuse = "refuse"


def send_command(
    target: Annotated[str, typer.Argument(help="The pane as tmux writes it: %3, name, name:0.1.")],
    text: Annotated[str, typer.Argument(help="What to send; - for standard input.")],
    wait: Annotated[bool, typer.Option("--wait", help="Wait for the answer, and print it.")] = False,
    timeout: Annotated[
        float | None,
        typer.Option("--timeout", min=0, help="Seconds to wait: for the pane, to be typed, and for the answer."),
    ] = None,
    message_id: Annotated[
        str | None, typer.Option("--id", help="Known by this id, it is sent once however often you try.", metavar="ID")
    ] = None,
    needs_human: Annotated[
        NeedsHumanPolicy, typer.Option("--needs-human", help="While a question or dialog stands there.")
    ] = NeedsHumanPolicy.hold,
    commands: Annotated[
        CommandsPolicy, typer.Option("--commands", help="A text that starts with / ! # @, a command to an agent.")
    ] = CommandsPolicy.send,
    allow_shell: Annotated[
        bool, typer.Option("--allow-shell", help="Type into a shell too: it runs the text.")
    ] = False,
    socket_name: SocketName = None,
    socket_path: SocketPath = None,
    tmux: TmuxBinary = None,
    transport: TransportOption = Transport.pipes,
    no_profiles: NoProfiles = False,
    as_json: AsEvents = False,
    quiet: Quiet = False,
) -> None:
    """Type a message into a pane when its program can take it, and say how far it came."""
    output = Output(quiet=quiet, as_json=as_json)
    policy = Policy(needs_human=needs_human.value, commands=commands.value, patience=timeout)
    words = sys.stdin.buffer.read().decode(errors="replace").removesuffix("\n") if text == "-" else text

    def publish(event: Event) -> None:
        if as_json:
            output.events([event])
        elif isinstance(event, Receipt):
            output.note(f"{event.message_id}: {event.state}{f' ({event.reason})' if event.reason else ''}")
        elif isinstance(event, NeedsHuman):
            output.note(f"waits for a person ({event.kind}): {event.text}")

    async def main() -> int:
        if not words:
            raise UsageError("there is nothing to send")
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
            sent = await send(
                server,
                await server.find(target),
                words,
                publish=publish,
                message_id=message_id,
                wait=wait,
                timeout=timeout,
                policy=policy,
                allow_shell=allow_shell,
                outbox=outbox,
            )
        if wait and not as_json:
            output.lines(sent.answer)
        return 0

    run_to_end(output, main)
