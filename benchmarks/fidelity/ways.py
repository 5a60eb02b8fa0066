"""The ways to hear a recording that are compared; all of them give the same kind of events."""

from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from types import MappingProxyType

from benchmarks.fidelity.polling import polled
from benchmarks.fidelity.stripping import stripped
from streamrelay.agents import shipped_profiles
from streamrelay.delta.profiles import Profile
from streamrelay.events import Event
from streamrelay.recordings import Recording, replay

Hearer = Callable[[Recording], Iterator[Event]]
WITHOUT_PROFILES = "stream without profiles"


def streamed(recording: Recording, *, profiles: bool) -> Iterator[Event]:
    """Yield the events of the stream, with what streamrelay comes with of single programs, or without."""
    return replay(recording, _shipped() if profiles else ())


@cache
def _shipped() -> tuple[Profile, ...]:
    """Return what is shipped: a user's own profiles would make figures that nobody else gets."""
    return tuple(profile.reading for profile in shipped_profiles())


HEARERS: Mapping[str, Hearer] = MappingProxyType(
    {
        "stream": partial(streamed, profiles=True),
        WITHOUT_PROFILES: partial(streamed, profiles=False),
        "polling": polled,
        "polling at once": partial(polled, settled=1),
        "stripping": stripped,
    }
)
"""In the order in which they are shown."""
