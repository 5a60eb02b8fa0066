"""The faults of one seed: a pure function of the seed, so a failing seed makes the same schedule again.

The schedule replays exactly. The operating system still decides which byte a process has reached when a fault strikes,
so a seed that fails rarely may need several runs.
"""

import random
from collections.abc import Sequence
from typing import Literal, NamedTuple, get_args

FaultKind = Literal[
    "kill",
    "kill_early",
    "pause",
    "delete_socket",
    "resize",
    "limit_descriptors",
    "fill_disk",
    "drop_control_client",
    "restart_tmux",
    "jump_clock",
    "restart_broker",
]
FAULTS: tuple[FaultKind, ...] = get_args(FaultKind)
MAX_PAUSE, MAX_CALM = 0.6, 0.4


class Fault(NamedTuple):
    """One fault: how long the system runs undisturbed before it, how long it lasts (seconds), and a size to use."""

    kind: FaultKind
    calm: float
    lasts: float
    columns: int
    lines: int


def schedule(seed: int, count: int, of: Sequence[FaultKind] = FAULTS) -> list[Fault]:
    """Return `count` faults of the kinds `of`; a kind comes again only when every other one has come."""
    chance = random.Random(seed)
    kinds: list[FaultKind] = []
    while len(kinds) < count:
        kinds += chance.sample(of, len(of))
    return [
        Fault(
            kind,
            chance.uniform(0.0, MAX_CALM),
            chance.uniform(0.05, MAX_PAUSE),
            chance.randint(60, 160),
            chance.randint(20, 60),
        )
        for kind in kinds[:count]
    ]
