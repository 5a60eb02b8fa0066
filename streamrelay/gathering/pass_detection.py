"""Detects whether a text passes the talking piece. Pure.

A passing phrase begins a sentence or stands alone: "I pass.", "I pass the piece", "I pass to Rex", "Passing to Rex".
Many other sentences contain the word ("I pass the path to the parser", "all tests pass", "passing to a function"), so
only these phrases count:

* "I pass" and the end of the sentence (no question), or "for now", "this time", "this round", "on this one".
* "I pass" and the piece: "the piece", "the talking piece", "my turn", "it on".
* "I pass to", "I pass it to", "I pass the piece to" or "Passing to" and a recipient: a member's name or number, "the
  next", "the circle", "whomever ..."; or a single capitalised name that ends the sentence.

A sentence begins after the end of another one, after an empty line, or after a list or emphasis mark. A phrase in the
middle of a paragraph counts only if it has its line to itself, because a line may be wrapped anywhere. Text in quotes,
in code or in a quoted line does not count: it quotes another member or discusses the ceremony.
"""

from collections.abc import Iterable

import regex

MAX_READ_LENGTH = 16_384
"""Characters read at either end of a text: a passing phrase is not in the middle of a long one."""

_FENCE = regex.compile(r"^[ \t]*(```|~~~).*?(?:^[ \t]*\1|\Z)", regex.MULTILINE | regex.DOTALL)
_QUOTED = regex.compile(r"""^[ \t]*>.*$|`[^`\n]*`|"[^"\n]*"|“[^”\n]*”|„[^“”\n]*[“”]|«[^»\n]*»""", regex.MULTILINE)
_MARKS = r"[ \t]*(?:[-*+•●]\s+|\d+[.)]\s+)?[*_(]{0,3}"
_SENTENCE = (
    r"(?:\A|(?<=\n[ \t]*\n)|(?<=[.!?…:;][*_)\]]{0,3}\s)|(?<=[—–]\s?)"
    r"|^(?=[ \t]*(?:[-*+•●]\s|\d+[.)]\s)))"
)
_ALONE = r"[.!…]?[*_)\]]{0,4}[ \t]*$"
_END = r"(?=[*_)\]]{0,4}(?:[.!…](?:\s|[*_)\]]|$)|[ \t]*(?:\Z|\n[ \t]*(?:\n|\Z))|\s+[—–-]{1,2}\s|\s*[—–]|;))"
_STOP = r"(?=[*_)\]]{0,4}(?:[,;:!…]|\.(?!\w)|[ \t]*$|\s+(?:now|please|who|with|and)\b|\s*[—–]|\s+-\s))"
_RECIPIENT = (
    rf"(?:(?:the\s+)?next(?:\s+(?:speaker|one|person|member|voice|in\s+line))?{_STOP}"
    rf"|the\s+(?:circle|group|room|others|(?:other\s+)?speakers?)\b|everyone\b|all\s+of\s+you\b|who(?:m)?ever\b"
    rf"|the\s+one\s+who\b|you{_STOP}|(?:number\s+|no\.\s*|\#)\d+{_STOP})"
)


def passes(text: str, names: Iterable[str] = (), numbers: Iterable[int] = ()) -> bool:
    """Return whether a text passes the piece; `names` and `numbers` are those of the circle."""
    seen = text if len(text) <= 2 * MAX_READ_LENGTH else f"{text[:MAX_READ_LENGTH]}\n{text[-MAX_READ_LENGTH:]}"
    plain = _QUOTED.sub("…quoted", _FENCE.sub("", seen.replace("\N{RIGHT SINGLE QUOTATION MARK}", "'")))
    return _pattern(names, numbers).search(plain) is not None


def _pattern(names: Iterable[str], numbers: Iterable[int]) -> regex.Pattern[str]:
    named = "|".join([rf"{regex.escape(name)}(?!'?\w)" for name in names])
    numbered = "|".join([rf"{number}{_STOP}" for number in numbers])
    members = "|".join(each for each in (named, numbered) if each) or "(?!)"
    # A capitalised word that is no member's name counts as a name only at the end of the sentence.
    recipient = rf"(?:{_RECIPIENT}|(?:{members})|(?-i:\p{{Lu}}[\p{{L}}'-]+(?:\s+\(\d+\))?){_END})"
    piece = r"(?:the\s+(?:talking\s+)?piece|my\s+(?:turn|piece))\b(?!\s+of\b)"
    this = r"this\s+(?:one|time|round|turn|beat)"
    when = rf"(?:for\s+now|(?:for\s+|on\s+)?{this}|here|again|it\s+on)"
    phrase = (
        rf"(?:I\s+(?:(?:will|shall)\s+)?pass(?:{_END}|\s+{when}{_END}|\s+{piece}|\s+(?:it\s+)?(?:on\s+)?to\s+{recipient})"
        rf"|(?:Passing|I'm\s+passing|I\s+am\s+passing)\s+(?:{piece}|(?:it\s+)?(?:on\s+)?to\s+{recipient}))"
    )
    pattern = rf"{_SENTENCE}{_MARKS}{phrase}|^{_MARKS}{phrase}{_ALONE}"
    return regex.compile(pattern, regex.IGNORECASE | regex.MULTILINE)
