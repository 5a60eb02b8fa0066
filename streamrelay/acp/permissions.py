"""A dialog in a pane as the question that ACP asks a person: one option a choice, with the kind its words suggest.

Clients use the kinds for icons, and some answer them by a rule of the user's. Words decide: a choice that begins with
"No" refuses, one that names a longer validity ("don't ask again", "always", "for this session") is for always. A choice
whose words are unknown, as in a menu, counts as allowed once.
"""

import regex
from acp.schema import PermissionOption, PermissionOptionKind

from streamrelay.service.api import OpenDialog

ANSWERABLE = frozenset({"permission", "trust", "confirmation", "picker"})
"""The kinds of dialogs that a client may answer; a password or a login belongs to the terminal."""

_REFUSES = regex.compile(r"(?i)^(?:no|deny|reject|cancel|decline|don['’]t|never|skip|abort)\b|\bexit\b|\(esc\)\s*$")
_LASTS = regex.compile(
    r"(?i)don['’]t ask|\balways\b|\ball future\b|\b(?:this|entire) session\b|\bnever\b|\bduring this\b"
)


def permission_options(dialog: OpenDialog) -> list[PermissionOption]:
    """Return the options of a dialog; their ids are the places of its choices."""
    return [
        PermissionOption(option_id=str(place), name=choice, kind=option_kind(choice))
        for place, choice in enumerate(dialog.choices)
    ]


def option_kind(choice: str) -> PermissionOptionKind:
    """Return the kind of a choice by its words."""
    lasts = _LASTS.search(choice) is not None
    if _REFUSES.search(choice):
        return "reject_always" if lasts else "reject_once"
    return "allow_always" if lasts else "allow_once"
