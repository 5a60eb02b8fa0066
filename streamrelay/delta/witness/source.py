"""An agent's Markdown source as lines that can be compared with what its screen shows of them.

A renderer drops Markdown's marks, wraps lines, draws tables and replaces bullets, but it keeps every word. So a source
line and a screen line are compared by what remains without white space, marks and drawing: their `normal` form. Inside
a code block a renderer drops nothing, so marks count there as well.

    normal("- **Read** the `file`")  ->  "Readthefile"
"""

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

import regex

from streamrelay.delta.layout.glyphs import BULLETS

MARKS: Final = "*_`#>|~[]()!\\+-"
"""ASCII characters that Markdown uses as marks: a renderer may drop or replace them."""

_DROPPED = regex.compile(
    r"[\s\p{C}\ufe00-\ufe0f\u2500-\u25ff\u2022\u2023\u2043\u2219\u00b7\u23ba-\u23bd\u23fa\u2713-\u2718"
    + regex.escape(MARKS)
    + "]+"
)
_UNSEEN = regex.compile(r"[\s\p{C}\ufe00-\ufe0f\u2500-\u259f]+")
_FENCE = regex.compile(r" {0,3}(?:[-*+] +|\d{1,3}[.)] +)?(?P<fence>`{3,}|~{3,}) *(?P<label>[\w+#.-]{0,20}) *$")
_LINK = regex.compile(r"(!?\[[^\[\]\n]{0,500}\])\(<?[^\s()<>]{1,2000}>?(?: +\"[^\"\n]{0,200}\")?\)")
_NUMBER = regex.compile(r"\A(?P<indent>\s*(?:> ?)*)\d{1,9}[.)](?=\s)")
_LEAD = regex.compile(rf"\A\s*(?:> ?)*(?:\d{{1,9}}[.)]|{BULLETS})(?=\s)")
_TASK = regex.compile(r"(\s*[-*+] +)\[[xX]\](?= )")
_DELIMITER_ROW = regex.compile(r"\s*\|?(?:\s*:?-{2,}:?\s*\|?)+\s*")
_ENTITY = regex.compile(r"&(?:amp|lt|gt|quot|nbsp|#39);")
_ENTITIES: Final = {"&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": '"', "&nbsp;": " ", "&#39;": "'"}


def normal(text: str) -> str:
    """Return what a renderer keeps of a text: no white space, no marks, no drawing."""
    return _DROPPED.sub("", _composed(text))


def verbatim(text: str) -> str:
    """Return what a renderer keeps of a line of code: everything except white space and drawing."""
    return _UNSEEN.sub("", _composed(text))


def lead(line: str) -> str:
    """Return the normal form of what a screen's line may have in front of the source's text.

    That is the number of a list, which a renderer counts anew, or the glyph that a program puts before each block.
    """
    found = _LEAD.match(line)
    return "" if found is None else normal(found[0])


def _composed(text: str) -> str:
    return text if text.isascii() else unicodedata.normalize("NFC", text)


@dataclass(frozen=True, slots=True)
class SourceLine:
    """One line of an agent's source."""

    text: str
    forms: tuple[str, ...]
    """Its normal forms, as a renderer may show it; none where it shows nothing that can be compared."""
    is_code: bool = False
    message: int = 0
    """The number of the agent's message that it is part of."""


def source_lines(messages: Sequence[str]) -> list[SourceLine]:
    """Return the lines of an agent's messages, without blank lines around each message."""
    lines: list[SourceLine] = []
    for number, message in enumerate(messages):
        fence = ""
        for text in map(str.rstrip, message.strip("\n").split("\n")):
            opening = _FENCE.fullmatch(text)
            if fence and opening is not None and opening["fence"].startswith(fence) and not opening["label"]:
                fence = ""
                lines.append(SourceLine(text, (), message=number))
            elif fence:
                form = normal(text)
                lines.append(SourceLine(text, (form,) if form else (), is_code=True, message=number))
            elif opening is not None:
                fence = opening["fence"]
                lines.append(SourceLine(text, (), message=number))
            else:
                lines.append(SourceLine(text, _forms(text), message=number))
    return lines


def _forms(text: str) -> tuple[str, ...]:
    """Return the normal forms of a line outside of code: whole, without link targets, without its number."""
    if _DELIMITER_ROW.fullmatch(text):
        return ()
    plain = _ENTITY.sub(lambda entity: _ENTITIES[entity[0]], text)
    texts = dict.fromkeys((plain, _TASK.sub(r"\1", plain)))
    texts |= dict.fromkeys(_LINK.sub(r"\1", variant) for variant in tuple(texts))
    texts |= dict.fromkeys(_NUMBER.sub(r"\g<indent>", variant) for variant in tuple(texts))
    return tuple(dict.fromkeys(form for form in map(normal, texts) if form))
