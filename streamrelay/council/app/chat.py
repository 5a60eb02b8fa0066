"""The conversation on the screen: streaming answers, queued messages, notices. The store keeps what the screen drops.

All text comes from people, models and panes: it is sanitised, and none of it is read as markup of the screen.
"""

from collections.abc import Mapping, Sequence

from textual.app import ComposeResult
from textual.containers import Vertical, VerticalScroll
from textual.widget import Widget
from textual.widgets import Markdown, Static
from textual.widgets.markdown import MarkdownStream

from streamrelay.council.app.mermaid import with_diagrams
from streamrelay.council.context import Entry
from streamrelay.council.events import (
    AnswerBegan,
    AnswerEnded,
    AnswerGrew,
    CouncilEvent,
    Joined,
    MessageShown,
    MessagesTaken,
    Noticed,
    Revealed,
)
from streamrelay.delivery.sanitise import sanitised

MAX_SHOWN = 100
"""Messages and notices that the screen keeps. Textual (8.2) lays out all of them for each new word."""
_PRUNED_AT_ONCE = 20
_COLOURS = 6
"""Colours of members, in the style sheet."""


class MessageView(Vertical):
    """One message: who wrote it, and what."""

    def __init__(self, heading: str, text: str, *, is_markdown: bool, classes: str) -> None:
        super().__init__(classes=f"message {classes}")
        self._heading = Static(sanitised(heading), classes="heading", markup=False)
        shown = sanitised(text)
        self.body: Markdown | Static = (
            Markdown(with_diagrams(shown), open_links=False, classes="body")
            if is_markdown
            else Static(shown, classes="body", markup=False)
        )

    def compose(self) -> ComposeResult:
        """Yield the heading and the text."""
        yield self._heading
        yield self.body

    def head(self, heading: str) -> None:
        """Change the heading."""
        self._heading.update(sanitised(heading))

    def take_in(self, author: str) -> None:
        """Show a queued message as part of the conversation."""
        self.remove_class("queued")
        self.head(author)


class ChatView(VerticalScroll):
    """Shows the events of one session."""

    can_focus = False

    def __init__(self, members: Sequence[str], person: str) -> None:
        super().__init__(id="chat")
        self._person = person
        self._colours = {name: f"colour-{number % _COLOURS}" for number, name in enumerate(members)}
        self._messages: dict[str, MessageView] = {}
        self._placeholders: dict[str, Static] = {}
        self._streams: dict[str, MarkdownStream] = {}
        self._left_out = 0

    async def restore(self, joined: Joined) -> None:
        """Show the latest messages of a session and the queued ones."""
        self.anchor()
        shown = joined.entries[-MAX_SHOWN:]
        self._left_out = joined.earlier + len(joined.entries) - len(shown)
        if self._left_out:
            await self.mount(self._earlier())
        await self.mount_all([self._view(entry) for entry in shown])
        for entry in joined.queued:
            await self.show(MessageShown(entry, queued=True))

    async def show(self, event: CouncilEvent) -> None:
        """Show one event."""
        match event:
            case MessageShown(entry, queued):
                self._messages[entry.id] = self._view(entry, queued=queued)
                await self._add(self._messages[entry.id])
            case MessagesTaken(ids):
                for message in ids:
                    taken = self._messages.pop(message, None)
                    if taken is not None and taken.is_attached:
                        taken.take_in(self._person)
                        self.move_child(taken, after=self.children[-1])
            case AnswerBegan(answer, member, hidden=True):
                self._placeholders[answer] = placeholder = Static(
                    sanitised(f"{member} is answering; the answers are shown together"), classes="notice", markup=False
                )
                await self._add(placeholder)
            case AnswerBegan(answer, member, model=model):
                heading = f"{member} · {model}" if model else member
                view = MessageView(heading, "", is_markdown=True, classes=self._colours.get(member, ""))
                self._messages[answer] = view
                await self._add(view)
            case AnswerGrew(answer, piece):
                await self._grow(answer, sanitised(piece))
            case AnswerEnded(answer, entry):
                await self._end(answer, entry)
            case Revealed(entries):
                await self._reveal(entries)
            case Noticed(text, urgent):
                await self.note(text, urgent=urgent)
            case _:
                pass

    async def note(self, text: str, *, urgent: bool = False) -> None:
        """Show a notice."""
        classes = "notice urgent" if urgent else "notice"
        await self._add(Static(sanitised(text), classes=classes, markup=False))

    async def _grow(self, answer: str, piece: str) -> None:
        view = self._messages.get(answer)
        if view is None or not isinstance(view.body, Markdown):
            return
        # A stream that is stopped before its task has run raises CancelledError (textual 8.2): begin it with a text.
        if answer not in self._streams:
            self._streams[answer] = Markdown.get_stream(view.body)
        await self._streams[answer].write(piece)

    async def _end(self, answer: str, entry: Entry | None) -> None:
        if (placeholder := self._placeholders.get(answer)) is not None:
            placeholder.update(str(placeholder.content).replace("is answering", "has answered"))
            return
        stream, view = self._streams.pop(answer, None), self._messages.pop(answer, None)
        if stream is not None:
            await stream.stop()
        if view is None or not view.is_attached:
            return
        if entry is None:
            await view.remove()
            return
        final = with_diagrams(sanitised(entry.text))
        if isinstance(view.body, Markdown) and view.body.source.strip() != final:
            await view.body.update(final)
        if entry.partial:
            view.head(f"{entry.author} (broken off)")

    async def _reveal(self, entries: Sequence[Entry]) -> None:
        for placeholder in self._placeholders.values():
            await placeholder.remove()
        self._placeholders.clear()
        await self._add(Static("The blind answers, together:", classes="notice", markup=False))
        for entry in entries:
            await self._add(self._view(entry))

    def _view(self, entry: Entry, *, queued: bool = False) -> MessageView:
        classes = "person" if entry.kind == "person" else self._colours.get(entry.author, "")
        heading = f"(Queued) {entry.author}:" if queued else entry.author
        if entry.partial:
            heading += " (broken off)"
        return MessageView(
            heading,
            entry.text,
            is_markdown=entry.kind != "person",
            classes=f"{classes} queued" if queued else classes,
        )

    async def _add(self, widget: Widget) -> None:
        await self.mount(widget)
        too_many = len(self.children) - MAX_SHOWN
        if too_many < _PRUNED_AT_ONCE:
            return
        streaming = {id(self._messages[answer]) for answer in self._streams if answer in self._messages}
        pruned = [child for child in self.children[:too_many] if id(child) not in streaming]
        self._left_out += sum(isinstance(child, MessageView) for child in pruned)
        await self.remove_children(pruned)
        await self.mount(self._earlier(), before=0)

    def _earlier(self) -> Static:
        """Return the line in place of the messages that have left the screen."""
        text = (
            f"{self._left_out:,} earlier messages are not shown; /export writes all of them" if self._left_out else ""
        )
        return Static(text, classes="notice", markup=False)


def colours() -> Mapping[str, str]:
    """Return the colour of each class of members."""
    names = ("$primary", "$success", "$warning", "$accent", "$secondary", "$error")
    return {f"colour-{number}": names[number] for number in range(_COLOURS)}
