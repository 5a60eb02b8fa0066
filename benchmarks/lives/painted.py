"""Which lines of the answers a program never painted whole: a reader of its screen cannot know them."""

import re
from collections.abc import Sequence
from typing import Any

from streamrelay.delta.inputs import Began, Output, Reseeded, Resized
from streamrelay.recordings import Recording
from streamrelay.recordings.replay import screen_of
from streamrelay.vt import TmuxScreen

_NO_WORD = re.compile(r"[\W_]+")


def unpainted(recording: Recording, answers: Sequence[dict[str, Any]]) -> list[str]:
    """Return the lines that stood on no screen of the recording, not even wrapped.

    A line without words and a fence of Markdown are not looked for.
    """
    every = {line for answer in answers for line in answer["text"].split("\n")}
    waiting = {line for line in every if _squeezed(line) and not line.lstrip().startswith("```")}
    begins = min((answer["t0"] for answer in answers), default=0.0)
    screen: TmuxScreen | None = None
    for entry in recording.entries():
        match entry:
            case Began():
                screen = screen_of(entry)
                screen.seed(entry.screen)
            case Reseeded() if screen is not None:
                screen.seed(entry.screen)
            case Resized() if screen is not None:
                screen.resize(entry.lines, entry.columns)
            case Output() if screen is not None:
                screen.feed(entry.data)
            case _:
                continue
        if entry.t >= begins and waiting:
            scrolled_away = [row.text for row in screen.take().committed]
            shown = _squeezed("".join([*scrolled_away, *screen.text()]))
            waiting = {line for line in waiting if _squeezed(line) not in shown}
    return [line for answer in answers for line in answer["text"].split("\n") if line in waiting]


def _squeezed(text: str) -> str:
    """Return the letters and digits of a text: what wrapping, indents and decoration leave alone."""
    return _NO_WORD.sub("", text)
