"""How a listener sees who speaks: by a template, `Name (number):`, an empty line, the content (seed 000, task 5).

Templates are the user's own, what is put into them is not: fields are filled in one pass, so that a text which spells
a field stays what it is.
"""

import re
from collections.abc import Sequence

from streamrelay.errors import UsageError

ATTRIBUTED = "{name} ({number}):\n\n{text}"
_FIELD = re.compile(r"\{(\w+)\}")


def content(lines: Sequence[str]) -> str:
    """Return what was said as one text, without empty lines at either end; empty if there is nothing but blanks."""
    text = "\n".join(lines).strip("\n")
    return text if text.strip() else ""


def filled(template: str, **values: object) -> str:
    """Return a template with its fields filled; raises UsageError for a field that is not among `values`."""

    def value(found: re.Match[str]) -> str:
        name = found[1]
        if name not in values:
            known = ", ".join(f"{{{known}}}" for known in values)
            raise UsageError(f"the template {template!r} has a field {{{name}}}", hint=f"its fields are {known}")
        return str(values[name])

    return _FIELD.sub(value, template)


def attributed(name: str, number: int, lines: Sequence[str], template: str = ATTRIBUTED) -> str | None:
    """Return the message for what a participant said, without its last line feed: the Enter is that.

    Empty lines at either end are left out; None if nothing is left.
    """
    text = content(lines)
    return filled(template, name=name, number=number, text=text) if text else None
