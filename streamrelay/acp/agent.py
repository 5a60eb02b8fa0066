"""The ACP agent that `streamrelay acp` serves: its sessions are panes.

`session/new` gives the session of the pane that was named on the command line, to every client the same one; with
`--start` it starts the agent in a session of its own. `session/load` replays what the journal holds of a session.
Refusals of streamrelay are errors of the protocol with their code and hint as data.
"""

import asyncio
import functools
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Concatenate, ParamSpec, TypeVar

import msgspec
from acp import PROTOCOL_VERSION, RequestError
from acp.interfaces import Client
from acp.schema import (
    AgentCapabilities,
    AuthenticateResponse,
    Implementation,
    InitializeResponse,
    ListSessionsResponse,
    LoadSessionResponse,
    NewSessionResponse,
    PromptCapabilities,
    PromptResponse,
    SessionCapabilities,
    SessionInfo,
    SessionListCapabilities,
)

from streamrelay.acp.conversation import LiveService, PaneConversation, Revive
from streamrelay.acp.prompts import Block, prompt_text
from streamrelay.errors import StreamrelayError, TargetNotFound, UsageError
from streamrelay.sessions.model import Session, StartSession

Arguments = ParamSpec("Arguments")
Answer = TypeVar("Answer")

MAX_IN_FLIGHT = 256
"""Requests of the client that have no answer yet. The SDK starts a task for each line, as fast as a client writes."""
_INTERNAL, _NOT_FOUND, _INVALID_PARAMS = -32603, -32002, -32602


def request_error(error: StreamrelayError) -> RequestError:
    """Return a refusal of streamrelay as an error of the protocol."""
    code = _INTERNAL
    if isinstance(error, TargetNotFound):
        code = _NOT_FOUND
    elif isinstance(error, UsageError):
        code = _INVALID_PARAMS
    data: Mapping[str, object] = {"code": error.code, "hint": error.hint, "data": msgspec.to_builtins(error.data)}
    return RequestError(code, error.message, dict(data))


def _refusing(
    method: Callable[Concatenate["TerminalAgent", Arguments], Awaitable[Answer]],
) -> Callable[Concatenate["TerminalAgent", Arguments], Awaitable[Answer]]:
    """Let a method answer refusals of streamrelay as errors of the protocol, and refuse what is too much at once."""

    @functools.wraps(method)
    async def answer(agent: "TerminalAgent", /, *arguments: Arguments.args, **named: Arguments.kwargs) -> Answer:
        if agent.in_flight >= MAX_IN_FLIGHT:
            words = f"{MAX_IN_FLIGHT} requests are in flight"
            raise request_error(UsageError(words, hint="wait for their answers, then send it again"))
        agent.in_flight += 1
        try:
            return await method(agent, *arguments, **named)
        except StreamrelayError as error:
            raise request_error(error) from error
        finally:
            agent.in_flight -= 1

    return answer


class TerminalAgent:
    """An ACP agent (`acp.Agent`) over a service: the pane `target`, or one session of `start` for each new session."""

    def __init__(
        self,
        service: LiveService,
        *,
        target: str = "",
        start: StartSession | None = None,
        revive: Revive,
        version: str,
        allow_shell: bool = False,
    ) -> None:
        self._service = service
        self._target = target
        self._start = start
        self._revive = revive
        self._version = version
        self._allow_shell = allow_shell
        self._client: Client
        self._conversations: dict[str, PaneConversation] = {}
        self._opening = asyncio.Lock()
        self.in_flight = 0
        """The number of requests without an answer."""

    def on_connect(self, client: Client) -> None:
        """Take the client at the other end."""
        self._client = client

    async def close(self) -> None:
        """Stop following all sessions; their programs go on."""
        for conversation in self._conversations.values():
            await conversation.close()

    async def initialize(self, protocol_version: int, **_: Any) -> InitializeResponse:
        """Say which version of the protocol is spoken, and what this agent can do."""
        return InitializeResponse(
            protocol_version=min(protocol_version, PROTOCOL_VERSION),
            agent_capabilities=AgentCapabilities(
                load_session=True,
                prompt_capabilities=PromptCapabilities(embedded_context=True),
                session_capabilities=SessionCapabilities(list=SessionListCapabilities()),
            ),
            agent_info=Implementation(name="streamrelay", title="streamrelay", version=self._version),
            auth_methods=[],
        )

    async def authenticate(self, method_id: str, **_: Any) -> AuthenticateResponse:
        """Accept: who can start this command may use the user's tmux server."""
        return AuthenticateResponse()

    @_refusing
    async def new_session(self, /, cwd: str, **_: Any) -> NewSessionResponse:
        """Return the session of the target; with `start`, start a session in the client's folder."""
        await self._revive()
        if self._start is None:
            session = await self._find(self._target)
        else:
            session = await self._service.start_session(msgspec.structs.replace(self._start, cwd=cwd))
        conversation = await self._converse(session)
        return NewSessionResponse(session_id=conversation.session_id)

    @_refusing
    async def load_session(self, /, cwd: str, session_id: str, **_: Any) -> LoadSessionResponse:
        """Replay what the journal holds of a session, and go on with it."""
        await self._revive()
        await self._converse(await self._find(session_id), replay=True)
        return LoadSessionResponse()

    @_refusing
    async def list_sessions(
        self, /, cwd: str | None = None, cursor: str | None = None, **_: Any
    ) -> ListSessionsResponse:
        """List the sessions that can be loaded: the target, or all that run a known agent."""
        await self._revive()
        sessions = [await self._find(self._target)] if self._start is None else await self._service.sessions()
        listed = [
            SessionInfo(session_id=session.session, cwd=cwd or "/", title=session.title)
            for session in sessions
            if self._start is None or session.agent
        ]
        return ListSessionsResponse(sessions=listed)

    @_refusing
    async def prompt(self, /, session_id: str, prompt: list[Block], **_: Any) -> PromptResponse:
        """Deliver a prompt to the pane; return when it is answered, with its stop reason."""
        reason = await self._conversation(session_id).prompt(prompt_text(prompt))
        return PromptResponse(stop_reason=reason)

    async def cancel(self, session_id: str, **_: Any) -> None:
        """Cancel a message that is not typed yet; otherwise press the program's interrupt key."""
        if (conversation := self._conversations.get(session_id)) is not None:
            await conversation.cancel()

    async def ext_method(self, method: str, params: dict[str, Any]) -> dict[str, Any]:
        """Refuse an extension: there is none."""
        raise RequestError.method_not_found(method)

    async def ext_notification(self, method: str, params: dict[str, Any]) -> None:
        """Ignore an extension: there is none."""

    async def _converse(self, session: Session, *, replay: bool = False) -> PaneConversation:
        """Begin a conversation in place of the one before; one at a time, or two would follow the same pane."""
        async with self._opening:
            before = self._conversations.get(session.session)
            if before is not None:
                await before.close()
            conversation = PaneConversation(
                self._service, self._client, session, revive=self._revive, allow_shell=self._allow_shell,
                messages=None if before is None else before.messages,
            )  # fmt: skip
            # Before it is open, so that a failure leaves no prompt behind that the next one would not take over.
            self._conversations[session.session] = conversation
            await conversation.open(replay=replay)
            return conversation

    def _conversation(self, session_id: str) -> PaneConversation:
        try:
            return self._conversations[session_id]
        except KeyError:
            raise TargetNotFound(
                f"this client has not opened the session {session_id!r}",
                hint="send session/new or session/load first",
                data={"session": session_id},
            ) from None

    async def _find(self, name: str) -> Session:
        """Return the session that a person, or an earlier answer of this agent, names."""
        sessions = await self._service.sessions()
        for known in (
            [one for one in sessions if name in {one.session, one.pane}],
            [one for one in sessions if name in {one.title, one.session_name}],
        ):
            if len(known) == 1:
                return known[0]
        raise TargetNotFound(f"no session is called {name!r}", hint="streamrelay ls lists them", data={"target": name})
