"""Which texts are not delivered at all, whatever the program is at."""

from streamrelay.delivery.message import DeliveryPolicy, Message
from streamrelay.delivery.terminal import TerminalDevice
from streamrelay.delivery.tty_input import MAX_LINE_BYTES

_COMMAND_SIGNS = ("/", "!", "#", "@")


def rejection_reason(message: Message, policy: DeliveryPolicy, terminal: TerminalDevice, *, limit: int | None) -> str:
    """Return why a message is not delivered into the program on a terminal, as its receipt says it; empty if it is.

    `limit` are the characters above which a text goes into a file.
    """
    if not message.text:
        return "empty"
    if policy.commands == "refuse" and message.text.lstrip().startswith(_COMMAND_SIGNS):
        return "command"
    longest = max(len(line.encode()) for line in message.text.split("\n"))
    if longest > MAX_LINE_BYTES and terminal.reads_lines:
        return "line_too_long"
    # A file of ours is no use to a program on another machine.
    return "too_long" if not terminal.is_here and is_spooled(message, limit) else ""


def is_spooled(message: Message, limit: int | None) -> bool:
    """Return whether a text goes into a file, and only a pointer is pasted."""
    return limit is not None and len(message.text) > limit
