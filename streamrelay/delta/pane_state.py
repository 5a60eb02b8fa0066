"""What a sender would find in a pane if it typed now, as far as the screen and the program's signals tell.

A placeholder is told from a draft by the cursor: it stands before the one and behind the other. What stands right of
the cursor alone proves nothing, so a reader that knows the program (a profile) may look at the rows again.
"""

from dataclasses import dataclass, replace
from typing import Self

from streamrelay.events import NeedKind


@dataclass(frozen=True, slots=True)
class ComposerView:
    """The composer or the open line of a program, as it stands."""

    rows: tuple[str, ...] = ()
    """Its rows, marks and prompts included."""
    text: str = ""
    """What it shows behind its mark or a known prompt, a placeholder included."""
    typed: str = ""
    """What of that was certainly typed or pasted."""
    faint: bool = False
    """Whether all of the text is drawn faint, as placeholders are."""


@dataclass(frozen=True, slots=True)
class PaneState:
    """The state of one pane's program."""

    profile: str
    """The name of the profile it was recognised by."""
    converses: bool
    """Whether it keeps a composer: a transcript on a screen it paints itself, or at least no line editor."""
    prints: bool
    """Whether it is heard line by line, as its lines pass: it has painted nothing so far."""
    answers: bool
    """Whether it is in the middle of an answer, or says that it is at work."""
    asks_for_paste: bool
    """Whether it is known to ask for bracketed paste."""
    withdrawn: bool
    """Whether it asked for bracketed paste once and does not any more: it runs what was submitted, or is leaving."""
    needs_human: NeedKind | None
    rows: tuple[str, ...]
    """The rows of the screen, without blanks at their ends."""
    composer: ComposerView

    def asking_for(self, kind: NeedKind) -> Self:
        """Return the same, with a person needed for something that the screen alone does not tell."""
        return replace(self, needs_human=kind)
