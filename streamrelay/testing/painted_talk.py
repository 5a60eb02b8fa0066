"""Talks between a stream and a program that paints its screen itself, in every way such programs paint.

@looks()
def test_an_answer(look: Look) -> None:
    talk = Talk(look)
    talk.sends("hello")
    talk.answers("Hi!")
    assert talk.heard() == [("injected", "hello"), ("program", "Hi!")]
"""

import itertools

from streamrelay.events import Event, TurnEnded
from streamrelay.testing.scripted_pane import ScriptedPane
from streamrelay.testing.transcript_program import SignalKind, TranscriptProgram, UiStyle
from streamrelay.vt.engine import Cursor, Snapshot

WITNESSES: tuple[SignalKind | None, ...] = (None, "title", "agent_state", "furniture")


def name(look: UiStyle) -> str:
    """Return how a program paints, in a few words."""
    places = ["alternate" if look.alternate else "main", "full" if look.repaints_all else "partial"]
    return "-".join([*places, *(["sync"] if look.synchronized else []), look.witness or "silent"])


LOOKS = [
    UiStyle(alternate=alternate, repaints_all=full, synchronized=full != alternate, witness=witness)
    for alternate, full, witness in itertools.product([False, True], [False, True], WITNESSES)
]
SILENT = [look for look in LOOKS if look.witness is None]
TELLING = [look for look in LOOKS if look.witness is not None]


def exchanges(count: int) -> list[tuple[str, str]]:
    """Return `Talk.heard` of `count` answered messages: "question 0", "answer 0", "question 1" and so on."""
    return [
        (origin, f"{kind} {number}")
        for number in range(count)
        for origin, kind in (("injected", "question"), ("program", "answer"))
    ]


class Talk:
    """A program and the stream that listens to it, attached by tmux (`seeded`) or beside the program from its start.

    A program may show a `splash` before its first screen.
    """

    def __init__(self, look: UiStyle, *, seeded: bool = False, splash: str = "") -> None:
        self.program = TranscriptProgram(look)
        self.pane = ScriptedPane(look.columns, look.lines)
        if seeded:
            rows = (b"",) * look.lines
            self.pane.begins(Snapshot(look.columns, look.lines, rows, (False,) * look.lines, Cursor(0, 0)))
        if splash:
            self.paints(self.program.starts(splash), self.program.asks(), rest=0.1)
        else:
            self.pane.prints(self.program.starts())
        self.pane.rests(1.0)

    def paints(self, *screens: bytes, rest: float = 0.04) -> None:
        """Let the program show one screen after the other."""
        for screen in screens:
            self.pane.prints(screen)
            self.pane.rests(rest)

    def asks(self, text: str) -> None:
        """Paste a message, see it painted, and submit it: the composer still shows it."""
        message_id = self.pane.pastes(text)
        self.paints(self.program.drafts(text), rest=0.12)
        self.pane.submits(message_id)

    def sends(self, text: str) -> None:
        """The same, and the program takes the message up."""
        self.asks(text)
        self.paints(self.program.submits())

    def hands_over(self, text: str) -> None:
        """Give a message to the program's own API, past the composer, and the program takes it up."""
        self.pane.hands_over(text)
        self.paints(self.program.shows(text), self.program.works())

    def types(self, text: str) -> None:
        """Let a person type into the composer, a screen for every key, without the Enter."""
        self.paints(*(self.program.drafts(text[:length]) for length in range(1, len(text) + 1)))

    def streams(self, text: str) -> None:
        """Paint an answer word by word, the spinner turning after each line."""
        for y, line in enumerate(text.split("\n")):
            for x, word in enumerate(line.split(" ")):
                self.paints(self.program.says(("\n" if y and not x else " " if x else "") + word), rest=0.02)
            self.paints(self.program.works())

    def answers(self, text: str) -> None:
        """Paint an answer to its end, and rest."""
        self.streams(text)
        self.paints(self.program.rests(), rest=5.0)

    def of(self, *kinds: type[Event]) -> list[Event]:
        """Return the events of some kinds so far."""
        return [event for event in self.pane.events if isinstance(event, kinds)]

    def heard(self) -> list[tuple[str, str]]:
        """What was said, by whom, without empty lines."""
        return [(event.origin, event.text) for event in self.pane.texts() if event.text]

    def ends(self) -> list[TurnEnded]:
        """Return the ends of turns so far."""
        return [event for event in self.pane.events if isinstance(event, TurnEnded)]
