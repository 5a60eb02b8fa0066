"""Which lines of the answers a program never painted whole: a reader of its screen cannot know them."""

import re
from collections.abc import Iterable, Sequence
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


def painted_since_attach(recording: Recording, lines: Iterable[str]) -> dict[str, str]:
    """Return the lines that stood on the first screen of a recording, whole or begun, with the words painted later.

    A line counts as begun if at least its first two words stood there, each of them whole.
    """
    began = next(entry for entry in recording.entries() if isinstance(entry, Began))
    screen = screen_of(began)
    screen.seed(began.screen)
    shown = _squeezed("".join([*(row.text for row in screen.take().committed), *screen.text()]))
    since: dict[str, str] = {}
    for line in filter(_squeezed, lines):
        words = line.split()
        painted = sum(_squeezed("".join(words[: count + 1])) in shown for count in range(len(words)))
        if painted > min(1, len(words) - 1):
            since[line] = " ".join(words[painted:])
    return since


def _squeezed(text: str) -> str:
    """Return the letters and digits of a text: what wrapping, indents and decoration leave alone."""
    return _NO_WORD.sub("", text)
