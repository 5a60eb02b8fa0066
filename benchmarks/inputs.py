"""What the programs under measurement print: the same bytes in every run, on every machine.

Line inputs know their truth: every line is different and fits the pane, so that each can be counted exactly once.
The repaint input is a box redrawn in place with synchronized updates, as Ink draws it, with a log line scrolling out
above it now and then; what of it is text is a matter of fidelity, not of speed, so it has no truth here.
"""

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import count

COLUMNS, LINES = 120, 40
"""The size of the panes that are measured."""

_WORDS = (
    "request", "served", "cache", "worker", "index", "commit", "retry", "socket", "timeout", "payload", "branch",
    "merge", "vertex", "shard", "lease", "quorum", "window", "buffer", "signal", "handler", "queue", "batch", "stream",
    "token", "render", "frame", "parser", "border", "update", "follow",
)  # fmt: skip
_WIDE = "終端機會聽見彼此的話語而不失去任何一個字符因為每行只說一次日本語テキスト한국어문장"
_EMOJI = ("🦜", "🚀", "✅", "🔥", "🐍", "⚠️", "👩‍💻", "🇫🇮")
_LEVELS = (("INFO", 32), ("WARN", 33), ("ERROR", 31), ("DEBUG", 36))
_SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"


@dataclass(frozen=True, slots=True)
class Input:
    """Bytes a program prints, and the lines they say; `lines` is None where that is not a matter of lines."""

    name: str
    data: bytes
    lines: tuple[str, ...] | None


def _sentence(choose: random.Random, words: int) -> str:
    return " ".join(choose.choices(_WORDS, k=words))


def _plain(choose: random.Random) -> Iterator[tuple[str, str]]:
    for number in count(1):
        line = f"12:04:{number % 60:02d}.{number % 1000:03d} line {number} {_sentence(choose, choose.randint(2, 9))}"
        yield line, line


def _sgr(choose: random.Random) -> Iterator[tuple[str, str]]:
    for number in count(1):
        level, colour = choose.choice(_LEVELS)
        time, key = f"12:04:{number % 60:02d}.{number % 1000:03d}", choose.choice(_WORDS)
        rest = _sentence(choose, choose.randint(1, 6))
        coloured = f"\x1b[2m{time}\x1b[0m \x1b[1;{colour}m{level}\x1b[0m \x1b[38;5;39mline\x1b[39m {number}"
        yield f"{coloured} \x1b[36m{key}=\x1b[0m{rest}", f"{time} {level} line {number} {key}={rest}"


def _wide(choose: random.Random) -> Iterator[tuple[str, str]]:
    for number in count(1):
        words = ("".join(choose.choices(_WIDE, k=choose.randint(2, 12))) for _ in range(3))
        line = f"{number} {' '.join(words)} {choose.choice(_EMOJI)} {choose.choice(_EMOJI)} 完"
        yield line, line


def _repaint(choose: random.Random) -> Iterator[str]:
    height, width = 8, COLUMNS - 19
    up = "\x1b[2K\x1b[1A" * height + "\x1b[2K\x1b[G"
    border = "─" * (COLUMNS - 2)
    for number in count():
        head = up if number else ""
        logged = f"\x1b[32m●\x1b[39m step {number} {_sentence(choose, 6)}\n" if number % 10 == 0 else ""
        spinner = _SPINNER[number % len(_SPINNER)]
        inner = "".join(
            f"│ \x1b[3{row}m{_sentence(choose, 1):<12}\x1b[39m {_sentence(choose, 7)[:width]:<{width}}   │\n"
            for row in range(1, height - 3)
        )
        yield (
            f"\x1b[?2026h{head}{logged}\x1b[35m{spinner} Thinking… (esc to interrupt · {number} tokens)\x1b[39m\n"
            f"╭{border}╮\n{inner}╰{border}╯\n\x1b[2m  ? for shortcuts\x1b[22m\n\x1b[?2026l"
        )


def _of_lines(name: str, made: Callable[[random.Random], Iterator[tuple[str, str]]], size: int) -> Input:
    printed, lines, length = [], [], 0
    for raw, line in made(random.Random(name)):
        encoded = raw.encode() + b"\n"
        printed.append(encoded)
        lines.append(line)
        length += len(encoded)
        if length >= size:
            return Input(name, b"".join(printed), tuple(lines))
    raise AssertionError("the makers of lines never end")


def _of_frames(name: str, size: int) -> Input:
    data = bytearray()
    for frame in _repaint(random.Random(name)):
        data += frame.encode()
        if len(data) >= size:
            return Input(name, bytes(data), None)
    raise AssertionError("the maker of frames never ends")


_MAKERS: dict[str, Callable[[int], Input]] = {
    "plain": lambda size: _of_lines("plain", _plain, size),
    "sgr": lambda size: _of_lines("sgr", _sgr, size),
    "cjk+emoji": lambda size: _of_lines("cjk+emoji", _wide, size),
    "tui": lambda size: _of_frames("tui", size),
}
NAMES = tuple(_MAKERS)


def make(name: str, size: int) -> Input:
    """Return the input `name` with at least `size` bytes: whole lines, or whole frames."""
    return _MAKERS[name](size)
