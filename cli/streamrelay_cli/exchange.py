"""The options that `relay` and `link` share: the limits of a conversation."""

from dataclasses import dataclass, field
from typing import Annotated, TypedDict

import typer

from streamrelay.relay.rules import ACKNOWLEDGEMENTS, HOPS

Budget = Annotated[int, typer.Option("--budget", min=0, help="End after this many deliveries; 0 for no limit.")]
Acknowledgements = Annotated[
    int,
    typer.Option("--acknowledgements", min=0, help="Delivered turns in a row without new content; 0 for no limit."),
]
Hops = Annotated[
    int, typer.Option("--hops", min=0, help="How many times an agent's answer may follow an answer; 0 for no limit.")
]
Longest = Annotated[int, typer.Option("--longest", min=0, help="Characters of one delivery; 0 for no limit.")]
PerMinute = Annotated[
    int, typer.Option("--per-minute", min=0, help="Deliveries per minute; further ones wait. 0 for no limit.")
]
Checkpoints = Annotated[
    list[str], typer.Option("--checkpoint", help="Output that begins like this is not delivered.", metavar="PREFIX")
]


class ExchangeRules(TypedDict):
    """The rules of a conversation that options set."""

    acknowledgements: int
    hops: int
    longest: int
    per_minute: int
    checkpoints: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Exchange:
    """The limits of a conversation, for all its participants."""

    acknowledgements: Acknowledgements = ACKNOWLEDGEMENTS
    hops: Hops = HOPS
    longest: Longest = 0
    per_minute: PerMinute = 0
    checkpoints: Checkpoints = field(default_factory=list)

    def rules(self) -> ExchangeRules:
        """Return the limits as fields of a relay's rules or a link's policy."""
        return ExchangeRules(
            acknowledgements=self.acknowledgements,
            hops=self.hops,
            longest=self.longest,
            per_minute=self.per_minute,
            checkpoints=tuple(self.checkpoints),
        )
