"""Animations of recordings, and the SVG that is drawn of them."""

import re
from collections.abc import Iterable
from itertools import pairwise
from xml.etree import ElementTree

import pytest

from streamrelay.delta.inputs import Began, Input, Output, Reseeded, Resized
from streamrelay.errors import RecordingError
from streamrelay.recordings.animation import FRAME_SECONDS, Animation, animate, still
from streamrelay.recordings.svg import svg
from streamrelay.vt.engine import Cursor, Snapshot
from streamrelay.vt.styles import DIM, REVERSE

NAMESPACE = {"svg": "http://www.w3.org/2000/svg"}


class Held:
    """A recording that is held in memory."""

    columns, lines = 20, 3

    def __init__(self, *entries: Input) -> None:
        self._entries = entries

    def entries(self) -> Iterable[Input]:
        return iter(self._entries)


def parsed(picture: str) -> ElementTree.Element:
    return ElementTree.fromstring(picture)  # noqa: S314  # drawn here


def printed(*outputs: tuple[float, str], pane: str = "%0") -> list[Output]:
    return [Output(t, pane, text.encode()) for t, text in outputs]


def texts(animation: Animation) -> list[list[str]]:
    return [[row_text(row) for row in screen.rows] for screen in animation.screens]


def row_text(row) -> str:
    text = ""
    for piece in row:
        text = text.ljust(piece.column) + piece.text
    return text


def drawn(picture: str, seconds: float | None = None) -> list[str]:
    """Return the rows that an SVG shows at a time, the last one by default: what a browser makes of its CSS."""
    root = parsed(picture)
    css = root.find("svg:style", NAMESPACE).text
    length = re.search(r"\.m\{animation:([\d.]+)s", css)
    rows: dict[int, str] = {}
    definitions = {one.get("id"): one for one in root.find("svg:defs", NAMESPACE)}
    for strip in root.findall("svg:svg/svg:svg", NAMESPACE):
        group = strip.find("svg:g", NAMESPACE)
        name = (group.get("class") or "").removeprefix("m ")
        moves = re.search(rf"@keyframes {name}\{{(.*?)\}}\}}", css)
        place = 0
        if name and seconds is None:
            place = int(re.fullmatch(r"translate\(0 -?(\d+)\)", group.get("transform"))[1])
        elif name:
            for percent, y in re.findall(r"([\d.]+)%\{transform:translate\(0px,-?(\d+)px\)", moves[1]):
                if float(percent) <= 100 * seconds / float(length[1]) + 0.001:
                    place = int(y)
        for use in group.findall("svg:use", NAMESPACE):
            if int(use.get("y", "0")) == place:
                rows[int(strip.get("y")) // 20] = spelled(definitions[use.get("href")[1:]])
    return [rows.get(y, "") for y in range(max(rows, default=-1) + 1)]


def spelled(row: ElementTree.Element) -> str:
    text = ""
    for part in row.findall("svg:text", NAMESPACE):
        text = text.ljust(int(part.get("x")) // 10) + (part.text or "")
    return text


def test_a_burst_is_one_screen_and_every_later_change_another():
    animation = animate(
        Held(*printed((5.0, "a"), (5.01, "b"), (5.02, "c"), (6.0, "d"), (9.0, "\r\ne"), (9.5, "\x1b[m")))
    )
    assert texts(animation) == [["abc", "", ""], ["abcd", "", ""], ["abcd", "e", ""]]
    assert [round(screen.t, 2) for screen in animation.screens] == [0.0, 0.98, 3.98]
    assert [screen.cursor for screen in animation.screens] == [(3, 0), (4, 0), (1, 1)]


def test_a_stream_without_rests_is_shown_at_a_steady_pace():
    animation = animate(Held(*printed(*((at / 100, f"\r{at}") for at in range(300)))))
    gaps = [after.t - before.t for before, after in pairwise(animation.screens)]
    assert len(animation.screens) < 50
    assert min(gaps[:-1]) >= FRAME_SECONDS
    assert texts(animation)[-1][0] == "299"


def test_pauses_speed_and_the_part_that_is_wanted():
    recording = Held(*printed((0, "a"), (1, "b"), (11, "c"), (12, "d")))
    quick = animate(recording, max_pause=2, speed=2)
    assert [screen.t for screen in quick.screens] == [0, 0.5, 1.5, 2.0]
    part = animate(recording, start=5, stop=11.5)
    assert texts(part) == [["ab", "", ""], ["abc", "", ""]]
    assert [screen.t for screen in part.screens] == [0, 6]
    assert texts(animate(recording, start=0.5, stop=1)) == [["a", "", ""], ["ab", "", ""]]


def test_the_canvas_holds_the_largest_size():
    animation = animate(Held(*printed((0, "a")), Resized(1, "%0", 30, 2), *printed((2, "b"))))
    assert (animation.columns, animation.lines) == (30, 3)
    assert [len(screen.rows) for screen in animation.screens] == [3, 2, 2]
    parsed(svg(animation))


def test_a_live_recording_begins_with_its_screen_and_is_seeded_again():
    def seeded(*rows: str, columns: int = 20) -> Snapshot:
        contents = tuple(row.encode() for row in rows)
        return Snapshot(columns, len(rows), contents, (False,) * len(rows), Cursor(0, len(rows) - 1))

    animation = animate(
        Held(
            Began(3.0, "%0", "s", "cat", "", seeded("there before", "$ ")),
            *printed((5.0, "\x1b[3Gnew")),
            Reseeded(6.0, "%0", seeded("after a resize", "", "", columns=30)),
        )
    )
    assert texts(animation) == [["there before", "$"], ["there before", "$ new"], ["after a resize", "", ""]]
    assert [screen.t for screen in animation.screens] == [0, 2, 3]
    assert (animation.columns, animation.lines) == (30, 3)


def test_of_several_panes_one_has_to_be_named():
    recording = Held(*printed((0, "a")), *printed((1, "b"), pane="%1"))
    with pytest.raises(RecordingError, match="several panes, %0 and %1") as caught:
        animate(recording)
    assert caught.value.hint == "name the pane: --pane %0"
    assert texts(animate(recording, pane="%1")) == [["b", "", ""]]
    with pytest.raises(RecordingError, match="no output in that pane"):
        animate(recording, pane="%7")


def test_too_many_screens_are_refused(monkeypatch):
    monkeypatch.setattr("streamrelay.recordings.animation.MAX_SCREENS", 3)
    with pytest.raises(RecordingError, match="more than 3 screens") as caught:
        animate(Held(*printed(*((at, f"{at}") for at in range(9)))))
    assert "--until" in caught.value.hint


def test_the_picture_shows_each_screen_at_its_time():
    animation = animate(Held(*printed((0, "first\r\nstays"), (2, "\x1b[Hthen "), (3, "\x1b[H\x1b[K"))))
    picture = svg(animation, rest=2)
    assert drawn(picture, 0.5) == ["first", "stays"]
    assert drawn(picture, 2.5) == ["then", "stays"]
    assert drawn(picture, 4.9) == drawn(picture) == ["", "stays"]
    assert picture.count("@keyframes") == 2  # the row that changes, and the cursor
    assert picture == svg(animation, rest=2)


def test_a_hidden_cursor_is_not_drawn():
    picture = svg(animate(Held(*printed((0, "a"), (1, "\x1b[?25lb"), (2, "c\x1b[?25h")))))
    cursor = parsed(picture).findall("svg:svg/svg:g", NAMESPACE)[-1]
    assert cursor.get("transform") == "translate(30 0)"
    frames = re.search(rf"@keyframes {cursor.get('class').removeprefix('m ')}\{{(.*?)\}}\}}", picture)[1]
    assert re.findall(r"\{([^}]*)", frames + "}") == [
        "transform:translate(10px,0px);visibility:visible",
        "visibility:hidden",
        "transform:translate(30px,0px);visibility:visible",
    ]


def test_one_screen_is_a_still_picture():
    picture = svg(still(b"\x1b[?25lone\r\ntwo", 20, 3))
    assert drawn(picture) == ["one", "two"]
    assert "@keyframes" not in picture


def test_hostile_text_stays_text():
    hostile = "</text><script>alert(1)</script>&\"' \x1b]0;</title><script>\x07 ]]> \ufffe \u202e"
    picture = svg(still(hostile.encode(), 80, 3), title="</title><script>&\x00\x1b\ud800")
    root = parsed(picture)
    assert "script" not in {element.tag.rpartition("}")[2] for element in root.iter()}
    assert "</text><script>alert(1)</script>&\"'" in drawn(picture)[0]
    assert root.find("svg:title", NAMESPACE).text == "</title><script>&���"
    picture.encode()


def test_nothing_outside_the_file_is_referred_to():
    picture = svg(animate(Held(*printed((0, "http://example.org url(x) @import 'a'"), (1, "b")))))
    references = re.findall(r'(?:href|src|xlink:href)="([^"]*)"', picture)
    assert references
    assert all(reference.startswith("#r") for reference in references)
    style = parsed(picture).find("svg:style", NAMESPACE).text
    assert "url(" not in style
    assert "@import" not in style


def test_styles_lines_and_blocks_are_drawn():
    screen = still("\x1b[1;31mred\x1b[m \x1b[38;5;208mo\x1b[38;2;1;2;3mrgb\x1b[0;7mr\x1b[0;8mhidden\r\n"
                   "\x1b[m┌──┐\x1b[4m \x1b[m█▛\r\n\x1b(0lqk\x1b(B 日本".encode(), 40, 3)  # fmt: skip
    picture = svg(screen)
    assert "#ffa198;font-weight:bold" in picture  # bold red is bright
    assert "#ff8700" in picture
    assert "#010203" in picture
    assert "hidden" not in picture
    assert 'd="M5 10H10M5 10V20M10 10H30M35 10H30M35 10V20"' in picture
    assert "text-decoration:underline" in picture
    assert picture.count("<path") == 3  # the title bar, and the lines of two rows
    assert re.search(r'x="40"[^>]*textLength="40"[^>]*>日本<', picture)


def test_a_cell_is_drawn_where_tmux_has_it():
    (row, *_) = still("a日\x1b[2mb\x1b[7m  ".encode(), 20, 1).screens[0].rows
    assert [(piece.column, piece.width, piece.text) for piece in row] == [
        (0, 1, "a"),
        (1, 2, "日"),
        (3, 1, "b"),
        (4, 1, "  "),
    ]
    assert [piece.style.flags for piece in row] == [0, 0, DIM, DIM | REVERSE]
