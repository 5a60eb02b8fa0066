"""A terminal agent in a tmux pane as a member: read by its stream, and sent messages with receipts.

The agent keeps the conversation itself, so it is given only what is new since its last answer. Its answer is read off
its screen, and is over when its turn is (docs/delivery.md): it comes line by line from a program that prints, and as a
whole from one that paints its transcript.
"""

import asyncio
from abc import abstractmethod
from collections.abc import AsyncIterator, Sequence

from streamrelay.council.clients.contract import AIClient, ChatMessage
from streamrelay.delivery.lock import only_writer
from streamrelay.delivery.sending import send
from streamrelay.errors import PaneTaken, StreamrelayError
from streamrelay.events import Event, Injected, Text
from streamrelay.panes.inventory import PaneInfo
from streamrelay.panes.publisher import Publish
from streamrelay.panes.server import Server
from streamrelay.panes.shells import is_shell

TAKEN_TIMEOUT = 5.0
"""Seconds to wait for another process that types into the pane; a daemon with a link never ends."""
_TRY_AGAIN = 0.1
ANSWER_TIMEOUT = 900.0
"""Seconds that an agent may take for an answer, tool calls included."""


class AgentClient(AIClient):
    """A member that is a terminal agent; a subclass delivers to its pane."""

    def __init__(self) -> None:
        self._told_prompt = ""

    @abstractmethod
    async def _deliver(self, text: str, publish: Publish) -> None:
        """Type a text into the agent, publish the events of its pane, and return when the agent has answered."""

    async def stream_response(self, messages: Sequence[ChatMessage], system_prompt: str) -> AsyncIterator[str]:
        """See `AIClient`; raises what `delivery.sending.send` raises, too."""
        lines: asyncio.Queue[str] = asyncio.Queue()
        turn: int | None = None

        def publish(event: Event) -> None:
            nonlocal turn
            if isinstance(event, Injected) and event.state == "entering":
                turn = event.turn
            elif isinstance(event, Text) and event.origin == "program" and turn is not None and event.turn == turn:
                lines.put_nowait(event.text)

        delivering = asyncio.create_task(self._deliver(self._new(messages, system_prompt), publish))
        reading = asyncio.create_task(lines.get())
        said = 0
        try:
            while not delivering.done() or not lines.empty() or reading.done():
                await asyncio.wait({delivering, reading}, return_when=asyncio.FIRST_COMPLETED)
                if reading.done():
                    yield reading.result() if not said else f"\n{reading.result()}"
                    said += 1
                    reading = asyncio.create_task(lines.get())
                    await asyncio.sleep(0)
            await delivering
            self._told_prompt = system_prompt
        finally:
            reading.cancel()
            delivering.cancel()
            await asyncio.gather(reading, delivering, return_exceptions=True)

    def _new(self, messages: Sequence[ChatMessage], system_prompt: str) -> str:
        """Return the messages that the agent has not received yet, after its prompt if that is new."""
        answered = max((at for at, message in enumerate(messages) if message.role == "assistant"), default=-1)
        news = [message.text for message in messages[answered + 1 :]]
        if system_prompt != self._told_prompt:
            news.insert(0, system_prompt)
        return "\n\n".join(news)


class PaneClient(AgentClient):
    """A member that is a session, window or pane of tmux, typed to by this process."""

    def __init__(
        self,
        server: Server,
        target: str,
        *,
        timeout: float = ANSWER_TIMEOUT,
        taken_timeout: float = TAKEN_TIMEOUT,
    ) -> None:
        super().__init__()
        self._server, self._target, self._timeout = server, target, timeout
        self._taken_timeout = taken_timeout

    async def _deliver(self, text: str, publish: Publish) -> None:
        info = await self._server.find(self._target)
        await self._until_free(info)
        await send(self._server, info, text, publish=publish, wait=True, timeout=self._timeout)

    async def health_check(self) -> bool:
        """Tell whether the pane exists and runs an agent, not a shell; raises PaneTaken."""
        try:
            info = await self._server.find(self._target)
        except StreamrelayError:
            return False
        await self._until_free(info)
        return not is_shell(info.command)

    async def _until_free(self, info: PaneInfo) -> None:
        """Wait until no other process types into the pane; raises PaneTaken if one continues."""
        until = asyncio.get_running_loop().time() + self._taken_timeout
        while True:
            try:
                with only_writer(self._server.info, info.pane, "send"):
                    return
            except PaneTaken:
                if asyncio.get_running_loop().time() >= until:
                    raise
            await asyncio.sleep(_TRY_AGAIN)
