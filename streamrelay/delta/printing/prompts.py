"""The prompts of a pane: the text at the cursor while the program waited for input.

A prompt is learned where an echo or a line editor's text follows it, where it looks like one when the watching begins,
or where it recurs with a sign at its end. At a rest the open line is compared with those: text left of a known
prompt is output that ended without a line feed, text right of it was typed. Numbers in a prompt change (a line
counted, the time).

Behind a line that was typed, a prompt can ask for more of it: it has the words of a known prompt with another sign
behind them (`irb(main):002:1*`), or no words at all (`...`).
"""

from collections.abc import Iterator

import regex

MAX_PROMPTS = 8
"""Prompts remembered; the one learned longest ago goes first."""

_DIGITS = regex.compile(r"\d+")
_SIGN = regex.compile(r"[^\w\s]+\Z")
_SIGN_TO_TYPE_BEHIND = regex.compile(r"[>$#❯›»➜λ❱▶→] \Z")
_SIGN_TO_ANSWER = regex.compile(r"(?:[]:?>)$#❯›»➜λ❱▶→] |[:?>])\Z")
_BARE_SIGNS = frozenset({"$ ", "# ", "> "})
"""What asks for an answer although nothing stands before its sign."""
_ONLY_SIGN = regex.compile(r"\s*[^\w\s]{1,8}\s+\Z")


class _Prompt:
    """One prompt, whatever its numbers are."""

    __slots__ = ("asking_for_more", "exact")

    def __init__(self, prompt: str) -> None:
        sign = _SIGN.search(prompt)
        words = prompt[: sign.start()] if sign is not None else prompt
        pattern = _pattern(words)
        self.exact = regex.compile(pattern + _pattern(prompt[len(words) :]))
        has_words = any(character.isalpha() for character in words)
        self.asking_for_more = regex.compile(pattern + r"[^\w\s]+(?=\s|\Z)") if has_words and sign is not None else None


class Prompts:
    """The prompts one program has shown."""

    def __init__(self) -> None:
        self._known: dict[str, _Prompt] = {}
        self._last_rest, self._has_passed = "", False

    def learn(self, prompt: str) -> None:
        """Remember a prompt; an output without a line feed in front of a known one does not make a new one."""
        prompt = prompt.rstrip()
        if not prompt or self.split(prompt + " ")[0]:
            return
        key = _DIGITS.sub("0", prompt)
        known = self._known.pop(key, None)
        self._known[key] = _Prompt(prompt) if known is None else known
        if len(self._known) > MAX_PROMPTS:
            del self._known[next(iter(self._known))]

    def __contains__(self, text: str) -> bool:
        text = text.rstrip()
        return any(prompt.exact.fullmatch(text) for prompt in self._known.values())

    def split(self, head: str) -> tuple[str, str]:
        """Split an open line, up to the cursor, into what stands left of a known prompt, and the prompt.

        Both are empty where the line does not end in a known prompt. A prompt of one character is only known by the
        blank behind it as well.
        """
        if head in self:
            return "", head
        bare = head.removesuffix(" ")
        for text, prompt in self._known.items():
            if len(text) == 1 and bare == head:
                continue
            found = prompt.exact.search(bare, max(0, len(bare) - 2 * len(text)))
            while found is not None and found.end() < len(bare):
                found = prompt.exact.search(bare, found.start() + 1)
            if found is not None and not (found.start() and bare[found.start() - 1] == bare[found.start()]):
                return head[: found.start()], head[found.start() :]
        return "", ""

    def may_learn(self, head: str) -> bool:
        """Tell whether an open line ends, at the cursor, in a sign to type behind."""
        return _SIGN_TO_TYPE_BEHIND.search(head) is not None

    def rest(self, head: str) -> None:
        """Note the open line, up to the cursor, at which the program rests.

        One with a prompt's sign at its end that recurs is a prompt. What is counted or asked for (`50%`, `name:`)
        recurs as well, and is none.
        """
        if not self.may_learn(head):
            return
        key = _DIGITS.sub("0", head)
        if key == self._last_rest and self._has_passed:
            self.learn(head)
        self._last_rest, self._has_passed = key, False

    def answered(self, head: str) -> None:
        """Note that a person has answered behind this text: it is a prompt if it ends in a prompt's sign."""
        if self.may_learn(head) or head.endswith(") "):
            self.learn(head)

    def pass_line(self) -> None:
        """Note that the line has passed at which the program rested."""
        self._has_passed = True

    def ask_for_more(self, head: str) -> bool:
        """Tell whether an open line, up to the cursor, asks for more of what was typed into the line above."""
        return _ONLY_SIGN.match(head) is not None or any(
            pattern.fullmatch(head.rstrip()) for pattern in self._patterns_for_more
        )

    def behind(self, text: str) -> str | None:
        """Return what stands behind the longest known prompt at the beginning of a text; None where there is none."""
        ends = [found.end() for prompt in self._known.values() if (found := prompt.exact.match(text)) is not None]
        return text[max(ends) :].strip() if ends else None

    def behind_more(self, text: str) -> str | None:
        """Return what stands behind a prompt that asks for more; None where the text does not begin with one."""
        for pattern in self._patterns_for_more:
            found = pattern.match(text)
            if found is not None:
                return text[found.end() :].strip()
        return None

    @property
    def _patterns_for_more(self) -> Iterator["regex.Pattern[str]"]:
        return (prompt.asking_for_more for prompt in self._known.values() if prompt.asking_for_more is not None)


def _pattern(text: str) -> str:
    return _DIGITS.sub(r"\\d+", regex.escape(text, literal_spaces=True))


def asks(head: str, *, in_words: bool = False) -> bool:
    """Tell whether a line that rests, up to the cursor, may ask for an answer behind it.

    One that asks `in_words` is no sign alone.
    """
    # A line may be of megabytes: the sign is looked for at its end alone.
    sign = _SIGN_TO_ANSWER.search(head, max(0, len(head) - 2))
    if sign is None:
        return False
    words = head[: sign.start()]
    return (head in _BARE_SIGNS and not in_words) or (words != "" and not words.isspace())


def ending_in(right_prompt: str) -> regex.Pattern[str]:
    """Return what finds a right prompt, whatever its numbers are, at the end of a row, with the blanks before it."""
    return regex.compile(r"\s{2,}" + _pattern(right_prompt) + r"[ ]*$", regex.MULTILINE)
