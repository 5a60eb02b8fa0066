"""What a ceremony decided, read off its effects; and the circle that its tests hold."""

from streamrelay.events import (
    Piece,
)
from streamrelay.gathering.library import load_texts
from streamrelay.gathering.steps import (
    Effect,
    Passed,
    Prompt,
    PublishGatheringEvent,
    Said,
)

TEXTS = load_texts()
REX, MO, SAGE, ADA = 2, 4, 7, 1


def prompt(effects: list[Effect], kind: str = "turn") -> Prompt:
    (found,) = [effect for effect in effects if isinstance(effect, Prompt) and effect.kind == kind]
    return found


def states(effects: list[Effect]) -> list[tuple[str, str]]:
    """What became of the piece, and with whom."""
    pieces = [e.event for e in effects if isinstance(e, PublishGatheringEvent) and isinstance(e.event, Piece)]
    return [(piece.speaker, piece.how or piece.state) for piece in pieces]


def told(effects: list[Effect], kind: type) -> list:
    return [
        effect.event
        for effect in effects
        if isinstance(effect, PublishGatheringEvent) and isinstance(effect.event, kind)
    ]


def passes_at_once(asked: Prompt):
    """Each speaker says one thing and passes; the harvester harvests."""
    if asked.kind == "turn":
        yield 1.0, Said(asked.to, f"Words of {asked.to}.")
        yield 2.0, Passed(asked.to)
    if asked.kind == "harvest":
        yield 3.0, Said(asked.to, "The harvest.")
