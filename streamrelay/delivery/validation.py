"""Validates messages: some texts are never delivered, whatever the program's state."""

from streamrelay.delivery.message import COMMAND_SIGNS, DeliveryPolicy, Message
from streamrelay.delivery.terminal import TerminalDevice
from streamrelay.delivery.tty_input import MAX_LINE_BYTES


def rejection_reason(message: Message, policy: DeliveryPolicy, terminal: TerminalDevice, *, limit: int | None) -> str:
    """Return the reason, for the receipt, why a message cannot be delivered to a program; empty if it can.

    A text of more than `limit` characters goes into a file.
    """
    if not message.text:
        return "empty"
    if policy.commands == "refuse" and message.text.lstrip().startswith(COMMAND_SIGNS):
        return "command"
    longest = max(len(line.encode()) for line in message.text.split("\n"))
    if longest > MAX_LINE_BYTES and terminal.reads_lines:
        return "line_too_long"
    # A program on another machine cannot read a file on this one.
    return "too_long" if not terminal.is_here and is_spooled(message, limit) else ""


def is_spooled(message: Message, limit: int | None) -> bool:
    """Return whether a text goes into a file, so that only a pointer is pasted."""
    return limit is not None and len(message.text) > limit
