"""How a terminal shows a line that was typed into it.

A tab comes out as one to eight blanks, a control character as `^X` (ECHOCTL), blanks at the end don't show. In front
can stand a prompt or the mark with which a program shows what it was sent; behind it, on the same row, whatever the
program printed next.
"""

import sys

import regex

_MARK = regex.compile(r"[\s│┃|▌]*[>❯›»•$#%*]?\s*")
_PROMPT_END = regex.compile(r"(?:[>$#%:?❯›»]|\.\.\.)(?=\s|$)\s*")
_SHELL_PROMPT_END = regex.compile(r"[>$#%:?❯›»➜λ✗✔▶→⟩]\s*\Z")
_AS_NUMBER = regex.compile(r"<([0-9a-f]{4,8})>")
_ZERO_WIDTH = regex.compile(r"[\p{Mn}\p{Me}\p{Cf}]")
_MAX_PROMPT = 60
_TAB = 8


class ShownLine:
    """One line of injected text, as it will be shown."""

    __slots__ = ("_bare", "_longest_part", "_parts", "text")

    def __init__(self, line: str) -> None:
        self.text = line.rstrip(" \t")
        self._parts = _parts(self.text)
        self._bare = _parts(self.text.lstrip())
        self._longest_part = max(self._bare, key=len)

    def may_be_in(self, shown: str) -> bool:
        """Tell quickly whether the line can be anywhere in a text of one or many lines; False is certain."""
        return self._longest_part in shown

    def match(self, shown: str, start: int = 0) -> int | None:
        """Return where in `shown` the line ends if it stands there at `start`."""
        return _match(self._parts, shown, start)

    def find(self, shown: str, prompt: str) -> tuple[int, int] | None:
        """Find the line in `shown`: at its start or behind `prompt` with anything after it, or at its end behind a
        mark, an indent or something that ends like a prompt. An empty line is found only where nothing but a prompt
        stands.
        """
        if not self.text:
            return (len(shown), len(shown)) if _is_bare(shown.rstrip(), prompt.rstrip()) else None
        starts = [0]
        if prompt.strip() and shown.startswith(prompt):
            starts.insert(0, len(prompt))
        for start in starts:
            stop = self.match(shown, start)
            if stop is not None:
                return start, stop
        endings = (ending.end() for ending in _PROMPT_END.finditer(shown, 0, _MAX_PROMPT))
        for start in (_after_mark(shown), *endings):
            if _match(self._bare, shown, start) == len(shown):
                return start, len(shown)
        return None

    def is_whole(self, shown: str) -> bool | None:
        """Return whether a mark stands in front if `shown` is this line and nothing else; None if it is not."""
        if self.match(shown) == len(shown):
            return False
        start = _after_mark(shown)
        if _match(self._bare, shown, start) == len(shown):
            return bool(shown[:start].strip())
        return None

    def is_in(self, squeezed: str) -> bool:
        """Tell whether the line stands anywhere in a text whose blanks were left out by `squeeze`."""
        return squeeze(self.text) in squeezed

    def is_at_end(self, squeezed: str) -> bool:
        """Tell whether the line, not an empty one, stands at the end of such a text."""
        return bool(self.text) and squeezed.endswith(squeeze(self.text))


def looks_like_prompt(text: str) -> bool:
    """Tell whether a line that rests at the cursor asks for input, by what it ends in."""
    return _SHELL_PROMPT_END.search(text) is not None


def squeeze(text: str) -> str:
    """Return the text without white space and zero-width characters.

    Editors pad, indent and wrap what they show, and zsh prints zero-width characters as numbers (`<200d>` in an emoji).
    """
    text = "".join(text.split())
    return text if text.isascii() and "<" not in text else _ZERO_WIDTH.sub("", _AS_NUMBER.sub(_from_number, text))


def _from_number(found: "regex.Match[str]") -> str:
    code = int(found[1], 16)
    return chr(code) if code <= sys.maxunicode else found[0]


def _parts(line: str) -> tuple[str, ...]:
    """Split a line at its tabs, control characters written out."""
    shown = "".join("^" + chr(ord(c) ^ 0x40) if (c < " " and c != "\t") or c == "\x7f" else c for c in line)
    return tuple(shown.split("\t"))


def _match(parts: tuple[str, ...], shown: str, start: int) -> int | None:
    position = start
    for index, part in enumerate(parts):
        if index:
            blanks = position
            while blanks < len(shown) and shown[blanks] == " " and blanks - position < _TAB:
                blanks += 1
            if blanks == position:
                return None
            position = blanks
        if not shown.startswith(part, position):
            return None
        position += len(part)
    return position


def _after_mark(shown: str) -> int:
    mark = _MARK.match(shown)
    return mark.end() if mark is not None else 0


def _is_bare(shown: str, prompt: str) -> bool:
    """Tell whether nothing but a prompt stands in a line."""
    if shown in {"", prompt}:
        return True
    return len(shown) <= _MAX_PROMPT and _PROMPT_END.search(shown, max(0, len(shown) - 3)) is not None
