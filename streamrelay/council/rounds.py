"""Instructions for blind, dissent and chair rounds, and the reader of dissent answers."""

import re
from collections.abc import Iterable, Mapping
from types import MappingProxyType
from typing import Final, NamedTuple

from streamrelay.council.coordinator import RoundKind

INSTRUCTIONS: Final[Mapping[RoundKind, str]] = MappingProxyType({
    "dissent": "[streamrelay] Name what you disagree with in what the others have said. One line for each claim and "
    "nothing else, in this form:\n\nclaim | who made it | why you disagree\n\nIf you disagree with nothing, answer "
    "with the one word: none",
    "chair": "[streamrelay] You have the chair. Sum up the conversation for all: what is agreed, what is open, who "
    "disagrees with what, and what is to be done next. Add nothing of your own.",
    "blind": "[streamrelay] In this round you do not see the others' answers before all have answered.",
})  # fmt: skip

_ROW = re.compile(r"\s*(?:[-*•]|\d+[.)])?\s*\|?(?P<cells>[^|]+(?:\|[^|]*){1,2})\|?\s*")
_RULE = re.compile(r"[\s|:-]+")


class Dissent(NamedTuple):
    """One claim that a member disagrees with."""

    member: str
    claim: str
    whose: str
    why: str


def read_dissent(member: str, text: str) -> list[Dissent]:
    """Return the claims in a member's answer; lines of another form are skipped."""
    found = []
    for line in text.splitlines():
        row = _ROW.fullmatch(line)
        if row is None or _RULE.fullmatch(line):
            continue
        claim, whose, why = (*(cell.strip() for cell in row["cells"].split("|")), "")[:3]
        if claim and claim.casefold() != "claim":
            found.append(Dissent(member, claim, whose, why))
    return found


def dissent_table(dissents: Iterable[Dissent]) -> str:
    """Return a Markdown table of claims and members; a sentence if no member disagrees."""
    cells = ((dissent.claim, dissent.whose, dissent.member, dissent.why) for dissent in dissents)
    rows = [" | ".join(cell.replace("|", "\\|") for cell in row) for row in cells]
    if not rows:
        return "No member disagrees with anything."
    return "\n".join(["| Claim | Made by | Disputed by | Why |", "|---|---|---|---|", *(f"| {row} |" for row in rows)])
