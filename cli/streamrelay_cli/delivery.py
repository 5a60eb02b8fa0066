"""`streamrelay delivery`: list waiting messages, show a message's state, cancel a message before it is typed.

The commands ask the daemon of the tmux server; without one they read the outbox themselves.
"""

import time
from collections.abc import AsyncIterator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from typing import Annotated, Protocol

import msgspec
import typer

from streamrelay import Server
from streamrelay.control import Tmux
from streamrelay.delivery.sending import open_outbox
from streamrelay.errors import StreamrelayError, TargetNotFound, UsageError
from streamrelay.service.api import Delivery, Listed, Session
from streamrelay.sessions.sessions import Sessions
from streamrelay_cli.attention import attention_lines
from streamrelay_cli.command_entry import CONTROL, command, group
from streamrelay_cli.daemon_client import service_if_any
from streamrelay_cli.options import AsJson, PrintingOptions, ServerOptions, takes_options
from streamrelay_cli.output import CommandOutput
from streamrelay_cli.runner import run_to_end
from streamrelay_cli.targets import written_out

group("delivery", "List the messages that wait, show one's status, or cancel one.", panel=CONTROL, place=20)

MAX_TEXT = 40
"""Characters of a message in a list."""
_HEADINGS = ("ID", "TO", "STATE", "AGE", "TEXT")

Ids = Annotated[list[str], typer.Argument(help="The ids that `send` and `delivery list` print.", metavar="ID...")]


class _Deliveries(Protocol):
    """The calls that a daemon and the outbox share."""

    async def get_delivery(self, message_id: str) -> list[Delivery]: ...

    async def list_deliveries(self, session: str = "", state: Listed = "waiting") -> list[Delivery]: ...

    async def cancel_delivery(self, message_id: str) -> list[Delivery]: ...


@command("delivery list", place=10)
@takes_options
def list_command(
    options: ServerOptions,
    printing: PrintingOptions,
    target: Annotated[
        str, typer.Argument(help="A session: its id, its title, or a pane; all by default.", show_default=False)
    ] = "",
    everything: Annotated[
        bool, typer.Option("--all", help="Also list submitted, failed and answered messages of the last seven days.")
    ] = False,
    as_json: AsJson = False,
) -> None:
    """List the messages that wait, oldest first, with the reason."""
    output = printing.output(as_json=as_json)

    async def main() -> int:
        async with _asked(options.server()) as (deliveries, sessions):
            session = written_out(target) if target else ""
            found = await deliveries.list_deliveries(session, "all" if everything else "waiting")
        if as_json:
            for one in found:
                output.json(msgspec.to_builtins(one))
        elif found:
            output.lines(_table(found, {one.pane: one for one in sessions}))
            _advise(output, found, sessions)
        else:
            output.note("no message was sent" if everything else "no message waits")
        return 0

    run_to_end(output, main)


@command("delivery show", place=20)
@takes_options
def show(options: ServerOptions, printing: PrintingOptions, message_ids: Ids, as_json: AsJson = False) -> None:
    """Show a message's delivery status, one line per pane."""
    output = printing.output(as_json=as_json)

    async def main() -> int:
        async with _asked(options.server()) as (deliveries, _):
            for message_id in message_ids:
                found = await deliveries.get_delivery(message_id)
                if not found:
                    raise TargetNotFound(
                        f"no message has the id {message_id!r}",
                        hint="list those of the last seven days: streamrelay delivery list --all",
                    )
                _print(output, found)
        return 0

    run_to_end(output, main)


@command("delivery cancel", place=30)
@takes_options
def cancel(
    options: ServerOptions,
    printing: PrintingOptions,
    message_ids: Annotated[
        list[str] | None, typer.Argument(help="The ids that `send` and `delivery list` print.", metavar="[ID...]")
    ] = None,
    to: Annotated[
        str, typer.Option("--to", help="Cancel every message that waits for this session.", metavar="TARGET")
    ] = "",
    as_json: AsJson = False,
) -> None:
    """Cancel messages before they are pasted.

    It exits with 46 for a message that is pasted already.
    """
    output = printing.output(as_json=as_json)

    async def main() -> int:
        failed: list[StreamrelayError] = []
        async with _asked(options.server()) as (deliveries, _):
            chosen = list(message_ids or ())
            if to:
                waiting = await deliveries.list_deliveries(written_out(to))
                chosen += [one.message_id for one in waiting if one.state == "queued"]
            elif not chosen:
                raise UsageError("name a message to cancel", hint="`streamrelay delivery list` prints those that wait")
            for message_id in dict.fromkeys(chosen):
                try:
                    _print(output, await deliveries.cancel_delivery(message_id))
                except StreamrelayError as error:
                    # The others can still be cancelled.
                    output.error(error.message, error.hint)
                    failed.append(error)
        if not chosen:
            output.note(f"no message waits for {to}")
        return failed[0].exit_code if failed else 0

    run_to_end(output, main)


@asynccontextmanager
async def _asked(tmux: Tmux) -> AsyncIterator[tuple[_Deliveries, Sequence[Session]]]:
    """Yield the daemon or the outbox of a tmux server, and the server's sessions."""
    async with service_if_any(tmux) as service:
        if service is not None:
            yield service, await service.sessions()
            return
    # Imported late: this loads the whole service, which a command that asks a daemon does not need.
    from streamrelay.service.deliveries import StoredDeliveries

    async with Server(tmux) as server, open_outbox() as outbox:
        yield StoredDeliveries(server, outbox), await Sessions(server).all()


def _print(output: CommandOutput, deliveries: Iterable[Delivery]) -> None:
    for one in deliveries:
        if output.as_json:
            output.json(msgspec.to_builtins(one))
        else:
            output.line(f"{one.message_id}  {one.pane}  {_state(one)}{f'  {one.file}' if one.file else ''}")


def _table(deliveries: Iterable[Delivery], sessions: Mapping[str, Session]) -> Iterable[str]:
    rows = [_HEADINGS, *(_row(one, sessions.get(one.pane)) for one in deliveries)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        yield "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()


def _row(delivery: Delivery, session: Session | None) -> tuple[str, ...]:
    to = delivery.pane if session is None or session.title == delivery.pane else f"{session.title} ({delivery.pane})"
    text = " ".join(delivery.text.split())
    shown = text if len(text) <= MAX_TEXT else f"{text[: MAX_TEXT - 1]}…"
    return delivery.message_id, to, _state(delivery), _age(delivery.queued_at), shown


def _state(delivery: Delivery) -> str:
    return f"{delivery.state} ({delivery.reason})" if delivery.reason else delivery.state


def _age(since: float) -> str:
    """Return how long ago a Unix time was, in the largest unit that fits."""
    if not since:
        return "-"
    seconds = max(0, int(time.time() - since))
    for unit, length in (("d", 86_400), ("h", 3_600), ("m", 60)):
        if seconds >= length:
            return f"{seconds // length}{unit}"
    return f"{seconds}s"


def _advise(output: CommandOutput, deliveries: Iterable[Delivery], sessions: Iterable[Session]) -> None:
    """Print what a person should do, for each session that a message waits for."""
    held = {one.pane for one in deliveries if one.state == "queued"}
    for line in attention_lines(session for session in sessions if session.pane in held):
        output.note(line)
