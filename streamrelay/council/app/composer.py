"""The input: one message, of one line or several, with a history and completion."""

from collections.abc import Callable, Iterable
from typing import ClassVar

from textual import events
from textual.binding import BindingType
from textual.message import Message
from textual.widgets import TextArea

MAX_HISTORY = 500


class Composer(TextArea):
    """Enter sends, Ctrl-J begins a new line, up and down recall sent messages, Tab completes."""

    BINDINGS: ClassVar[list[BindingType]] = []

    class Submitted(Message):
        """A message or command was entered."""

        def __init__(self, text: str) -> None:
            super().__init__()
            self.text = text

    class Completing(Message):
        """Several completions are possible; an empty list ends that."""

        def __init__(self, candidates: list[str]) -> None:
            super().__init__()
            self.candidates = candidates

    def __init__(self, complete: Callable[[str], list[str]], history: Iterable[str] = ()) -> None:
        super().__init__(compact=True, highlight_cursor_line=False, placeholder="Message, or /help", id="composer")
        self._complete = complete
        self._history = list(history)[-MAX_HISTORY:]
        self._at = len(self._history)
        self._draft = ""

    async def _on_key(self, event: events.Key) -> None:
        match event.key:
            case "enter":
                self._submit()
            case "ctrl+j" | "shift+enter" | "alt+enter":
                self.insert("\n")
            case "tab":
                self._complete_word()
            case "up" if self.cursor_at_first_line and self._at > 0:
                self._recall(self._at - 1)
            case "down" if self.cursor_at_last_line and self._at < len(self._history):
                self._recall(self._at + 1)
            case _:
                self.post_message(self.Completing([]))
                await super()._on_key(event)
                return
        event.stop()
        event.prevent_default()

    def _submit(self) -> None:
        text = self.text.strip()
        if not text:
            return
        if not self._history or self._history[-1] != text:
            self._history = [*self._history, text][-MAX_HISTORY:]
        self._at, self._draft = len(self._history), ""
        self.text = ""
        self.post_message(self.Completing([]))
        self.post_message(self.Submitted(text))

    def _recall(self, at: int) -> None:
        if self._at == len(self._history):
            self._draft = self.text
        self._at = at
        self.text = self._history[at] if at < len(self._history) else self._draft
        self.move_cursor(self.document.end)

    def _complete_word(self) -> None:
        """Complete the text before the cursor, as far as all completions agree."""
        row, column = self.cursor_location
        before = self.document.get_line(row)[:column]
        found = self._complete(before)
        if not found:
            return
        agreed = _common_start(found)
        if len(found) == 1:
            agreed += " "
        if len(agreed) > len(before) or agreed.casefold().startswith(before.casefold()):
            self.replace(agreed, (row, 0), (row, column))
        self.post_message(self.Completing(found if len(found) > 1 else []))


def _common_start(texts: list[str]) -> str:
    """Return the common beginning of texts, ignoring case, as the first text spells it."""
    first, rest = texts[0], [text.casefold() for text in texts[1:]]
    end = 0
    while end < len(first) and all(text.startswith(first[: end + 1].casefold()) for text in rest):
        end += 1
    return first[:end]
