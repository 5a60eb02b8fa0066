"""Answers that a program gives while its stream is detached: afterwards the title shows that they are over."""

from dataclasses import replace

import pytest

from streamrelay.delta.inputs import Missed, Output, Reseeded, Resized
from streamrelay.events import TurnEnd
from streamrelay.testing.painted_talk import LOOKS, Talk, name
from streamrelay.testing.transcript_program import UiStyle
from streamrelay.vt import TmuxScreen
from streamrelay.vt.engine import Cursor, Modes, Snapshot

TITLED = [replace(look, lines=24) for look in LOOKS if look.witness == "title"]


class MissedTalk(Talk):
    """A talk of which the stream can miss a part; a second screen holds all of it, as tmux does."""

    def __init__(self, look: UiStyle) -> None:
        super().__init__(look, seeded=True)
        self._look = look
        self._tmux = TmuxScreen(look.columns, look.lines)
        self._tmux.feed(self.program.starts())

    def paints(self, *screens: bytes, rest: float = 0.04) -> None:
        self._tmux.feed(b"".join(screens))
        super().paints(*screens, rest=rest)

    def misses(self, *screens: bytes) -> None:
        """Let the program paint while the stream is detached, then give the stream tmux's screen and title."""
        for screen in screens:
            self._tmux.feed(screen)
        self.pane.rests(1.0)
        cursor = self._tmux.cursor
        rows = tuple(row.rstrip().encode() for row in self._tmux.text())
        held = Snapshot(
            self._look.columns, self._look.lines, rows, (False,) * len(rows), Cursor(cursor.x, cursor.y),
            alternate=self._look.alternate, modes=Modes(bracketed_paste=True),
        )  # fmt: skip
        now = self.pane.now
        title = Output(now, "%0", f"\x1b]2;{self._tmux.title}\x07".encode())
        for entry in (Missed(now, "%0", "detached"), Reseeded(now, "%0", held), title):
            self.pane.events += self.pane.stream.apply(entry)

    def last_end(self) -> tuple[TurnEnd, bool]:
        """Return why the last turn ended, and whether that is certain."""
        ended = self.ends()[-1]
        return ended.reason, ended.certain


def begun(look: UiStyle) -> MissedTalk:
    talk = MissedTalk(look)
    talk.sends("zero")
    talk.answers("nought")
    assert talk.last_end() == ("signal", True)
    talk.asks("first")
    return talk


@pytest.mark.requirement("DEL-04c", "DLV-07a")
@pytest.mark.parametrize("look", TITLED, ids=name)
def test_an_unwatched_answer_ends_for_certain_when_the_title_signals_idle(look: UiStyle) -> None:
    talk = begun(look)
    program = talk.program
    talk.misses(program.submits(), program.works(), program.says("one"), program.rests())
    talk.pane.rests(0.5)
    assert talk.heard()[2:] == [("injected", "first"), ("program", "one")]
    assert talk.last_end() == ("signal", True)
    talk.sends("second")
    talk.answers("two")
    assert talk.pane.said() == ["nought", "one", "two"]
    assert [ended.turn for ended in talk.ends()] == [1, 2, 3]


@pytest.mark.requirement("DEL-04c")
@pytest.mark.parametrize("look", TITLED, ids=name)
def test_an_answer_is_read_also_if_the_screen_was_being_painted_when_the_stream_was_detached(look: UiStyle) -> None:
    talk = begun(look)
    program = talk.program
    talk.paints(b"\x1b[2J\x1b[H")
    talk.misses(program.repaints(), program.submits(), program.works(), program.says("one"), program.rests())
    talk.pane.rests(0.5)
    assert talk.heard()[2:] == [("injected", "first"), ("program", "one")]
    assert len(talk.ends()) == 2


@pytest.mark.requirement("DEL-04c")
@pytest.mark.parametrize("look", TITLED, ids=name)
def test_a_message_that_is_not_answered_yet_is_waited_for(look: UiStyle) -> None:
    talk = begun(look)
    talk.misses()
    talk.pane.rests(1.0)
    assert len(talk.ends()) == 1
    talk.paints(talk.program.submits())
    talk.answers("one")
    assert talk.pane.said() == ["nought", "one"]
    assert talk.last_end() == ("signal", True)


@pytest.mark.requirement("DEL-04c")
@pytest.mark.parametrize("look", TITLED, ids=name)
def test_an_answer_of_which_only_the_beginning_was_missed_ends_with_its_title(look: UiStyle) -> None:
    talk = begun(look)
    talk.misses(talk.program.submits(), talk.program.works(), talk.program.says("one"))
    talk.pane.rests(3.0)
    assert len(talk.ends()) == 1
    talk.paints(talk.program.says(" and more"), talk.program.works(), talk.program.rests(), rest=1.0)
    assert talk.pane.said() == ["nought", "one and more"]
    assert talk.last_end() == ("signal", True)


@pytest.mark.requirement("DEL-02a", "DLV-07a")
@pytest.mark.parametrize("look", [replace(look, folds_from=3) for look in TITLED], ids=name)
def test_a_long_message_that_was_sent_meanwhile_is_known_by_its_brackets(look: UiStyle) -> None:
    """Its composer was never seen with it: a daemon that died had pasted it, and the disk took no more of the log."""
    talk = begun(look)
    program, long = talk.program, "the piece is yours\nspeak to all\nand then\npass it on"
    message = talk.pane.pastes(long)
    talk.pane.submits(message)
    screens = [program.submits(), program.says("one"), program.rests(), program.drafts(long), program.submits()]
    talk.misses(*screens, program.says("two"), program.rests())
    talk.pane.rests(0.5)
    echo = [("injected", line) for line in long.split("\n")]
    assert talk.heard()[2:] == [("injected", "first"), ("program", "one"), *echo, ("program", "two")]
    assert [(ended.turn, ended.reason) for ended in talk.ends()][1:] == [(2, "superseded"), (3, "signal")]


@pytest.mark.requirement("DEL-08")
@pytest.mark.parametrize("wipes_history", [False, True])
@pytest.mark.parametrize("size", [(104, 24), (150, 40), (40, 24), (59, 60)])
@pytest.mark.parametrize("look", LOOKS, ids=name)
def test_an_answer_that_is_painted_in_a_new_size_before_tmux_tells_its_screen(
    look: UiStyle, size: tuple[int, int], wipes_history: bool
) -> None:
    talk = Talk(look)
    talk.sends("hello")
    talk.pane.events += talk.pane.stream.apply(Resized(talk.pane.now, "%0", *size))
    talk.paints(talk.program.resizes(*size, wipes_history=wipes_history))
    talk.answers("Hi!")
    assert talk.heard() == [("injected", "hello"), ("program", "Hi!")]
