"""The council's app: the conversation, how it stands, and a line to type in; all of it by the keyboard."""

from collections.abc import AsyncIterator
from typing import ClassVar

from textual.app import App, ComposeResult
from textual.binding import Binding, BindingType
from textual.widgets import Markdown, Static

from streamrelay.council.app.chat import ChatView, colours
from streamrelay.council.app.composer import Composer
from streamrelay.council.app.status import StatusPanel
from streamrelay.council.console import Console
from streamrelay.council.happenings import Happening, StatusChanged
from streamrelay.delivery.sanitise import sanitised
from streamrelay.errors import UsageError

_STYLE = """
Screen { layers: base; }
#chat { height: 1fr; padding: 0 1; scrollbar-size-vertical: 1; }
.message { height: auto; margin-bottom: 1; }
.message .heading { text-style: bold; }
.message .body { height: auto; padding: 0; margin: 0; }
.message MarkdownBlock { margin: 0 0 1 0; }
.message Markdown > *:last-child { margin-bottom: 0; }
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

    def __init__(self, console: Console, happenings: AsyncIterator[Happening]) -> None:
        super().__init__()
        self._console = console
        self._happenings = happenings
        self._members = list(console.session.members)
        person = [entry.text for entry in console.session.entries if entry.kind == "person"]
        self._chat = ChatView(self._members, console.session.config.person)
        self._status = StatusPanel(id="status", markup=False)
        self._candidates = Static(id="candidates", markup=False)
        self._composer = Composer(console.completions, person)

    def compose(self) -> ComposeResult:
        """Lay out the screen."""
        yield self._chat
        yield self._status
        yield self._candidates
        yield self._composer

    async def on_mount(self) -> None:
        """Show what was said so far, and follow the session."""
        self._status.show(self._console.session.status, self._members)
        self._composer.focus()
        await self._chat.restore(self._console.session.entries)
        if not self._console.session.entries:
            await self._chat.note("Type a message; each member answers in turn. /help lists the commands.")
        self.run_worker(self._follow(), name="session", exit_on_error=True)

    async def _follow(self) -> None:
        async for happening in self._happenings:
            if isinstance(happening, StatusChanged):
                self._status.show(happening, self._members)
            else:
                await self._chat.show(happening)
        self.exit()

    async def on_composer_submitted(self, event: Composer.Submitted) -> None:
        """Carry out what was typed."""
        await self.action_enter(event.text)

    def on_composer_completing(self, event: Composer.Completing) -> None:
        """Show the possible completions above the input."""
        self._candidates.display = bool(event.candidates)
        self._candidates.update(sanitised("   ".join(event.candidates)))

    def on_markdown_link_clicked(self, event: Markdown.LinkClicked) -> None:
        """Show where a link leads: a model's link opens nothing by itself."""
        self.notify(sanitised(event.href), title="Link", markup=False)

    async def action_enter(self, text: str) -> None:
        """Carry out a line as if it had been typed."""
        self._chat.anchor()
        try:
            shown = await self._console.enter(text)
        except UsageError as error:
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
        """Copy what is selected; without a selection, end the session, which can be resumed."""
        selected = self.screen.get_selected_text() or self._composer.selected_text
        if selected:
            self.copy_to_clipboard(selected)
            self.screen.clear_selection()
        else:
            await self.action_enter("/bye")


async def run_app(console: Console, happenings: AsyncIterator[Happening]) -> None:
    """Show a session on the terminal until it ends."""
    await CouncilApp(console, happenings).run_async()
