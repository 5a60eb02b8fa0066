"""How a listener sees who speaks: `Name (number):`, an empty line, the content (seed 000, task 5)."""

from collections.abc import Sequence


def attributed(name: str, number: int, lines: Sequence[str]) -> str | None:
    """Return the message for what a participant said, without its last line feed: the Enter is that.

    Empty lines at either end are left out; None if nothing is left.
    """
    content = "\n".join(lines).strip("\n")
    return f"{name} ({number}):\n\n{content}" if content.strip() else None
