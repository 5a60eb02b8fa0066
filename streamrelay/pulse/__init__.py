"""The pulse of a gathering: machine, sessions, repositories and pipelines, with excerpts from history."""

from streamrelay.pulse.collector import Sources, take_pulse
from streamrelay.pulse.model import ALL_PARTS, BEAT_PARTS, Part, SessionNow
from streamrelay.pulse.pulse import Pulse

__all__ = ["ALL_PARTS", "BEAT_PARTS", "Part", "Pulse", "SessionNow", "Sources", "take_pulse"]
