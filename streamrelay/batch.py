"""Batches of events: printed lines travel together and become event objects on first access.

A program that floods prints a few hundred lines a read, and all that is to be said of each is its text: where it comes
from, when and in which turn is the same for all. An event of each costs as much as rendering its line, and who prints
the texts, counts them or drops them needs none. So `Lines` stand for as many `Text` events, and a `Batch` is a sequence
of events that makes those it does not have yet when they are asked for: once, so that what was seen stays as it is.
"""

from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from itertools import count, repeat
from typing import Self, SupportsIndex, overload

import msgspec

from streamrelay.events import Event, Text


class Lines(msgspec.Struct, kw_only=True):
    """Lines that a program printed one after the other: their texts, and what their events have in common.

    `seq` and `line` are those of the first one, and count on.
    """

    texts: Sequence[str]
    line: int
    t: float
    session: str
    pane: str
    turn: int
    seq: int = 0
    at: float | msgspec.UnsetType = msgspec.UNSET
    host: str | msgspec.UnsetType = msgspec.UNSET

    def __len__(self) -> int:
        return len(self.texts)

    def events(self) -> list[Text]:
        """Return the event of each line."""
        t, at, host, session, pane, turn = self.t, self.at, self.host, self.session, self.pane, self.turn
        # All are 0 until the journal numbers them.
        numbers = count(self.seq) if self.seq else repeat(0)
        return [
            Text(text, "program", None, line, seq=seq, t=t, at=at, host=host, session=session, pane=pane, turn=turn)
            for line, seq, text in zip(count(self.line), numbers, self.texts, strict=False)
        ]

    def split(self, size: int) -> tuple["Lines", "Lines"]:
        """Return the first `size` lines and the rest; either may be empty."""
        first, rest = copy(self), copy(self)
        first.texts, rest.texts = self.texts[:size], self.texts[size:]
        rest.line += size
        rest.seq += size if self.seq else 0
        return first, rest


Part = Event | Lines


def size_of(part: Part) -> int:
    """Return how many events a part is."""
    return len(part) if isinstance(part, Lines) else 1


class Batch(Sequence[Event]):
    """Events in order, to be looked at like those of a list; equal to any sequence of the same events."""

    __slots__ = ("_made", "_parts")

    def __init__(self, parts: Iterable[Part] = ()) -> None:
        self._parts = list(parts)
        self._made: list[Event] | None = None

    @property
    def parts(self) -> Sequence[Part]:
        """The batch without unpacking: printed lines stay together, for consumers that need no event objects."""
        return self._parts

    @property
    def last(self) -> Part | None:
        """The last part; None of nothing."""
        return self._parts[-1] if self._parts else None

    def texts(self) -> list[str]:
        """Return what the program said, line by line, without anybody's events being made."""
        texts: list[str] = []
        for part in self._parts:
            if isinstance(part, Lines):
                texts += part.texts
            elif isinstance(part, Text) and part.origin == "program":
                texts.append(part.text)
        return texts

    def copy(self) -> Self:
        """Return one whose events are others'."""
        return type(self)(map(copy, self._parts))

    def __len__(self) -> int:
        return sum(map(size_of, self._parts))

    def __bool__(self) -> bool:
        return bool(self._parts)

    def __iter__(self) -> Iterator[Event]:
        return iter(self._events())

    @overload
    def __getitem__(self, index: SupportsIndex) -> Event: ...
    @overload
    def __getitem__(self, index: slice) -> list[Event]: ...
    def __getitem__(self, index: SupportsIndex | slice) -> Event | list[Event]:
        return self._events()[index]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and self._events() == list(other)

    __hash__ = None  # type: ignore[assignment]  # its events can be changed

    def __add__(self, other: "Batch") -> "Batch":
        return Batch([*self._parts, *other.parts])

    def __repr__(self) -> str:
        return f"Batch({self._parts!r})"

    def _events(self) -> list[Event]:
        if self._made is None:
            self._made = []
            for part in self._parts:
                if isinstance(part, Lines):
                    self._made += part.events()
                else:
                    self._made.append(part)
            self._parts = [*self._made]
        return self._made
