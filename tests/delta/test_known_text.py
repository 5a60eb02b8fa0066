"""Rows of the transcript as it was, known again wherever they are painted."""

import pytest

from streamrelay.delta.layout.rows import PaintedRow
from streamrelay.delta.transcript.answers import read_answer
from streamrelay.delta.transcript.known_text import first_new_row
from streamrelay.events import Gap
from streamrelay.testing.scripted_pane import ScriptedPane
from streamrelay.vt.engine import Cursor, Snapshot

TALK = ["> name three birds", "", "● A heron, a swan and", "  a kingfisher.", "", "> and three tools", "", "● An awl."]


def rows(texts: list[str]) -> list[PaintedRow]:
    return [PaintedRow(text) for text in texts]


@pytest.mark.requirement("DEL-08")
@pytest.mark.parametrize(
    ("before", "now", "first"),
    [
        (TALK, [], 0),
        ([], TALK, 0),
        (TALK, TALK, len(TALK)),
        pytest.param(TALK, ["welcome", "", *TALK], len(TALK) + 2, id="below another greeting"),
        pytest.param(TALK, TALK[3:], len(TALK) - 3, id="without its beginning"),
        pytest.param(TALK, [*TALK, "", "● A notice."], len(TALK) + 1, id="with something below"),
        pytest.param(
            TALK, ["> name three birds", "● A heron, a swan and a kingfisher."], 2, id="wrapped at another width"
        ),
        pytest.param(["x", "═" * 30, *TALK], ["─" * 9, *TALK[:3], "─" * 9, *TALK[3:]], len(TALK) + 2, id="borders"),
        pytest.param(TALK, ["● An awl."], 0, id="a single row says nothing"),
        pytest.param(
            TALK, ["> again", "", "● A heron, a swan and", "  a kingfisher.", "  An awl."], 0, id="quoted in an answer"
        ),
    ],
)
def test_first_new_row(before: list[str], now: list[str], first: int) -> None:
    assert first_new_row(rows(before), rows(now), "> ") == first


def said(before: list[str], now: list[str], *, wiped: list[str], greets: bool = False) -> list[tuple[str, list[str]]]:
    answer = read_answer(
        rows(before), rows(now), [], columns=40, is_spinner=lambda _: False, mark="> ", wiped=rows(wiped), greets=greets
    )
    return [(passage.kind, passage.lines) for passage in answer.passages if passage.kind != "unsaid"]


@pytest.mark.requirement("DEL-08")
def test_what_was_wiped_is_old_where_it_is_painted_again() -> None:
    assert said([], TALK, wiped=TALK) == []
    now = [*TALK, "", "> one more", "", "● A rope."]
    assert said([], now, wiped=TALK) == [("typed", ["one more"]), ("text", ["A rope."])]


@pytest.mark.requirement("DEL-08")
def test_a_transcript_below_the_cleared_screen_is_old() -> None:
    cleared = [*TALK, "", "─" * 9, "> ", "─" * 9]
    assert said(cleared, [*cleared, *TALK], wiped=[]) == []
    now = [*cleared, *TALK, "", "> one more", "", "● A rope."]
    assert said(cleared, now, wiped=[]) == [("typed", ["one more"]), ("text", ["A rope."])]


@pytest.mark.requirement("DEL-01")
def test_a_notice_that_comes_again_above_the_composer_is_new() -> None:
    notice = ["● The build is red:", "  two tests fail,", "  one is skipped,", "  the rest passes."]
    before = [*notice, "", "─" * 9, "> ", "─" * 9]
    text = [row[2:] for row in notice]
    assert said(before, [*notice, "", *notice], wiped=[]) == [("text", text)]


@pytest.mark.requirement("DEL-01")
def test_above_a_message_that_nobody_sent_stands_no_answer_to_it() -> None:
    assert said(TALK, [*TALK, "a panel", "", "> one more", "", "● A rope."], wiped=[]) == [
        ("typed", ["one more"]),
        ("text", ["A rope."]),
    ]


@pytest.mark.requirement("DEL-01")
def test_a_program_that_took_no_message_yet_greets() -> None:
    assert said([], ["Welcome!", "Tip: press ?", *TALK], wiped=[], greets=True) == []


@pytest.mark.requirement("DEL-01")
@pytest.mark.parametrize(
    ("title", "said", "gaps"),
    [("\u280b working", ["an answer, and its second."], ["joined"]), ("work", [], [])],
)
def test_what_is_painted_after_an_attach_in_mid_answer_is_no_greeting(
    title: str, said: list[str], gaps: list[str]
) -> None:
    """The program's own title says that it is at work (codex, late_mid): what was there before is missing."""
    pane = ScriptedPane(40, 8)
    rows = (b"> hello", b"", b"* The first half of", b"", b"", b"", b"> ", b"")
    pane.begins(Snapshot(40, 8, rows, (False,) * 8, Cursor(2, 6), alternate=True), title=title)
    pane.prints(f"\x1b]2;{title}\x07")
    pane.prints("\x1b[3;1H* The first half of\x1b[4;1H  an answer, and its second.\x1b[7;3H")
    pane.rests(0.3)
    pane.prints("\x1b]2;done\x07")
    pane.ends()
    assert pane.said() == said
    assert [event.reason for event in pane.events if isinstance(event, Gap)] == gaps


@pytest.mark.requirement("DEL-01")
def test_an_attach_in_mid_answer_on_the_main_screen_hears_a_program_that_paints() -> None:
    """Neither its name nor its looks are known, but its title says that it works (codex without alternate screen)."""
    pane = ScriptedPane(40, 10)
    rows = (b"> hello", b"", b"* The first half of", b"", b"", b"> ", b"", b"  model: small", b"", b"")
    title = "\u280b hello"
    pane.begins(Snapshot(40, 10, rows, (False,) * 10, Cursor(2, 5)), title=title)
    pane.prints(f"\x1b]2;{title}\x07")
    for end in range(1, 5):
        pane.prints(f"\x1b[?25l\x1b[4;3H{' '.join(['a word,'] * end)}\x1b[6;3H\x1b[?25h")
        pane.rests(0.1)
    pane.prints("\x1b]2;done\x07")
    pane.ends()
    assert pane.said() == ["a word, a word, a word, a word,"]
    assert [event.reason for event in pane.events if isinstance(event, Gap)] == ["joined"]


@pytest.mark.requirement("DEL-01")
def test_a_picture_at_which_a_rest_cut_the_greeting_is_no_message() -> None:
    """Codex starts its servers before it takes a message, and paints a picture of braille above its composer."""
    pane = ScriptedPane(40, 10)
    pane.begins(Snapshot(40, 10, (b"",) * 10, (False,) * 10, Cursor(0, 0)))
    pane.prints("\x1b[?1049h\x1b[?2004h\x1b]2;\u280b work\x07\x1b[2;1HWelcome!\x1b[4;1H   \u28ff\u28ff\u28e4")
    pane.rests(0.02)
    pane.prints("\u28c0\u28c0\x1b[7;1H> Ask anything\x1b[9;1H  model: small\x1b[7;3H")
    pane.rests(0.1)
    pane.prints("\x1b[2;10HAll is loaded.\x1b[7;3H\x1b]2;\u280b work\x07")
    pane.rests(0.1)
    pane.prints("\x1b]2;work\x07")
    pane.rests(0.5)
    assert pane.texts() == []
