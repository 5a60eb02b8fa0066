"""What a pane's events are to an ACP client: a translation of events into `session/update`s.

One turn becomes the chunks of one message. A client joins chunks without a separator, so the line feeds between lines
are part of the chunks, and the joined chunks are the text of the turn, to the character. A tool call between two lines
begins another message at the client; the line after it needs no line feed in front.

    Text("one"), Text("two"), Activity("Read a file"), Text("three")
    -> "one", "\\ntwo", a tool call, "three"
"""

from collections.abc import Collection, Iterator

from acp import (
    start_tool_call,
    text_block,
    tool_content,
    update_agent_message_text,
    update_agent_thought_text,
    update_user_message_text,
)
from acp.schema import AgentMessageChunk, AgentThoughtChunk, ToolCallProgress, ToolCallStart, UserMessageChunk

from streamrelay.events import Activity, AnyEvent, Gap, Injected, Text, TurnEnded, TurnStarted

Update = AgentMessageChunk | AgentThoughtChunk | ToolCallStart | ToolCallProgress | UserMessageChunk


class PaneUpdates:
    """The updates of one pane, event by event; `own` are the ids of the client's own messages, as it sends them."""

    def __init__(self, own: Collection[str] = ()) -> None:
        self._own = own
        self._follows_line = False
        """Whether the last update was a line of the turn, so that the next one continues its message."""
        self._pasted: dict[str, str] = {}
        self.said = False
        """Whether the program said anything since the turn began."""

    def take(self, event: AnyEvent) -> Iterator[Update]:
        """Return the updates of one event."""
        match event:
            case Text(origin="program"):
                self.said = True
                yield update_agent_message_text(f"\n{event.text}" if self._follows_line else event.text)
                self._follows_line = True
            case Text(origin="typed"):
                self._follows_line = False
                yield update_user_message_text(event.text)
            case Injected(state="pasting"):
                self._pasted[event.message_id] = event.text
            case Injected(state="entering"):
                text = self._pasted.pop(event.message_id, "")
                if text and event.message_id not in self._own:
                    self._follows_line = False
                    yield update_user_message_text(text)
            case Activity():
                self._follows_line = False
                title, _, rest = event.text.partition("\n")
                content = [tool_content(text_block(rest))] if rest else None
                yield start_tool_call(f"activity-{event.seq}", title, kind="other", status="completed", content=content)
            case Gap():
                self._follows_line = False
                yield update_agent_thought_text(f"[streamrelay missed output here: {event.reason}]\n")
            case TurnStarted() | TurnEnded():
                self._follows_line = self.said = False
            case _:
                pass


class LiveThoughts:
    """The open line of a screen, as it grows, for a client that can only append.

    A line that changes otherwise than at its end begins a new line of the thought. Nothing of it is final, so it never
    becomes part of a message.
    """

    def __init__(self) -> None:
        self._shown = ""

    def take(self, line: str) -> str:
        """Return the text to append for the line that the screen shows now; empty if nothing is new."""
        before, self._shown = self._shown, line
        if not line or line == before:
            return ""
        if before and line.startswith(before):
            return line[len(before) :]
        return f"\n{line}" if before else line

    def end(self) -> None:
        """Reset for the next turn."""
        self._shown = ""
