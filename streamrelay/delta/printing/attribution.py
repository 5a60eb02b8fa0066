"""Who wrote each passed line: what the ledger, the prompts and the watching's own beginning know together.

In this order: what was published of the line already is left out; the terminal's echo of a key was typed; an
injection's echo is the ledger's; what follows a prompt or a question at which the program rested was typed; the writer
of a line that had begun before the watching did is unknown. All other lines are the program's.

A question needs not be known to be one (`Name? Bob`). The line rests at a sign to answer behind, and its line feed
comes alone, behind another rest: a person types an answer and then Enter, while a program writes the end of a line
with its line feed (`Checking: ok`).
"""

from collections.abc import Sequence
from typing import Literal, NamedTuple

from streamrelay.delta.printing.echo import looks_like_prompt
from streamrelay.delta.printing.key_echo import KeyEcho
from streamrelay.delta.printing.prompts import Prompts, asks
from streamrelay.delta.printing.provenance import Ledger, Piece

MAX_ANSWERED = 8_192
"""Characters of a question and its answer. A terminal takes at most 4,095 of a typed line (Linux n_tty.c): where it is
much longer, the program writes it in several pieces.
"""


class Awaited(NamedTuple):
    """What the program waits for with the open line unfinished, as it rested."""

    kind: Literal["prompt", "question", "unknown"]
    """`unknown` if the line had begun before watching did."""
    head: str
    """The line up to the cursor."""


class _Answered(NamedTuple):
    """An open line that asks for an answer, at its first and at its latest rest."""

    head: str | None
    """What was not published of it at the first rest; None if the program has replaced it since (a progress bar)."""
    latest: str
    question: str
    """The whole line at the first rest."""

    def answer(self, line: str) -> str | None:
        """Return the answer in a passed line; None if the line is the program's."""
        if self.head is None or len(line) > MAX_ANSWERED or line != self.latest.rstrip():
            return None
        answer = line.removeprefix(self.head.rstrip()).strip()
        return answer if not answer or any(character.isalnum() for character in answer) else None


class Attribution:
    """Explains the lines of one pane."""

    def __init__(self) -> None:
        self.ledger = Ledger()
        self.prompts = Prompts()
        self.keys = KeyEcho()
        self._awaited: Awaited | None = None
        self._follows_typed = False
        """Whether the line above the open one was typed or sent."""
        self._published = ""
        self._answered: _Answered | None = None

    def __bool__(self) -> bool:
        """Whether the next line needs an explanation: otherwise it can only be the program's."""
        return bool(self.ledger or self._awaited or self._published or self._answered or self.keys)

    @property
    def is_at_prompt(self) -> bool:
        """Whether the open line begins with a prompt at which the program rested."""
        return self._awaited is not None and self._awaited.kind == "prompt"

    def concerns(self, lines: Sequence[str]) -> bool:
        """Tell whether any of the next lines needs an explanation."""
        if self._awaited or self._published or self._answered or self.keys:
            return True
        return bool(self.ledger) and self.ledger.may_concern(lines)

    def begin(self, open_head: str) -> None:
        """Take the text that stands at the cursor: a prompt if it looks like one, else a text of unknown origin."""
        if looks_like_prompt(open_head):
            self._awaited = Awaited("prompt", open_head)
            self.prompts.learn(open_head)
        elif open_head.strip():
            self._awaited = Awaited("unknown", open_head)

    def learn_what_stood_there(self) -> None:
        """Note that the text at the cursor when watching began was a prompt."""
        if self._awaited is not None and self._awaited.kind == "unknown":
            self.prompts.learn(self._awaited.head)

    def publish_open_line(self, open_text: str) -> None:
        """Note that the open line, as it stands, is published: an editor withdrew with the cursor on it (zle)."""
        self._published = open_text
        self._awaited = None

    def publish_question(self, open_head: str) -> str:
        """Note that the open line, at which the program waits, is published; return it as text."""
        self._published += open_head
        self._awaited, self._answered = None, _Answered("", "", open_head)
        return open_head.rstrip()

    def unpublished(self, open_text: str) -> str:
        """Return what of the open line is not published yet."""
        return open_text.removeprefix(self._published)

    def unpublished_lines(self, lines: list[str]) -> list[str]:
        """Return what of passed lines, which begin with the open line, is not published yet."""
        if not lines or not self._published:
            return lines
        first = self.unpublished(lines[0])
        return [first, *lines[1:]] if first else lines[1:]

    def ask(self, question: str) -> None:
        """Note that the open line, as it rests, asks a person for something."""
        self._awaited = Awaited("question", question)

    def is_waiting(self, line: str) -> bool:
        """Tell whether the open line is a prompt or a question, and nothing stands behind it."""
        return line in self.prompts or (
            self._awaited is not None and self._awaited.kind != "unknown" and line == self._awaited.head.rstrip()
        )

    def may_be_answered(self, open_head: str) -> bool:
        """Tell whether a person may be typing behind the open line, so that each of its rests counts."""
        return self._answered is not None or asks(open_head)

    def await_prompt(self, head: str) -> None:
        """Note that the next line follows this prompt."""
        self._awaited = Awaited("prompt", head)

    def may_be_prompt(self, open_head: str) -> bool:
        """Tell whether the open line may be a prompt, which must not explain the lines above it."""
        # A sign alone may be the search line of a picker, which paints its list above.
        if self.prompts.split(open_head)[1] or asks(open_head, in_words=True):
            return True
        return (self._awaited is not None or self._follows_typed) and self.prompts.ask_for_more(open_head)

    def submitted(self) -> None:
        """Note that a line editor's line was typed or sent."""
        self._follows_typed = True

    def printed(self) -> None:
        """Note that lines passed which needed no explanation."""
        self.prompts.pass_line()
        self._follows_typed = False

    def settle(self, open_head: str, *, in_display: bool = False) -> str:
        """Note where the program rests; return what stands left of a prompt there: output without a line feed.

        What is returned counts as published. A line `in_display` is no prompt, however often it recurs.
        """
        unfinished = prompt = ""
        if not in_display:
            self.prompts.rest(open_head)
            unfinished, prompt = self.prompts.split(open_head)
        if prompt or (self._follows_typed and self.prompts.ask_for_more(open_head)):
            self._awaited = Awaited("prompt", prompt or open_head)
        elif self._answered is not None:
            head = self._answered.head
            is_same = head is not None and open_head.startswith(head)
            self._answered = self._answered._replace(head=head if is_same else None, latest=open_head)
        elif asks(open_head):
            self._answered = _Answered(open_head, open_head, open_head)
        if not unfinished.strip():
            return ""
        self._published += unfinished
        return unfinished.rstrip()

    def unfinished(self, text: str) -> list[Piece]:
        """Return the pieces of what stands left of a prompt: output without a line feed."""
        echoed = self.keys.find(text)
        self.keys.forget()
        before = text if echoed is None else echoed.before
        pieces = [Piece(before, "program", rule="unfinished")] if before.strip() else []
        return pieces if echoed is None else [*pieces, *echoed.pieces("unfinished")]

    def explain(self, passed: str, *, has_composer: bool, may_tear: bool = True) -> list[Piece] | None:
        """Return the pieces of a passed line; None if nothing of it is left to say."""
        self.prompts.pass_line()
        published, self._published = self._published, ""
        line = passed.removeprefix(published)
        if published and not line:
            return None
        echoed = None if self.is_at_prompt else self.keys.find(line)
        if echoed is None:
            return self._explain(line, has_composer=has_composer, may_tear=may_tear)
        self.keys.forget()
        before = echoed.before
        pieces = self._explain(before, has_composer=has_composer, may_tear=may_tear) if before.strip() else []
        pieces += echoed.pieces()
        self._awaited = self._answered = None
        self._follows_typed = False
        return pieces

    def _explain(self, line: str, *, has_composer: bool, may_tear: bool) -> list[Piece]:
        """Return the pieces of a line that is not published and has no key in it."""
        pieces = self.ledger.attribute(line, has_composer=has_composer, may_tear=may_tear)
        if self._awaited is not None:
            pieces = [self._behind(self._awaited, piece) for piece in pieces]
            if not _is_typed_above(self._awaited, line, pieces):
                self._awaited = None
        elif self._answered is not None and pieces == [Piece(line, "program")]:
            answer = self._answered.answer(line)
            if answer is not None:
                self.prompts.answered(self._answered.question)
                pieces = [Piece(answer, "typed", rule="behind_question")]
        self._answered = None
        for piece in pieces:
            if piece.origin == "injected" and piece.text in line:
                self.prompts.learn(line[: line.index(piece.text)])
        self._follows_typed = bool(pieces) and pieces[-1].origin in {"typed", "injected"}
        return pieces

    def _behind(self, awaited: Awaited, piece: Piece) -> Piece:
        if piece.origin != "program":
            return piece
        head = awaited.head.rstrip()
        match awaited.kind:
            case "unknown":
                return Piece(piece.text, "unknown", rule="begun_before")
            case "question" if piece.text.startswith(head):
                return Piece(piece.text.removeprefix(head).strip(), "typed", rule="behind_question")
            case "prompt":
                behind = self.prompts.behind(piece.text)
                if behind is None:
                    behind = self.prompts.behind_more(piece.text)
                if behind is None and piece.text.startswith(head):
                    behind = piece.text.removeprefix(head).strip()
                return piece if behind is None else Piece(behind, "typed", rule="behind_prompt")
        return piece


def _is_typed_above(awaited: Awaited, line: str, pieces: Sequence[Piece]) -> bool:
    """Tell whether a line was typed behind another prompt than the awaited one.

    irb 1.4 paints all rows of its input again at Enter, with other signs and indents in their prompts.
    """
    return not line.startswith(awaited.head.rstrip()) and any(piece.rule == "behind_prompt" for piece in pieces)
