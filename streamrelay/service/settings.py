"""What people decided that holds for everything, whatever is made or ends."""

import msgspec

MAX_SEPARATED_PAIRS = 1_000


class Settings(msgspec.Struct):
    """As it stands, and as it is kept."""

    paused: bool = False
    muted: set[str] = msgspec.field(default_factory=set)
    """Sessions."""
    watched: set[str] = msgspec.field(default_factory=set)
    """Panes that are heard whether or not they take part in anything."""
    apart: list[tuple[str, str]] = msgspec.field(default_factory=list)
    """Pairs of sessions, the latest last, of which one closed a link that waited for a person: spent, or paused."""

    def part(self, a: str, b: str) -> None:
        """Let two sessions not begin anew what waited for a person."""
        self.apart = [*self.apart, _pair(a, b)][-MAX_SEPARATED_PAIRS:]

    def are_apart(self, a: str, b: str) -> bool:
        """Whether only a person links two sessions again."""
        return _pair(a, b) in self.apart

    def join(self, a: str, b: str) -> None:
        """A person has linked them."""
        self.apart = [pair for pair in self.apart if pair != _pair(a, b)]


def _pair(a: str, b: str) -> tuple[str, str]:
    return (a, b) if a < b else (b, a)
