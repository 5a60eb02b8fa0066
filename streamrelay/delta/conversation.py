"""The other kind of program: one that keeps a transcript and a composer on a screen it paints itself.

Nothing it paints is final before its turn is over: rows are redrawn, moved, wiped and painted again. So its words are
read off the document when the turn ends, as what the document says more than it said when the message was sent.
"""

from dataclasses import dataclass

from streamrelay.delta.answers import Answer, Message, read_answer
from streamrelay.delta.document import Document
from streamrelay.delta.furniture import Furniture, composer_top, is_border
from streamrelay.delta.transcript import MARKS, spelling
from streamrelay.vt.engine import Engine, Frame

MOST_MESSAGES = 64


@dataclass(slots=True)
class _Sent:
    message_id: str | None
    text: str
    shown: str = ""
    submitted: bool = False


class Conversation:
    """Follows the screen of a program that keeps a transcript."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._document = Document(engine)
        self._furniture = Furniture()
        self._mark = self._document.mark()
        self._cursor = 0
        self._sent: list[_Sent] = []
        self._empty_composer = ""
        self.works = False
        """Whether the screen shows that the program is at work."""

    def restart(self, frame: Frame) -> None:
        """Begin with the screen as it is."""
        self._cursor = frame.cursor.y
        self._document.restart(frame)
        self.settle_down()

    def take(self, frame: Frame) -> bool:
        """Follow a frame; return whether anything reads differently now."""
        before = [row.text for row in self._document.screen]
        self._cursor = frame.cursor.y
        changed = self._document.take(frame)
        if changed:
            rows = [row.text for row in self._document.screen]
            self._furniture.observe(before, rows, self._cursor)
            self.works = self._furniture.shows_work(rows, self._cursor)
        return changed

    def settle_down(self) -> None:
        """Nothing is being answered: what stands on the screen now is old."""
        rows = [row.text for row in self._document.screen]
        self._mark = self._document.mark()
        self._furniture.rest(rows, self._cursor)
        self._empty_composer = self._composer_text()

    @property
    def has_rows_below(self) -> bool:
        """Whether anything stands below the cursor."""
        return any(row.text for row in self._document.screen[self._cursor + 1 :])

    def inject(self, message_id: str, text: str) -> None:
        """A message is being pasted."""
        self._sent.append(_Sent(message_id, text))
        del self._sent[:-MOST_MESSAGES]

    def submit(self, message_id: str) -> bool:
        """The Enter behind a message is being sent; return whether its composer shows anything of it."""
        for sent in self._sent:
            if sent.message_id == message_id:
                sent.submitted = True
                shown = self._composer_text()
                if shown != self._empty_composer:
                    sent.shown = shown
                return bool(sent.shown)
        return False

    def read(self) -> Answer:
        """Return what was answered, as far as it is painted; what is returned will not be returned again."""
        before, now = self._document.since(self._mark)
        rows = [row.text for row in self._document.screen]
        furniture = len(rows) - self._furniture.tail_start(rows, self._cursor)
        messages = [Message(sent.message_id, _forms(sent)) for sent in self._sent if sent.submitted]
        answer = read_answer(
            before,
            now[: len(now) - furniture],
            messages,
            columns=self._engine.columns,
            is_spinner=self._furniture.is_spinner,
        )
        self._sent = [sent for sent in self._sent if not sent.submitted]
        self.settle_down()
        return answer

    def _composer_text(self) -> str:
        """Return what stands in the composer, its marks and borders left out."""
        rows = [row.text for row in self._document.screen]
        if not rows:
            return ""
        top = composer_top(rows, self._cursor)
        inside: list[str] = []
        for row in rows[top + 1 if is_border(rows[top]) else top : max(self._cursor, top) + 12]:
            if is_border(row) or not row.strip():
                break
            inside.append(_bare(row))
        return "\n".join(inside).strip()


def _bare(row: str) -> str:
    """Return a row of a composer without its marks."""
    return row.strip(" " + "".join(MARKS))


def _forms(sent: _Sent) -> tuple[str, ...]:
    """Return the ways in which a transcript may show a message: whole, or as its composer showed it."""
    if sent.shown and spelling(sent.shown) != spelling(sent.text):
        return (sent.text, sent.shown)
    return (sent.text,)
