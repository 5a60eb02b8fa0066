"""The ways to hear a recording that are compared; all of them give the same kind of events."""

from collections.abc import Callable, Iterator, Mapping
from functools import cache
from types import MappingProxyType

from benchmarks.fidelity.polling import polled
from benchmarks.fidelity.scoring import Truth
from benchmarks.fidelity.stripping import stripped
from benchmarks.fidelity.witnessed import ScreenAlone, has_record, witnessed
from streamrelay.agents import shipped_profiles
from streamrelay.delta.profiles import Profile
from streamrelay.events import Event
from streamrelay.recordings import Recording, replay

Hearer = Callable[[Recording, Truth], Iterator[Event]]
"""Replays a recording through one reader; only a second witness also gets what the program said."""
WITH_WITNESSES = "with witnesses"
WITHOUT_PROFILES = "stream without profiles"


def streamed(recording: Recording, *, profiles: bool) -> Iterator[Event]:
    """Yield the events of the stream by the screen alone, with what is shipped of single programs, or without."""
    return replay(ScreenAlone(recording), _shipped() if profiles else (), retimed=has_record(recording))


@cache
def _shipped() -> tuple[Profile, ...]:
    """Return what is shipped: a user's own profiles would make figures that no other user gets."""
    return tuple(profile.reading for profile in shipped_profiles())


HEARERS: Mapping[str, Hearer] = MappingProxyType(
    {
        "stream": lambda recording, _: streamed(recording, profiles=True),
        WITH_WITNESSES: lambda recording, truth: witnessed(recording, truth, _shipped()),
        WITHOUT_PROFILES: lambda recording, _: streamed(recording, profiles=False),
        "polling": lambda recording, _: polled(recording),
        "polling at once": lambda recording, _: polled(recording, settled=1),
        "stripping": lambda recording, _: stripped(recording),
    }
)
"""In the order in which they are shown."""
