"""A terminal for an agent that speaks ACP: the program that `streamrelay start acp:COMMAND` runs in a pane.

    python -m streamrelay.acp.host gemini --acp

It starts the agent, opens a session over the protocol, and gives it a terminal. What is typed or pasted is a prompt,
the text of the agent is printed as it comes, and a permission is a dialog with numbered choices. So an ACP agent takes
part in everything that panes do: it is listed, watched, journaled, linked and gathered like any other program, it
outlives a daemon that dies, and a person can attach to it.

Invariants: only the agent's messages are printed on the main screen, so that whatever reads the pane reads the agent's
text; a dialog stands on the alternate screen and leaves nothing behind; tool calls stand in the title alone. The title
begins with a spinner while the agent works, so that each turn ends certainly: tmux keeps a title, so a reader that was
away learns the state, too. One prompt is sent at a time, and each typed Enter sends one.

Keys: Enter sends, Ctrl-C cancels the turn that runs, Ctrl-C or Ctrl-D ends the program when it is idle.
"""

import asyncio
import os
import re
import signal
import sys
from collections import deque
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from streamrelay.acp.terminal_input import TerminalInput, TerminalKey
from streamrelay.children import ended, send_signal
from streamrelay.errors import ExtraMissing
from streamrelay.installation import needs_extra
from streamrelay.raw_terminal import raw_terminal
from streamrelay.version import VERSION

_STDIN, _STDOUT = 0, 1
_PASTE_ON, _PASTE_OFF = b"\x1b[?2004h", b"\x1b[?2004l"
_DIALOG_ON, _DIALOG_OFF = "\x1b[?1049h\x1b[2J\x1b[H\x1b[?25l", "\x1b[?25h\x1b[?1049l"
_SPINNER = "\u283f "
"""What a title begins with while the agent works: a frame of a spinner, as many programs show it."""
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
ESCAPE_TIMEOUT = 0.05
"""Seconds after which an escape without a sequence is a key."""
END_TIMEOUT = 2.0
"""Seconds in which an agent ends that closed its connection, or got a signal to end."""
STDIO_LIMIT = 50 << 20
"""Bytes of one line of the protocol: a message may hold an image."""


def printable(text: str) -> str:
    """Return text without the control characters that a terminal obeys; line feeds and tabs stay, as do joiners."""
    return _CONTROLS.sub("", text.replace("\r\n", "\n"))


class HostScreen:
    """What the pane shows: the agent's words on the main screen, its state and its tool calls in control strings."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._at_line_start = True

    def title(self, doing: str = "", *, works: bool = True) -> None:
        """Name the agent in the title, whether it works, and what it does."""
        what = " ".join(printable(doing).split())[:80]
        self._write(f"\x1b]2;{_SPINNER if works else ''}ACP: {self._name}{f' - {what}' if what else ''}\x07")

    def waits(self, draft: str = "") -> None:
        """Show the prompt, and the draft that was typed while the agent worked."""
        self.ends_message()
        self._write("> ")
        self.title(works=False)
        if draft:
            self.typed(draft)

    def typed(self, text: str) -> None:
        """Show the typed text after the prompt, its further lines indented by two columns."""
        self._at_line_start = False
        self._write(printable(text).replace("\n", "\n  "))

    def erased(self) -> None:
        """Take back the last typed character."""
        self._write("\b \b")

    def submitted(self) -> None:
        """End the typed lines."""
        self._write("\n")
        self._at_line_start = True

    def says(self, text: str) -> None:
        """Print words of the agent."""
        if shown := printable(text):
            self._write(shown)
            self._at_line_start = shown.endswith("\n")

    def ends_message(self) -> None:
        """End the line of a message that has none."""
        if not self._at_line_start:
            self.says("\n")

    def asks(self, rows: Sequence[str]) -> None:
        """Put up a dialog, over everything."""
        self._write(_DIALOG_ON + "\n".join(printable(row) for row in rows))

    def asks_no_more(self) -> None:
        """Take the dialog away."""
        self._write(_DIALOG_OFF)

    @staticmethod
    def _write(text: str) -> None:
        data = memoryview(text.encode(errors="replace"))
        while data:
            data = data[os.write(_STDOUT, data) :]


class AgentTerminal:
    """The ACP client in the pane (`acp.Client`): it carries words between a terminal and one session of an agent."""

    def __init__(self, name: str) -> None:
        self.screen = HostScreen(name)
        self._input = TerminalInput()
        self._draft = ""
        self._prompts: deque[str] = deque()
        self._news = asyncio.Event()
        self._leaving = False
        self._answer: asyncio.Future[int | None] | None = None
        self._asking = asyncio.Lock()
        """Held while a dialog stands: an agent may ask about two tool calls at once."""
        self._choices = 0
        self._question, self._repeats = "", 0
        """The last question, and how often in a row it was asked."""
        self._message_id: str | None = None
        self._agent: Any = None
        self._session = ""
        self._works = False
        self._waits = False
        """Whether the prompt is shown; text that is typed otherwise is shown after the next prompt."""

    # The terminal

    def read(self) -> None:
        """Handle typed input."""
        data = os.read(_STDIN, 1 << 16)
        if not data:
            self._leave()
            return
        self._take(self._input.feed(data))
        asyncio.get_running_loop().call_later(ESCAPE_TIMEOUT, lambda: self._take(self._input.flush()))

    def _take(self, keys: Sequence[TerminalKey]) -> None:
        for typed in keys:
            if self._answer is not None:
                self._choose(typed)
            else:
                self._compose(typed)

    def _compose(self, typed: TerminalKey) -> None:
        match typed.kind:
            case "text":
                self._draft += typed.text
                if self._waits:
                    self.screen.typed(typed.text)
            case "erase" if self._draft and not self._draft.endswith("\n"):
                self._draft = self._draft[:-1]
                if self._waits:
                    self.screen.erased()
            case "enter" if self._draft.strip():
                if self._waits:
                    self.screen.submitted()
                self._waits = False
                self._prompts.append(self._draft)
                self._draft = ""
                self._news.set()
            case "interrupt" if self._works:
                self._news.set()
                self._cancelling = asyncio.ensure_future(self._agent.cancel(session_id=self._session))
            case "interrupt" | "end":
                self._leave()
            case _:
                pass

    def _choose(self, typed: TerminalKey) -> None:
        """Answer the dialog: a number is a choice, Escape or Ctrl-C closes it."""
        if self._answer is None or self._answer.done():
            return
        if typed.kind == "text" and typed.text.isdecimal() and 0 < int(typed.text) <= self._choices:
            self._answer.set_result(int(typed.text) - 1)
        elif typed.kind in {"escape", "interrupt"}:
            self._answer.set_result(None)

    def _leave(self) -> None:
        self._leaving = True
        self._news.set()

    # The protocol

    def on_connect(self, agent: Any) -> None:
        """Take the agent at the other end."""
        self._agent = agent

    async def session_update(self, session_id: str, update: Any, **_: Any) -> None:
        """Print the agent's output; show its tool call in the title."""
        kind = update.session_update
        if kind == "agent_message_chunk" and getattr(update.content, "type", "") == "text":
            if self._message_id not in {None, update.message_id}:
                self.screen.ends_message()
            self._message_id = update.message_id
            self.screen.says(update.content.text)
        elif kind in {"tool_call", "tool_call_update"}:
            self.screen.ends_message()
            if title := getattr(update, "title", None):
                self.screen.title(title)

    async def request_permission(self, session_id: str, tool_call: Any, options: Sequence[Any], **_: Any) -> Any:
        """Put up a dialog, and return what the person at the terminal chooses."""
        from acp.schema import AllowedOutcome, DeniedOutcome, RequestPermissionResponse

        rows = [f"  {number}. {option.name}" for number, option in enumerate(options, 1)]
        rows[0] = f"❯{rows[0][1:]}"
        question = f"Do you permit: {' '.join((tool_call.title or 'a tool call').split())}?"
        async with self._asking:
            self._repeats = self._repeats + 1 if question == self._question else 1
            self._question = question
            if self._repeats > 1:
                # The answer to a dialog names what the screen shows, so two dialogs must not look the same.
                question = f"{question} (question {self._repeats})"
            self.screen.ends_message()
            self.screen.asks([question, "", *rows, "", "Esc to cancel"])
            self._choices = len(options)
            self._answer = asyncio.get_running_loop().create_future()
            try:
                place = await self._answer
            finally:
                self._answer = None
                self.screen.asks_no_more()
        if place is None:
            return RequestPermissionResponse(outcome=DeniedOutcome(outcome="cancelled"))
        outcome = AllowedOutcome(outcome="selected", option_id=options[place].option_id)
        return RequestPermissionResponse(outcome=outcome)

    async def ext_method(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """Refuse an extension: there is none."""
        from acp import RequestError

        raise RequestError.method_not_found(method)

    async def ext_notification(self, method: str, params: dict[str, Any]) -> None:
        """Ignore an extension: there is none."""

    async def converse(self) -> None:
        """Open a session, and send it each prompt, until the person leaves."""
        from acp import PROTOCOL_VERSION
        from acp.schema import ClientCapabilities, Implementation

        self.screen.title()
        await self._agent.initialize(
            protocol_version=PROTOCOL_VERSION,
            client_capabilities=ClientCapabilities(),
            client_info=Implementation(name="streamrelay", title="streamrelay", version=VERSION),
        )
        opened = await self._agent.new_session(cwd=str(Path.cwd()), mcp_servers=[])
        self._session = opened.session_id
        while not self._leaving:
            self._news.clear()
            if self._prompts:
                await self._send(self._prompts.popleft())
                continue
            if not self._waits:
                self._waits = True
                self.screen.waits(self._draft)
            await self._news.wait()

    async def _send(self, text: str) -> None:
        """Send a prompt and print the answer; raises ConnectionError if the agent ends meanwhile."""
        from acp import RequestError, text_block

        self._works, self._message_id = True, None
        self.screen.title()
        try:
            answer = await self._agent.prompt(session_id=self._session, prompt=[text_block(text)])
            if answer.stop_reason not in {"end_turn", "cancelled"}:
                self.screen.ends_message()
                self.screen.says(f"[the agent stopped: {answer.stop_reason}]")
        except RequestError as error:
            self.screen.ends_message()
            self.screen.says(f"[the agent failed: {error}]")
        self.screen.ends_message()
        self._works = False


async def run(command: Sequence[str]) -> int:
    """Run an agent until the person leaves, or it ends; return the exit status."""
    from acp import RequestError, connect_to_agent

    terminal = AgentTerminal(Path(command[0]).name)
    process = await asyncio.create_subprocess_exec(
        *command, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.DEVNULL,
        limit=STDIO_LIMIT,
    )  # fmt: skip
    connect_to_agent(terminal, process.stdin, process.stdout)  # type: ignore[arg-type]  # the capabilities it has
    asyncio.get_running_loop().add_reader(_STDIN, terminal.read)
    conversing, waiting = asyncio.ensure_future(terminal.converse()), asyncio.ensure_future(process.wait())
    try:
        await asyncio.wait({conversing, waiting}, return_when=asyncio.FIRST_COMPLETED)
        if conversing.done() and not isinstance(conversing.exception(), ConnectionError):
            conversing.result()
            return 0
        # An agent closes its pipe before it ends.
        has_ended = await ended(process, END_TIMEOUT)
        how = f"ended with status {process.returncode}" if has_ended else "closed its connection"
        terminal.screen.ends_message()
        terminal.screen.says(f"the agent {command[0]} {how}\n")
    except RequestError as error:
        terminal.screen.says(f"the agent {command[0]} opens no session: {error}\n")
    finally:
        asyncio.get_running_loop().remove_reader(_STDIN)
        for task in (conversing, waiting):
            task.cancel()
        await asyncio.gather(conversing, waiting, return_exceptions=True)
        send_signal(process, signal.SIGTERM)
        if not await ended(process, END_TIMEOUT):
            send_signal(process, signal.SIGKILL)
            await ended(process, END_TIMEOUT)
    return 1


def main(command: Sequence[str]) -> int:
    """Run the agent that the command line names."""
    try:
        with needs_extra("acp", "an agent that speaks the Agent Client Protocol"):
            import acp  # noqa: F401  # its absence is told before the terminal is changed
    except ExtraMissing as error:
        os.write(2, f"error: {error.message}\nhint: {error.hint}\n".encode())
        return error.exit_code
    with raw_terminal(begins=_PASTE_ON, ends=_PASTE_OFF):
        return asyncio.run(run(command))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
