"""The council's app: the conversation, its state, and an input; usable by keyboard alone."""

import asyncio
import gc
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from functools import partial
from typing import ClassVar

from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import Markdown, Static

from streamrelay.council.app.chat import ChatView, colours
from streamrelay.council.app.composer import Composer
from streamrelay.council.app.status import StatusPanel
from streamrelay.council.commands import completions
from streamrelay.council.console import Seat
from streamrelay.council.events import CouncilEvent, Joined, StatusChanged
from streamrelay.delivery.sanitise import sanitised
from streamrelay.errors import StreamrelayError

_STYLE = """
Screen { layers: base; }
#chat { height: 1fr; padding: 0 1; scrollbar-size-vertical: 1; }
.message { height: auto; margin-bottom: 1; }
.message .heading { text-style: bold; }
.message .body { height: auto; padding: 0; margin: 0; }
.message MarkdownBlock { margin: 0 0 1 0; }
.message Markdown > MarkdownBlock:last-child { margin-bottom: 0; }
.person .heading { color: $text-muted; }
.queued { opacity: 60%; text-style: dim; }
.notice { height: auto; color: $text-muted; margin-bottom: 1; }
.urgent { color: $warning; text-style: bold; }
#status { height: auto; max-height: 5; padding: 0 1; background: $surface; }
#candidates { height: auto; max-height: 2; padding: 0 1; color: $text-muted; display: none; }
#composer { height: auto; max-height: 6; min-height: 1; margin: 0 1; border: none; padding: 0; }
"""


class CouncilApp(App[None]):
    """Shows one session until it ends."""

    CSS: ClassVar[str] = _STYLE + "".join(
        f".{name} .heading {{ color: {colour}; }}\n" for name, colour in colours().items()
    )
    TITLE = "The Council"
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+c", "leave", "Leave", priority=True),
        Binding("ctrl+q", "leave", "Leave", priority=True),
        Binding("f1", "enter('/help')", "Help", priority=True),
        Binding("pageup", "page(-1)", "Up", priority=True),
        Binding("pagedown", "page(1)", "Down", priority=True),
        Binding("ctrl+end", "to_end", "To the end", priority=True),
    ]

    def __init__(self, seat: Seat, joined: Joined, events: AsyncIterator[CouncilEvent]) -> None:
        """Show the session as `joined` describes it, then the events after that."""
        super().__init__()
        self.lost: StreamrelayError | None = None
        """The error that ended the stream of events, if one did."""
        self._seat = seat
        self._joined = joined
        self._events = events
        person = [entry.text for entry in joined.entries if entry.kind == "person"]
        self._chat = ChatView(joined.members, joined.person)
        self._status = StatusPanel(id="status", markup=False)
        self._candidates = Static(id="candidates", markup=False)
        self._composer = Composer(partial(completions, members=joined.members, phases=joined.phases), person)

    def compose(self) -> ComposeResult:
        """Lay out the screen."""
        yield self._chat
        yield self._status
        yield self._candidates
        yield self._composer

    async def on_mount(self) -> None:
        """Show the messages so far, and follow the session."""
        self._status.show(self._joined.status, self._joined.members)
        self._composer.focus()
        await self._chat.restore(self._joined)
        if not self._joined.entries:
            await self._chat.note("Type a message; each member answers in turn. /help lists the commands.")
        self.run_worker(self._follow(), name="session", exit_on_error=True)

    async def _follow(self) -> None:
        try:
            async for event in self._events:
                if isinstance(event, StatusChanged):
                    self._status.show(event, self._joined.members)
                else:
                    await self._chat.show(event)
        except StreamrelayError as error:
            self.lost = error
        self.exit()

    async def on_composer_submitted(self, event: Composer.Submitted) -> None:
        """Execute the typed line."""
        await self.action_enter(event.text)

    def on_composer_completing(self, event: Composer.Completing) -> None:
        """Show the possible completions above the input."""
        self._candidates.display = bool(event.candidates)
        self._candidates.update(sanitised("   ".join(event.candidates)))

    def on_markdown_link_clicked(self, event: Markdown.LinkClicked) -> None:
        """Show the target of a link; a model's link opens nothing by itself."""
        self.notify(sanitised(event.href), title="Link", markup=False)

    async def action_enter(self, text: str) -> None:
        """Execute a line as if the person had typed it."""
        self._chat.anchor()
        try:
            shown = await self._seat.enter(text)
        except StreamrelayError as error:
            await self._chat.note(f"{error.message}. {error.hint}".rstrip(" "), urgent=True)
            return
        if shown:
            await self._chat.note(shown)

    def action_page(self, pages: int) -> None:
        """Scroll the conversation by pages; new text does not scroll it back."""
        if pages < 0:
            self._chat.scroll_page_up(animate=False)
        else:
            self._chat.scroll_page_down(animate=False)

    def action_to_end(self) -> None:
        """Go back to the newest text, and follow it."""
        self._chat.scroll_end(animate=False)
        self._chat.anchor()

    async def action_leave(self) -> None:
        """Copy what is selected; without a selection, leave the session, which can be resumed."""
        selected = self.screen.get_selected_text() or self._composer.selected_text
        if selected:
            self.copy_to_clipboard(selected)
            self.screen.clear_selection()
        else:
            await self._leave()

    async def _leave(self) -> None:
        try:
            if await self._seat.leave():
                return  # The end of the session is the last that happens.
        except StreamrelayError as error:
            self.lost = error
        self.exit()


@contextmanager
def _rare_collections() -> Iterator[None]:
    """Let the garbage collector go through old objects ten times less often: each time stops the screen for 60 ms."""
    young, middle, old = gc.get_threshold()
    gc.collect()
    gc.freeze()
    gc.set_threshold(young, middle, 10 * old)
    try:
        yield
    finally:
        gc.set_threshold(young, middle, old)
        gc.unfreeze()


async def run_app(seat: Seat, joined: Joined, events: AsyncIterator[CouncilEvent]) -> None:
    """Show a session on the terminal until it ends or the person leaves; raises the error that ended its events."""
    app = CouncilApp(seat, joined, events)
    with _rare_collections():
        await app.run_async()
    task = asyncio.current_task()
    if task is not None and task.cancelling():
        # Textual (8.2) returns normally from a cancelled run: a signal would look like the end of the session.
        raise asyncio.CancelledError
    if app.lost is not None:
        raise app.lost
