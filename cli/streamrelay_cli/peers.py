"""`streamrelay peers`: the other machines, their waiting messages, and the keys of this node."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from streamrelay.counts import counted
from streamrelay.errors import StorageError, TargetNotFound, UsageError
from streamrelay.federation.keys import KeyPair, fingerprint, read_key_file
from streamrelay.installation import needs_extra
from streamrelay.service.api import Peer
from streamrelay_cli.command_entry import CONTROL, command
from streamrelay_cli.command_group import is_group
from streamrelay_cli.config import settings
from streamrelay_cli.daemon_client import service_needed
from streamrelay_cli.files import write_private
from streamrelay_cli.options import AsJson, PrintingOptions, ServerOptions, takes_options
from streamrelay_cli.output import CommandOutput
from streamrelay_cli.runner import run_to_end

_HEADINGS = ("PEER", "STATE", "LAG", "WAITING", "REFUSED", "WHY")

Fingerprint = Annotated[str, typer.Argument(help="The fingerprint of the key, as `peers key` shows it.")]


@command("peers", panel=CONTROL, place=30)
@takes_options
def peers(context: typer.Context, options: ServerOptions, printing: PrintingOptions, as_json: AsJson = False) -> None:
    """Show the other machines: state, lag, waiting messages and their reasons."""
    if is_group(context):
        return
    output = printing.output(as_json=as_json)

    async def main() -> int:
        async with service_needed(options.server()) as service:
            found = await service.peers()
        if as_json:
            output.json([msgspec.to_builtins(peer) for peer in found])
        elif found:
            output.lines(_table(found))
        else:
            output.note("this daemon has no peers: docs/federation.md says how to name them")
        return 0

    run_to_end(output, main)


@command("peers key", place=10)
@takes_options
def key(context: typer.Context, printing: PrintingOptions, as_json: AsJson = False) -> None:
    """Print the public keys of this node, to add to `federation.peer_keys`."""
    output = printing.output(as_json=as_json)
    _print_keys(output, context, _read(_key_file(context)), as_json=as_json)


@command("peers add-key", place=20)
@takes_options
def add_key(context: typer.Context, printing: PrintingOptions, as_json: AsJson = False) -> None:
    """Create a key for this node; a second key is used after `use-key`."""
    output = printing.output(as_json=as_json)
    file = _key_file(context)
    keys = _read(file) if file.exists() else ()
    with needs_extra("redis", "a link between machines"):
        pair = KeyPair.generate()
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    _write(file, (*keys, pair))
    if keys:
        output.note("added; when all peers have it: streamrelay peers use-key " + fingerprint(pair.public))
    _print_keys(output, context, (pair,), as_json=as_json)


@command("peers use-key", place=30)
@takes_options
def use_key(context: typer.Context, printing: PrintingOptions, name: Fingerprint) -> None:
    """Use this key from the next start of the daemon on.

    The other keys of this node are still accepted.
    """
    file = _key_file(context)
    keys = _read(file)
    chosen = _found(keys, name)
    _write(file, (chosen, *(pair for pair in keys if pair != chosen)))
    printing.output().note(f"{name} is in use after `streamrelay daemon stop` and `start`")


@command("peers remove-key", place=40)
@takes_options
def remove_key(context: typer.Context, printing: PrintingOptions, name: Fingerprint) -> None:
    """Delete a key of this node.

    What is sealed for it is refused after the next start of the daemon, and its sender sends it again.
    """
    file = _key_file(context)
    keys = _read(file)
    gone = _found(keys, name)
    if len(keys) == 1:
        raise UsageError("a node needs a key", hint="make another one first: streamrelay peers add-key")
    _write(file, tuple(pair for pair in keys if pair != gone))
    printing.output().note(f"{name} is deleted; the daemon knows it until `streamrelay daemon stop` and `start`")


def _key_file(context: typer.Context) -> Path:
    table = settings(context).federation
    if not table.key_file:
        raise UsageError("federation.key_file is not set", hint="streamrelay config show federation")
    return Path(table.key_file).expanduser()


def _read(file: Path) -> tuple[KeyPair, ...]:
    try:
        text = file.read_text()
    except (OSError, UnicodeDecodeError) as error:
        raise UsageError(f"{file} cannot be read: {error}", hint="make a key: streamrelay peers add-key") from error
    with needs_extra("redis", "a link between machines"):
        return read_key_file(text)


def _write(file: Path, keys: Sequence[KeyPair]) -> None:
    """Put keys into the file in one step, so that no reader ever finds half of it."""
    new = file.with_name(f"{file.name}.new")
    head = "# Private keys of this node; the first one is in use. Show them to no other machine."
    write_private(new, "\n".join([head, *(pair.private_text for pair in keys), ""]), force=True)
    try:
        new.replace(file)
    except OSError as error:
        raise StorageError(f"cannot write {file}: {error.strerror}", data={"path": str(file)}) from error


def _found(keys: Iterable[KeyPair], name: str) -> KeyPair:
    for pair in keys:
        if fingerprint(pair.public) == name:
            return pair
    raise TargetNotFound(f"there is no key {name}", hint="`streamrelay peers key` lists them")


def _print_keys(output: CommandOutput, context: typer.Context, keys: Sequence[KeyPair], *, as_json: bool) -> None:
    node = settings(context).federation.node or "NODE"
    if as_json:
        shown = [{"fingerprint": fingerprint(pair.public), "line": f"{node} {pair.public_text}"} for pair in keys]
        output.json(shown)
        return
    for pair in keys:
        output.note(f"fingerprint {fingerprint(pair.public)}; for federation.peer_keys of each peer:")
        output.line(f"{node} {pair.public_text}")


def _table(found: Sequence[Peer]) -> Iterator[str]:
    rows = [_HEADINGS, *map(_row, found)]
    widths = [max(len(row[column]) for row in rows) for column in range(len(_HEADINGS))]
    for row in rows:
        yield "  ".join(f"{cell:{width}}" for cell, width in zip(row, widths, strict=True)).rstrip()
    for peer in found:
        for reason, count in peer.refused.items():
            yield f"  refused from {peer.name}: {counted(count, 'envelope')} ({reason})"
        if peer.slowed:
            put_off = counted(peer.slowed, "envelope")
            yield f"  slowed from {peer.name}: {put_off} put off (federation.messages_per_minute, bytes_per_minute)"


def _row(peer: Peer) -> tuple[str, ...]:
    waiting = ", ".join(f"{count} {kind}" for kind, count in peer.waiting.items()) or "-"
    lag = f"{peer.lag:,.1f} s" if peer.waiting else "-"
    return peer.name, peer.state, lag, waiting, str(sum(peer.refused.values())), peer.why or "-"
