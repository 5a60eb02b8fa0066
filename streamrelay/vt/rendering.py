"""Bytes to the screen they make, in one call."""

import msgspec

from streamrelay.vt.engine import Cursor
from streamrelay.vt.screen import TmuxScreen


class Rendering(msgspec.Struct, frozen=True):
    """What a terminal shows in the end; rows without trailing blanks, history oldest first."""

    screen: list[str]
    history: list[str]
    cursor: Cursor
    alternate: bool
    title: str


def render(data: bytes, columns: int, lines: int, history: int = 10_000) -> Rendering:
    """Return what `data` shows on a tmux pane of that size, with the newest `history` rows at most."""
    screen = TmuxScreen(columns, lines, history)
    screen.feed(data)
    return rendering_of(screen)


def rendering_of(screen: TmuxScreen) -> Rendering:
    """Return what a screen shows."""
    return Rendering(
        screen=screen.text(),
        history=screen.history_text(),
        cursor=Cursor(screen.cursor.x, screen.cursor.y),
        alternate=screen.alternate,
        title=screen.title,
    )
