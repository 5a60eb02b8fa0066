"""Which texts are not delivered at all, whatever the program is at."""

from streamrelay.delivery.message import Message, Policy
from streamrelay.delivery.tty_input import LONGEST_LINE, reads_lines

_COMMAND_SIGNS = ("/", "!", "#", "@")


def unfit(message: Message, policy: Policy, tty: str) -> str:
    """Return why a message is not delivered into the program on a terminal, as its receipt says it; empty if it is."""
    if not message.text:
        return "empty"
    if policy.commands == "refuse" and message.text.lstrip().startswith(_COMMAND_SIGNS):
        return "command"
    longest = max(len(line.encode()) for line in message.text.split("\n"))
    return "line_too_long" if longest > LONGEST_LINE and reads_lines(tty) else ""
