"""The decisions of people that apply to all conversations, current and later ones."""

import msgspec

MAX_SEPARATED_PAIRS = 1_000


class UserDecisions(msgspec.Struct):
    """The settings, in the form in which they are stored."""

    paused: bool = False
    muted: set[str] = msgspec.field(default_factory=set)
    """The ids of muted sessions."""
    watched: set[str] = msgspec.field(default_factory=set)
    """Panes that are observed although they may take part in no conversation."""
    apart: list[tuple[str, str]] = msgspec.field(default_factory=list)
    """Pairs whose link waited for a person (spent or paused) when one of them closed it; the latest last."""

    def part(self, a: str, b: str) -> None:
        """Keep two sessions from linking again by themselves."""
        self.apart = [*self.apart, _pair(a, b)][-MAX_SEPARATED_PAIRS:]

    def are_apart(self, a: str, b: str) -> bool:
        """Whether only a person may link two sessions again."""
        return _pair(a, b) in self.apart

    def join(self, a: str, b: str) -> None:
        """Take that a person has linked them again."""
        self.apart = [pair for pair in self.apart if pair != _pair(a, b)]


def _pair(a: str, b: str) -> tuple[str, str]:
    return (a, b) if a < b else (b, a)
