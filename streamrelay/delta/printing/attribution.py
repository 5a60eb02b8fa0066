"""Who wrote each passed line: what the ledger, the prompts and the watching's own beginning know together.

In this order: what was published of the line already is left out; an injection's echo is the ledger's; what follows a
prompt at which the program rested was typed; of a line that stood begun when the watching began nobody knows. The rest
is the program's.
"""

from collections.abc import Sequence

from streamrelay.delta.printing.echo import looks_like_prompt
from streamrelay.delta.printing.prompts import Prompts
from streamrelay.delta.printing.provenance import Ledger, Piece


class Attribution:
    """Explains the lines of one pane."""

    def __init__(self) -> None:
        self.ledger = Ledger()
        self.prompts = Prompts()
        self._at_prompt = False
        self._begun_before = False
        self._published = ""

    def __bool__(self) -> bool:
        """Whether the next line needs an explanation: otherwise it can only be the program's."""
        return bool(self.ledger or self._at_prompt or self._begun_before or self._published)

    @property
    def is_at_prompt(self) -> bool:
        """Whether the open line begins with a prompt at which the program rested."""
        return self._at_prompt

    def concerns(self, lines: Sequence[str]) -> bool:
        """Tell whether any of the next lines needs an explanation."""
        if self._at_prompt or self._begun_before or self._published:
            return True
        return bool(self.ledger) and self.ledger.may_concern(lines)

    def begin(self, open_head: str) -> None:
        """Take what stands begun at the cursor: a prompt, if it looks like one; else nobody can tell whose it is."""
        if looks_like_prompt(open_head):
            self._at_prompt = True
            self.prompts.learn(open_head)
        else:
            self._begun_before = bool(open_head.strip())

    def publish_open_line(self, open_text: str) -> None:
        """Note that the open line, as it stands, is published: an editor withdrew with the cursor on it (zle)."""
        self._published = open_text
        self._at_prompt = False

    def unpublished(self, open_text: str) -> str:
        """Return what of the open line is not published yet."""
        return open_text.removeprefix(self._published)

    def settle(self, open_head: str) -> str:
        """Note where the program rests; return what stands left of a prompt there: output without a line feed.

        What is returned counts as published.
        """
        unfinished, prompt = self.prompts.split(open_head)
        if prompt:
            self._at_prompt = True
        if not unfinished.strip():
            return ""
        self._published += unfinished
        return unfinished.rstrip()

    def explain(self, passed: str, *, has_composer: bool) -> list[Piece] | None:
        """Return the pieces of a passed line; None if nothing of it is left to say."""
        published, self._published = self._published, ""
        line = passed.removeprefix(published)
        if published and not line:
            return None
        pieces = self.ledger.attribute(line, has_composer=has_composer)
        if self._at_prompt:
            pieces = [self._behind_prompt(piece) for piece in pieces]
        if self._begun_before:
            nobodys = Piece("", "unknown", rule="begun_before")
            pieces = [nobodys._replace(text=piece.text) if piece.origin == "program" else piece for piece in pieces]
        for piece in pieces:
            if piece.origin == "injected" and piece.text in line:
                self.prompts.learn(line[: line.index(piece.text)])
        self._at_prompt = self._begun_before = False
        return pieces

    def _behind_prompt(self, piece: Piece) -> Piece:
        behind = self.prompts.behind(piece.text) if piece.origin == "program" else None
        return piece if behind is None else Piece(behind, "typed", rule="behind_prompt")
