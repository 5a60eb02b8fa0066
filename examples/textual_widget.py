"""Show what a pane says while it says it, in a Textual app: textual_widget.py work:0.1.

`PaneText` is the widget; put it into your own app. Needs the package textual.
"""

import sys

from textual.app import App, ComposeResult
from textual.widgets import RichLog

import streamrelay


class PaneText(RichLog):
    """The text of one pane, live: what the program says in plain, and what was typed into it in grey."""

    def __init__(self, target: str, socket_path: str | None = None) -> None:
        super().__init__(wrap=True)
        self.target = target
        self.socket_path = socket_path

    def on_mount(self) -> None:
        self.run_worker(self.follow())

    async def follow(self) -> None:
        async with streamrelay.connect(socket_path=self.socket_path) as server, server.watch(self.target) as stream:
            self.border_title = stream.pane.info.address
            async for event in stream:
                if isinstance(event, streamrelay.Text):
                    self.write(event.text if event.origin == "program" else f"> {event.text}")


class PaneApp(App[None]):
    """The widget alone."""

    def compose(self) -> ComposeResult:
        yield PaneText(sys.argv[1])


if __name__ == "__main__":
    PaneApp().run()
