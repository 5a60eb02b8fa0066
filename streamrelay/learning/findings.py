"""What was found: a line of a profile with what it rests on, or that there was nothing to find it by."""

from dataclasses import dataclass
from typing import Literal

Key = Literal[
    "recognise.commands", "recognise.interpreters", "recognise.signs",
    "state.busy_titles", "state.idle_titles",
    "screen.footers", "screen.furniture", "screen.activity",
    "delivery.ready", "delivery.composer", "delivery.submit_delay", "delivery.paste_limit", "delivery.mid_turn",
    "dialogs", "stop_hook", "transcript",
]  # fmt: skip


@dataclass(frozen=True, slots=True)
class FoundValue:
    """A pattern, or a plain value, for a key of a profile."""

    key: Key
    value: str | float
    why: str
    """The evidence, in one line, with its times."""
    seen: str | None = None
    """A row that the pattern matches; None for a value that is no pattern."""
    t: float = 0.0
    """When that was seen."""

    @property
    def is_pattern(self) -> bool:
        """Whether the value is a pattern."""
        return self.seen is not None


@dataclass(frozen=True, slots=True)
class NoFinding:
    """Something that is worth knowing about a key, and gives no line: above all, that there was no evidence."""

    key: Key
    why: str


Finding = FoundValue | NoFinding
