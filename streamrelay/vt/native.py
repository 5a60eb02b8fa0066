"""A native engine, as an optional extra: asciinema's avt through `pyavt` (the extra `native`).

It means what xterm means, not what tmux means, and it is off by default: of 607 recorded or made-up streams it showed
441 as tmux does. It serves for comparison, and for those who read programs that never saw tmux.
"""

from collections.abc import Sequence
from importlib import import_module
from typing import Any

from streamrelay.installation import needs_extra
from streamrelay.vt.engine import Cursor, Run
from streamrelay.vt.foreign import ForeignEngine, ForeignRow

_FLAGS = (("bold", "1"), ("faint", "2"), ("italic", "3"), ("underline", "4"), ("blink", "5"), ("inverse", "7"))


class AvtScreen(ForeignEngine):
    """An xterm-like screen, written in Rust. Raises `ExtraMissing` where `pyavt` is not installed."""

    _vt: Any  # pyavt ships no usable types

    def _begin(self, columns: int, lines: int) -> None:
        with needs_extra("native", "the native engine"):
            avt: Any = import_module("avt")
        self._vt = avt.Vt(columns, lines, 0)

    def _feed(self, text: str) -> Sequence[ForeignRow]:
        _, gone = self._vt.feed_str(text)
        return [_row(line) for line in gone]

    def _resize(self, lines: int, columns: int) -> Sequence[ForeignRow]:
        _, gone = self._vt.resize(columns, lines)
        return [_row(line) for line in gone]

    def _rows(self) -> list[ForeignRow]:
        return [_row(line) for line in self._vt.view()]

    def _cursor(self) -> Cursor:
        return Cursor(self._vt.cursor.col, self._vt.cursor.row)


def _row(line: Any) -> ForeignRow:
    cells = line.cells
    runs: list[Run] = []
    for x, cell in enumerate(cells):
        style = "" if cell.pen.is_default() else _style(cell.pen)
        if runs and runs[-1].style == style:
            runs[-1] = Run(runs[-1].start, x + 1, style)
        else:
            runs.append(Run(x, x + 1, style))
    return ForeignRow(tuple(cell.char if cell.width else "" for cell in cells), tuple(run for run in runs if run.style))


def _style(pen: Any) -> str:
    codes = [code for name, code in _FLAGS if getattr(pen, name)]
    return ";".join([*codes, *_colour(pen.foreground, 30), *_colour(pen.background, 40)])


def _colour(colour: Any, base: int) -> list[str]:
    if colour is None:
        return []
    parts = [int(getattr(colour, f"_{number}")) for number in range(3) if hasattr(colour, f"_{number}")]
    if len(parts) == 3:
        return [f"{base + 8};2;{';'.join(map(str, parts))}"]
    index = parts[0]
    return [str(base + index) if index < 8 else str(base + 52 + index) if index < 16 else f"{base + 8};5;{index}"]
