"""Proof that a proposed profile does no harm: replay its recording with the profile and without.

With the profile the replay must report the same text, from the same origins, in the same turns. No message may leak, no
tool call, dialog or turn end may be lost, and no turn end may come later or be less certain. A finding that breaks any
of this is not proposed.
"""

from collections.abc import Sequence

import msgspec

from streamrelay.delta.profiles import Profile
from streamrelay.events import Activity, NeedsHuman, Text, TurnEnded
from streamrelay.recordings.model import Recording
from streamrelay.recordings.replay import replay

LATER = 0.005
"""Seconds by which an end may come later: less than anybody notices."""


class TurnEnd(msgspec.Struct, frozen=True):
    """The end of a turn."""

    turn: int
    t: float
    certain: bool


class ReplayResult(msgspec.Struct, frozen=True):
    """The events of a replay, as far as a profile can change them."""

    said: list[tuple[int, str, str]]
    """The turn, the origin and the text of each line."""
    tool_calls: list[str]
    needs: list[tuple[str, str]]
    ends: list[TurnEnd]

    def is_no_worse_than(self, other: "ReplayResult") -> bool:
        """Tell whether this is at least as good as the replay without a profile."""
        if (self.said, self.tool_calls, len(self.ends)) != (other.said, other.tool_calls, len(other.ends)):
            return False
        if any(need not in self.needs for need in other.needs):
            return False
        return all(
            mine.turn == theirs.turn and mine.t <= theirs.t + LATER and mine.certain >= theirs.certain
            for mine, theirs in zip(self.ends, other.ends, strict=True)
        )


def hear(recording: Recording, profiles: Sequence[Profile] = ()) -> ReplayResult:
    """Replay a recording, and return what counts."""
    said: list[tuple[int, str, str]] = []
    tool_calls: list[str] = []
    needs: list[tuple[str, str]] = []
    ends: list[TurnEnd] = []
    for event in replay(recording, profiles):
        match event:
            case Text(turn=turn, origin=origin, text=text):
                said.append((turn, origin, text))
            case Activity(text=text):
                tool_calls.append(text)
            case NeedsHuman(kind=kind, text=text):
                needs.append((kind, text))
            case TurnEnded(turn=turn, t=t, certain=certain):
                ends.append(TurnEnd(turn, t, certain))
            case _:
                pass
    return ReplayResult(said, tool_calls, needs, ends)
