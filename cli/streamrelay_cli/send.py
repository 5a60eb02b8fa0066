"""`streamrelay send`: sends a message to a pane, with receipts."""

import asyncio
import secrets
import sys
from typing import Annotated

import typer

from streamrelay.delivery.message import DeliveryPolicy
from streamrelay.delivery.sending import SentMessage, open_outbox, send
from streamrelay.errors import DeliveryTimeout, PaneTaken, UsageError
from streamrelay.events import Event
from streamrelay.service.api import SendMessage
from streamrelay.service.delivery_following import send_through
from streamrelay.service.interface import Service
from streamrelay.sessions.sessions import Sessions
from streamrelay_cli.command_entry import TALK, command
from streamrelay_cli.config import settings
from streamrelay_cli.daemon_client import service_if_any
from streamrelay_cli.delivery_notes import DeliveryNotes
from streamrelay_cli.live_view import told_in_tmux
from streamrelay_cli.options import (
    AllowShell,
    AsEvents,
    CommandsPolicy,
    ConnectionAnywhere,
    NeedsHumanPolicy,
    NoDaemon,
    PrintingOptions,
    takes_options,
)
from streamrelay_cli.runner import run_to_end
from streamrelay_cli.targets import found, written_out


@command("send", panel=TALK, place=10)
@takes_options
def send_command(
    context: typer.Context,
    connection: ConnectionAnywhere,
    printing: PrintingOptions,
    target: Annotated[str, typer.Argument(help="The pane as tmux writes it (%3, name, name:0.1), or . for this one.")],
    text: Annotated[str, typer.Argument(help="What to send; - for standard input.")],
    wait: Annotated[bool, typer.Option("--wait", help="Wait for the answer, and print it.")] = False,
    timeout: Annotated[
        float | None,
        typer.Option(
            "--timeout",
            min=0,
            help="Seconds to wait in all, 0 for no limit. With --wait the default is 600 (`delivery.wait_timeout`). "
            "Then a message of the daemon stays queued; without a daemon it is cancelled.",
            show_default=False,
        ),
    ] = None,
    expire: Annotated[
        float | None,
        typer.Option("--expire", min=0, help="Seconds after which the message fails if it is not typed yet."),
    ] = None,
    message_id: Annotated[
        str | None,
        typer.Option("--id", help="Send the message once under this id, however often you run this.", metavar="ID"),
    ] = None,
    needs_human: Annotated[
        NeedsHumanPolicy, typer.Option("--needs-human", help="Hold the message while a dialog is open, or let it fail.")
    ] = NeedsHumanPolicy.hold,
    commands: Annotated[
        CommandsPolicy,
        typer.Option("--commands", help="Send or refuse a text that agents read as a command (/ ! # @)."),
    ] = CommandsPolicy.send,
    allow_shell: AllowShell = False,
    no_daemon: NoDaemon = False,
    as_json: AsEvents = False,
) -> None:
    """Type a message into a pane, and report how far it came.

    If a daemon runs for that tmux server, it delivers the message. A message that waits for a person stays queued then,
    and the command returns unless --wait is given. Without a daemon the command waits, and Ctrl-C cancels the message.
    """
    output = printing.output(as_json=as_json)
    limit = (settings(context).delivery.wait_timeout if wait else 0.0) if timeout is None else timeout
    words = sys.stdin.buffer.read().decode(errors="replace").removesuffix("\n") if text == "-" else text
    # Chosen here, so that an interrupted command can always name it.
    chosen_id = message_id or f"send-{secrets.token_hex(6)}"

    def publish(event: Event) -> None:
        if as_json:
            output.events([event])

    async def main() -> int:
        if not words:
            raise UsageError(
                "there is nothing to send", hint="name a text, or - for standard input: streamrelay send TARGET TEXT"
            )
        wanted = not no_daemon and connection.is_usual
        async with service_if_any(connection.server(), wanted=wanted) as service:
            sent = await (here() if service is None else through(service))
        if wait and not as_json:
            output.lines(sent.answer)
        return 0

    async def through(service: Service) -> SentMessage:
        notes = DeliveryNotes(
            output,
            chosen_id,
            sessions=service.sessions,
            queues=True,
            receipts=not as_json,
            waits=wait,
            limit=limit,
            server=connection,
        )
        request = SendMessage(
            to=written_out(target),
            text=words,
            message_id=chosen_id,
            needs_human=needs_human.value,
            commands=commands.value,
            allow_shell=allow_shell,
            patience=expire,
        )

        def heard(event: Event) -> None:
            publish(event)
            notes.take(event)

        try:
            return await notes.beside(send_through(service, request, publish=heard, wait=wait, timeout=limit or None))
        except DeliveryTimeout as error:
            if error.data["queued"]:
                error.hint = f"cancel it with: {notes.cancel_command}"
            raise
        except asyncio.CancelledError:
            await notes.say_what_remains(service.get_delivery)
            raise

    async def here() -> SentMessage:
        async with (
            connection.connect() as server,
            open_outbox() as outbox,
        ):
            pane = await found(server, target)
            notes = DeliveryNotes(
                output,
                chosen_id,
                sessions=Sessions(server).all,
                queues=False,
                receipts=not as_json,
                waits=wait,
                limit=limit,
            )
            async with told_in_tmux(server, {pane.pane: pane.address}, wanted=settings(context).notify) as told:

                def heard(event: Event) -> None:
                    told(event)
                    publish(event)
                    notes.take(event)

                try:
                    return await notes.beside(
                        send(
                            server,
                            pane,
                            words,
                            publish=heard,
                            message_id=chosen_id,
                            wait=wait,
                            timeout=limit or None,
                            policy=DeliveryPolicy(
                                needs_human=needs_human.value, commands=commands.value, patience=expire
                            ),
                            allow_shell=allow_shell,
                            outbox=outbox,
                            waits=notes.say_who_types,
                        )
                    )
                except PaneTaken as error:
                    if error.data["holder"] == "daemon" and no_daemon:
                        error.hint = f"let the daemon type it, without --no-daemon; or {error.hint}"
                    raise
                except asyncio.CancelledError:
                    notes.say_what_became_of_it()
                    raise

    run_to_end(output, main)
