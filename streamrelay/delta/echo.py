"""How a terminal shows a line that was typed into it.

A tab comes out as one to eight blanks, a control character as `^X` (ECHOCTL), blanks at the end don't show. In front
can stand a prompt or the mark with which a program shows what it was sent; behind it, on the same row, whatever the
program printed next.
"""

import regex

_MARK = regex.compile(r"[\s│┃|▌]*[>❯›»•$#%*]?\s*")
_PROMPT_END = regex.compile(r"(?:[>$#%:?❯›»]|\.\.\.)\s*")
_LONGEST_PROMPT = 60
_TAB = 8


class ShownLine:
    """One line of injected text, as it will be shown."""

    __slots__ = ("_parts", "text")

    def __init__(self, line: str) -> None:
        line = line.rstrip()
        self.text = line
        self._parts = tuple(_with_carets(part) for part in line.split("\t"))

    def match(self, shown: str, start: int = 0) -> int | None:
        """Return where in `shown` the line ends if it stands there at `start`."""
        position = start
        for index, part in enumerate(self._parts):
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

    def find(self, shown: str, prompt: str) -> tuple[int, int] | None:
        """Find the line in `shown`: at its start or behind `prompt` with anything after it, or at its end behind
        something that ends like a prompt. An empty line is found only where nothing but a prompt stands.
        """
        if not self.text:
            bare = shown.rstrip()
            is_bare = not bare or bare == prompt.rstrip() or (len(bare) <= _LONGEST_PROMPT and _ends_like_prompt(bare))
            return (len(shown), len(shown)) if is_bare else None
        starts = [0]
        if prompt.strip() and shown.startswith(prompt):
            starts.insert(0, len(prompt))
        for start in starts:
            stop = self.match(shown, start)
            if stop is not None:
                return start, stop
        for ending in _PROMPT_END.finditer(shown, 0, _LONGEST_PROMPT):
            if self.match(shown, ending.end()) == len(shown):
                return ending.end(), len(shown)
        return None

    def is_whole(self, shown: str) -> bool | None:
        """Return whether a mark stands in front if `shown` is this line and nothing else; None if it is not."""
        if self.match(shown) == len(shown):
            return False
        mark = _MARK.match(shown)
        if mark is not None and self.match(shown, mark.end()) == len(shown):
            return bool(mark[0].strip())
        return None

    def is_in(self, squeezed: str) -> bool:
        """Tell whether the line stands anywhere in a text whose blanks were left out by `squeeze`."""
        return squeeze(self.text) in squeezed


def squeeze(text: str) -> str:
    """Return the text without any white space: editors pad, indent and wrap what they show."""
    return "".join(text.split())


def _with_carets(text: str) -> str:
    return "".join("^" + chr(ord(c) ^ 0x40) if c < " " or c == "\x7f" else c for c in text)


def _ends_like_prompt(text: str) -> bool:
    return _PROMPT_END.search(text[-3:]) is not None and _PROMPT_END.fullmatch(text[-1:]) is not None
