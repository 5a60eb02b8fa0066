"""All that a pane's stream can be told: the closed alphabet of `DeltaStream.apply`.

A live pane's stream is told these, a recorder writes the same ones down, and a replay tells them again: the very same
inputs at the very same times give the very same events.
"""

from typing import Literal

import msgspec

from streamrelay.events import ClosedReason, WitnessName
from streamrelay.vt.engine import Snapshot
from streamrelay.vt.widths import Quirks

WitnessPolicy = Literal["prefer", "verify", "off"]


class _Input(msgspec.Struct, frozen=True, tag_field="entry", tag=str.lower):
    """What all inputs have: `t` in seconds of the stream, never less than before, and the pane."""

    t: float
    pane: str


class Output(_Input, frozen=True):
    """Bytes that the program of a pane printed."""

    data: bytes


class Pasted(_Input, frozen=True):
    """Text that was put into a pane."""

    message_id: str
    text: str


class Submitted(_Input, frozen=True):
    """The Enter behind a pasted text."""

    message_id: str


class HandedOver(_Input, frozen=True):
    """A message is about to be sent by the program's own API: it goes past the composer, and needs no Enter."""

    message_id: str
    text: str


class Resized(_Input, frozen=True):
    """A pane has another size from here on; its screen is not known to be as tmux has it until it is `Reseeded`."""

    columns: int
    lines: int


class Began(_Input, frozen=True):
    """The watching of a live pane began, on this screen."""

    session: str
    command: str
    title: str
    screen: Snapshot
    widths: dict[str, int] = {}
    """Characters that are not as wide there as in the built-in table."""
    quirks: Quirks = msgspec.field(default=Quirks(), name="manners")
    """What the tmux there did otherwise than 3.3a."""


class Reseeded(_Input, frozen=True):
    """The pane's screen was read again: after a resize, or where bytes were missed."""

    screen: Snapshot
    respawned: bool = False
    """Whether another program was started in the pane: tmux resets screen and modes then, and prints no byte of it."""


class Ran(_Input, frozen=True):
    """Another program came to the foreground."""

    command: str


class AtWork(_Input, frozen=True):
    """The kernel showed at this moment that the shell's foreground command and its descendants do not read."""


class Missed(_Input, frozen=True):
    """Output may have been missed here."""

    reason: str
    lost_lines: int | None = None


class Looked(_Input, frozen=True):
    """A sender that was about to type asked whether a person is needed."""


class HookReported(_Input, frozen=True, tag="told"):
    """The program's own stop hook reported that its turn is over."""

    agent: str
    answer: str = ""


class WitnessPassage(msgspec.Struct, frozen=True):
    """What an agent's own record says: a person's message, the agent's answer in its source, or the end of a turn."""

    speaker: Literal["person", "agent", "end"]
    text: str = ""
    at: float = 0.0
    """When, as the record says (Unix time); 0 where it does not."""


class WitnessOpened(_Input, frozen=True):
    """From here on the agent's own record of its answers is read, with this policy; or, with `off`, no longer."""

    agent: str
    by: WitnessName
    lag: float
    """Seconds that the end of a turn waits for the record."""
    policy: WitnessPolicy = "prefer"
    reason: str = ""
    """Why there is none to be read yet."""
    under_way: float = 0.0
    """Seconds that it waits for the rest of a record that has begun; `lag` if that is longer."""


class WitnessReported(_Input, frozen=True):
    """What the agent's own record says since it was read last."""

    agent: str
    passages: tuple[WitnessPassage, ...] = ()
    reason: str = ""
    """Why nothing is reported."""
    since: float = 0.0
    """When the turn before ended (Unix time); 0 if that is unknown."""


class Waited(_Input, frozen=True):
    """Time passed, and something was due."""


class Ended(_Input, frozen=True):
    """The pane was closed, or its recording ended."""

    reason: ClosedReason
    status: int | None = None
    tail_certain: bool = False


Input = (
    Output | Pasted | Submitted | HandedOver | Resized | Began | Reseeded | Ran | AtWork | Missed | Looked
    | HookReported | WitnessOpened | WitnessReported | Waited | Ended
)  # fmt: skip
