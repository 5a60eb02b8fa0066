"""`streamrelay send`: one message into a pane, with receipts."""

import sys
from typing import Annotated

import typer

from streamrelay.delivery.message import Policy
from streamrelay.delivery.sending import Sent, open_outbox, send
from streamrelay.errors import UsageError
from streamrelay.events import Event, NeedsHuman, Receipt
from streamrelay.service.api import SendMessage, Service
from streamrelay.service.following import send_through
from streamrelay_cli.asking import service_if_any
from streamrelay_cli.configuring import settings
from streamrelay_cli.conversing import told_in_tmux
from streamrelay_cli.options import (
    AllowShell,
    AsEvents,
    CommandsPolicy,
    ConnectionAnywhere,
    NeedsHumanPolicy,
    NoDaemon,
    Printing,
    takes_options,
)
from streamrelay_cli.running import run_to_end
from streamrelay_cli.targets import found, written_out


@takes_options
def send_command(
    context: typer.Context,
    connection: ConnectionAnywhere,
    printing: Printing,
    target: Annotated[str, typer.Argument(help="The pane as tmux writes it (%3, name, name:0.1), or . for this one.")],
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
    allow_shell: AllowShell = False,
    no_daemon: NoDaemon = False,
    as_json: AsEvents = False,
) -> None:
    """Type a message into a pane when its program can take it, and say how far it came.

    If a daemon runs for that tmux server, it delivers the message: it may write to the pane already.
    """
    output = printing.output(as_json=as_json)
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
        wanted = not no_daemon and connection.is_usual
        async with service_if_any(connection.server(), wanted=wanted) as service:
            sent = await (here() if service is None else through(service))
        if wait and not as_json:
            output.lines(sent.answer)
        return 0

    async def through(service: Service) -> Sent:
        request = SendMessage(
            to=written_out(target),
            text=words,
            message_id=message_id or "",
            needs_human=needs_human.value,
            commands=commands.value,
            allow_shell=allow_shell,
            patience=timeout,
        )
        return await send_through(service, request, publish=publish, wait=wait, timeout=timeout)

    async def here() -> Sent:
        async with (
            connection.connect() as server,
            open_outbox() as outbox,
        ):
            pane = await found(server, target)
            async with told_in_tmux(server, {pane.pane: pane.address}, wanted=settings(context).notify) as told:

                def heard(event: Event) -> None:
                    told(event)
                    publish(event)

                return await send(
                    server,
                    pane,
                    words,
                    publish=heard,
                    message_id=message_id,
                    wait=wait,
                    timeout=timeout,
                    policy=policy,
                    allow_shell=allow_shell,
                    outbox=outbox,
                )

    run_to_end(output, main)
