"""The attribution of a message: `Name (number):`, an empty line, the content (seed 000, task 5).

Templates come from the user, the text in them does not. Fields are filled in one pass, so that a text that contains a
field's spelling stays unchanged.
"""

import re
from collections.abc import Sequence

from streamrelay.errors import UsageError

ATTRIBUTED = "{name} ({number}):\n\n{text}"
_FIELD = re.compile(r"\{(\w+)\}")


def content(lines: Sequence[str]) -> str:
    """Join lines to one text without empty lines at either end; return an empty string for blanks only."""
    text = "\n".join(lines).strip("\n")
    return text if text.strip() else ""


def filled(template: str, **values: object) -> str:
    """Return a template with its fields filled; raises UsageError for a field that is not among `values`."""

    def value(found: re.Match[str]) -> str:
        name = found[1]
        if name not in values:
            known = ", ".join(f"{{{known}}}" for known in values)
            raise UsageError(
                f"unknown field {{{name}}} in the template {template!r}", hint=f"use only these fields: {known}"
            )
        return str(values[name])

    return _FIELD.sub(value, template)


def attributed(name: str, number: int, lines: Sequence[str], template: str = ATTRIBUTED) -> str | None:
    """Return the message for a participant's output, without a last line feed, which the Enter replaces.

    Empty lines at either end are left out; returns None if nothing is left.
    """
    text = content(lines)
    return filled(template, name=name, number=number, text=text) if text else None
