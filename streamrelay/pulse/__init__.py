"""The pulse of a gathering: how system, sessions, repositories and pipelines are, and what was said of it before."""

from streamrelay.pulse.collector import Sources, take_pulse
from streamrelay.pulse.model import ALL_PARTS, BEAT_PARTS, Part, SessionNow
from streamrelay.pulse.pulse import Pulse

__all__ = ["ALL_PARTS", "BEAT_PARTS", "Part", "Pulse", "SessionNow", "Sources", "take_pulse"]
