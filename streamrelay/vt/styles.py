"""What a cell looks like, and what SGR does to it (tmux 3.3a input.c, input_csi_dispatch_sgr).

tmux's rules: `38;5` and `48;5` take the parameter after them, and one out of range means the default colour; after
`38;2` the three parameters are taken only if they are in range, else they count on their own. A parameter with
colons is a command of its own. 5 and 6 are the same blink; 22 takes away bold and dim.
"""

import re
from collections.abc import Sequence
from functools import cached_property, lru_cache
from typing import NamedTuple

BOLD, DIM, ITALIC, BLINK, REVERSE, HIDDEN, STRIKE, OVERLINE, ACS = (1 << bit for bit in range(9))
"""Flags of `Style.flags`. ACS marks letters that were written in the line-drawing charset: tmux keeps the letters."""

_ON = {1: BOLD, 2: DIM, 3: ITALIC, 5: BLINK, 6: BLINK, 7: REVERSE, 8: HIDDEN, 9: STRIKE, 53: OVERLINE}
_OFF = {22: BOLD | DIM, 23: ITALIC, 25: BLINK, 27: REVERSE, 28: HIDDEN, 29: STRIKE, 55: OVERLINE}
_CODES = ((BOLD, "1"), (DIM, "2"), (ITALIC, "3"))
_CODES_AFTER_UNDERLINE = ((BLINK, "5"), (REVERSE, "7"), (HIDDEN, "8"), (STRIKE, "9"), (OVERLINE, "53"))
_UNDERLINES = {4: 1, 21: 2, 24: 0}
_UNDERLINE_CODES = ("", "4", "4:2", "4:3", "4:4", "4:5")
_COLOURS = {38: "foreground", 48: "background", 58: "line_colour"}
_NAMED = {
    **{code: ("foreground", str(code)) for code in (*range(30, 38), *range(90, 98))},
    **{code: ("background", str(code)) for code in (*range(40, 48), *range(100, 108))},
    39: ("foreground", ""),
    49: ("background", ""),
    59: ("line_colour", ""),
}
_NUMBER = re.compile(r"0*\d{1,10}")
_INT_MAX = 2**31 - 1

Parameter = int | str | None
"""A number, None where it is missing, or text with colons in it."""


class _Fields(NamedTuple):
    flags: int = 0
    underline: int = 0
    foreground: str = ""
    background: str = ""
    line_colour: str = ""


class Style(_Fields):
    """A look: flags, the kind of underline (0 to 5), and colours as the SGR parameters that set them."""

    @cached_property
    def sgr(self) -> str:
        """The SGR parameters that turn the default look into this one ("1;31"); empty for the default look."""
        codes = [code for flag, code in _CODES if self.flags & flag]
        codes.append(_UNDERLINE_CODES[self.underline])
        codes.extend(code for flag, code in _CODES_AFTER_UNDERLINE if self.flags & flag)
        codes += [self.foreground, self.background, self.line_colour]
        return ";".join(filter(None, codes))

    def erased(self) -> "Style":
        """Return what an erased cell looks like while this style is current: its background alone."""
        return Style(background=self.background)

    def with_acs(self, acs: bool) -> "Style":
        """Return this style in or out of the line-drawing charset."""
        return self._replace(flags=self.flags | ACS if acs else self.flags & ~ACS)

    def after(self, parameters: Sequence[Parameter]) -> "Style":
        """Return the style that SGR with `parameters` makes of this one."""
        if not parameters:
            return DEFAULT
        style = self
        left = list(reversed(parameters))
        while left:
            parameter = left.pop()
            if isinstance(parameter, str):
                style = style.after_colons(parameter)
            elif parameter in _COLOURS:
                style = style.after_colour(_COLOURS[parameter], left)
            else:
                style = style.after_number(parameter or 0)
        return style

    def after_number(self, code: int) -> "Style":
        """Return the style after one plain parameter."""
        if code == 0:
            return DEFAULT
        if code in _ON:
            return self._replace(flags=self.flags | _ON[code])
        if code in _OFF:
            return self._replace(flags=self.flags & ~_OFF[code])
        if code in _UNDERLINES:
            return self._replace(underline=_UNDERLINES[code])
        if code in _NAMED:
            field, value = _NAMED[code]
            return self._coloured(field, value)
        return self

    def after_colour(self, field: str, left: list[Parameter]) -> "Style":
        """Return the style after 38, 48 or 58, taking what it needs off the end of `left`."""

        def number(ahead: int = 1) -> int:
            parameter = left[-ahead] if ahead <= len(left) else None
            return parameter if isinstance(parameter, int) else -1

        kind = number()
        del left[-1:]
        if kind == 5:
            index = number()
            del left[-1:]
            return self._indexed(field, index)
        if kind == 2:
            style = self._rgb(field, number(1), number(2), number(3))
            if style is not None:
                del left[-3:]
                return style
        return self

    def after_colons(self, text: str) -> "Style":
        """Return the style after one parameter with colons in it."""
        numbers: list[int] = []
        for part in text.split(":"):
            if part and not _NUMBER.fullmatch(part):
                return self
            number = int(part) if part else -1
            if number > _INT_MAX:
                return self
            numbers.append(number)
        if len(numbers) >= 8:
            return self
        match numbers:
            case [4, kind] if 0 <= kind <= 5:
                return self._replace(underline=kind)
            case [38 | 48 | 58 as which, 5, index, *_]:
                return self._indexed(_COLOURS[which], index)
            case [38 | 48 | 58 as which, 2, red, green, blue] | [38 | 48 | 58 as which, 2, _, red, green, blue, *_]:
                return self._rgb(_COLOURS[which], red, green, blue) or self
        return self

    def _indexed(self, field: str, index: int) -> "Style":
        code = {"foreground": 38, "background": 48, "line_colour": 58}[field]
        if 0 <= index <= 255:
            return self._coloured(field, f"{code};5;{index}")
        return self if field == "line_colour" else self._coloured(field, "")

    def _rgb(self, field: str, red: int, green: int, blue: int) -> "Style | None":
        code = {"foreground": 38, "background": 48, "line_colour": 58}[field]
        if all(0 <= part <= 255 for part in (red, green, blue)):
            return self._coloured(field, f"{code};2;{red};{green};{blue}")
        return None

    def _coloured(self, field: str, value: str) -> "Style":
        match field:
            case "foreground":
                return self._replace(foreground=value)
            case "background":
                return self._replace(background=value)
        return self._replace(line_colour=value)


DEFAULT = Style()


@lru_cache(maxsize=4096)
def shared(style: Style) -> Style:
    """Return the one `style` that all screens of the process hold: hundreds of panes show the same few."""
    return style
