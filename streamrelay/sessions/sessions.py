"""The sessions of one tmux server: started by profile, found, listed, ended."""

import asyncio
import contextlib
import dataclasses
import os
import secrets
import shlex
import signal
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from pathlib import Path

import regex

from streamrelay.delivery.machine import PICTURE_REST
from streamrelay.errors import CommandFailed, ConnectionLost, PaneGone, StartFailed, TargetNotFound, UsageError
from streamrelay.events import NeedKind
from streamrelay.panes.inventory import PaneInfo, suggested
from streamrelay.panes.server import Server
from streamrelay.panes.shells import is_shell
from streamrelay.relay.session import checked_name
from streamrelay.sessions.advice import advice, attach_command
from streamrelay.sessions.commands import (
    BEFORE_PROGRAM,
    FORGET_FOLDER,
    LIST_MARKS,
    LOOK_FOR_ENDED,
    SessionLaunch,
    SessionMark,
    end_command,
    foreground_command,
    parse_marks,
    release_command,
    session_name,
    start_commands,
    tail_command,
)
from streamrelay.sessions.model import Session, SessionState, StartSession
from streamrelay.sessions.programs import find_program, own_search_path, program_not_found
from streamrelay.sessions.readiness import RESTED, is_ready
from streamrelay.sessions.start_failure import Foreground, read_foreground, start_failure

MIN_COLUMNS, MIN_LINES = 40, 10
"""Programs paint rubbish in less (AGT-04); tmux itself would take a single cell."""
COLUMNS, LINES = 120, 40
ARRIVAL = 2.0
"""Seconds in which the program comes to the foreground; one that is a script for `sh` never seems to."""
PATIENCE = 60.0
_LOOK_AGAIN = 0.02
_NOT_FOUND = "127"
"""The exit status of `sh` for a program that is not there."""
ACP_PREFIX, ACP_PROFILE = "acp:", "acp"
"""How a start names the command of an agent that speaks ACP, and the profile of the terminal that it gets."""
ACP_HOST = (sys.executable, "-m", "streamrelay.acp.host")
"""The program that gives such an agent a terminal; a command, because packages above this one are not imported here."""
_VARIABLE = regex.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_ATTEMPTS = 5
_EXACT = regex.compile(r"[%@$][0-9]+|[^%@$=:.][^:.]*(:[0-9]*(\.[0-9]*)?)?")
"""An id, a name, or a place such as work:1.0; tmux takes any other target for a pattern, too."""
Own = Callable[[str], Mapping[str, str]]


class Sessions:
    """The sessions of a connected server. Knows nothing but what tmux holds, so it needs no closing.

    `own` says which variables a session that is started here is to have for itself, by its id.
    """

    def __init__(self, server: Server, *, own: Own | None = None) -> None:
        self._server = server
        self._own = own

    async def all(self) -> list[Session]:
        """List the sessions: those started here, and every other pane, in tmux's order."""
        infos = await self._server.panes()
        marks = parse_marks(await self._server.query(LIST_MARKS))
        names = [info.session_name for info in infos]
        return [self._session(info, marks.get(info.pane), alone=names.count(info.session_name) == 1) for info in infos]

    async def find(self, text: str) -> Session:
        """Return a session by its id, its title if only one session has it, or its pane (its id or tmux target).

        Names match exactly, never by prefix as in tmux: a message to a session that has gone must not reach another
        one. Raises TargetNotFound, and UsageError for a title that several sessions have.
        """
        sessions = await self.all()
        for known in (
            [one for one in sessions if text in {one.session, one.pane}],
            [one for one in sessions if one.title == text],
        ):
            if len(known) > 1:
                panes = ", ".join(one.pane for one in known)
                raise UsageError(f"several sessions have the title {text!r}: {panes}", hint="name it by its id")
            if known:
                return known[0]
        missing = TargetNotFound(
            f"no session or pane is called {text!r}",
            hint=suggested(text, [name for one in sessions for name in (one.title, one.session_name)]),
            data={"target": text},
        )
        if text and not _EXACT.fullmatch(text):
            raise missing
        is_name = bool(text) and text[0] not in "%@$"
        try:
            # A name after `=` is exact in tmux.
            pane = (await self._server.find(f"={text}" if is_name else text)).pane
        except TargetNotFound as error:
            raise missing from error
        for one in sessions:
            if one.pane == pane:
                return one
        raise missing

    async def start(self, request: StartSession, *, is_awaited: bool = False) -> Session:
        """Start a session; return when its program is in the foreground, or after a limit.

        The caller sends the request's prompt and makes its links. `is_awaited` says that the caller goes on to wait
        with `until_ready` within `failing_start`: until then the pane of a program that ends stays, to be read. Raises
        UsageError for an invalid request, and StartFailed for a program that is not found or ends at once; the error
        has its last output.
        """
        birth = dataclasses.replace(await self._birth(request), is_released=not is_awaited)
        pane = await self._bear(birth)
        await self._arrive(pane, birth)
        return await self.find(birth.mark.session)

    @contextlib.asynccontextmanager
    async def failing_start(self, session: Session) -> AsyncIterator[None]:
        """Raise StartFailed, with the last words of the program, where it ends before this context does."""
        try:
            yield
        except (PaneGone, TargetNotFound) as error:
            ended = await self._foreground(session.pane)
            if ended is not None and not ended.has_ended:
                raise
            raise await self._start_failure(session.pane, session.session, _name(session), ended) from error

    async def end(self, session: str) -> None:
        """End a session with its program; raises UsageError for one that was not started here, TargetNotFound."""
        found = await self.find(session)
        if not found.started_here:
            raise UsageError(
                f"{found.title} (pane {found.pane}) was not started by streamrelay",
                hint=f"end it as you began it, or with: tmux kill-pane -t {found.pane}",
            )
        await self._server.query(end_command(found.pane, found.session))

    # Being started

    async def _birth(self, request: StartSession) -> SessionLaunch:
        """Make sense of a request."""
        speaks_acp = request.agent.startswith(ACP_PREFIX)
        profile = self._server.profile(ACP_PROFILE if speaks_acp else request.agent)
        start = profile.start if profile is not None else None
        command = start.command if start is not None else [request.agent]
        if speaks_acp:
            command = _acp_command(request.agent, is_here=self._server.is_here)
        words: list[str] = [*command, *request.arguments]
        program = words[0]
        if not program or any("\0" in word for word in words):
            raise UsageError("there is no program to start", hint="name a profile (streamrelay profiles) or a command")
        columns = request.columns or (start.columns if start is not None else 0) or COLUMNS
        lines = request.lines or (start.lines if start is not None else 0) or LINES
        if columns < MIN_COLUMNS or lines < MIN_LINES:
            raise UsageError(f"{columns}x{lines} is too small", hint=f"at least {MIN_COLUMNS}x{MIN_LINES}")
        for name, value in request.environment.items():
            if not _VARIABLE.fullmatch(name) or "\0" in value:
                raise UsageError(
                    f"{name!r} is no name of an environment variable with its value", hint="write it as NAME=VALUE"
                )
        taken = await self.all()
        titles = {one.title for one in taken}
        title = request.title or session_name(Path(program).name, titles)
        name = session_name(title, {one.session_name for one in taken})
        mark = SessionMark(
            f"s-{secrets.token_hex(6)}", profile.name if profile is not None else "", checked_name(title)
        )
        cwd = await self._folder(request)
        environment = dict(request.environment)
        if self._server.is_here:
            search_path = environment.setdefault("PATH", request.search_path or own_search_path())
            words[0] = find_program(program, search_path=search_path, cwd=cwd)
        if speaks_acp:
            words = [*ACP_HOST, *words]
        own = {} if self._own is None else self._own(mark.session)
        return SessionLaunch(name, mark, words, cwd, columns, lines, environment, own)

    async def folder(self, session: Session) -> str:
        """Return where a session's program works."""
        query = ("display-message", "-p", "-t", session.pane, "#{pane_current_path}")
        return "".join(await self._server.query(query))

    async def _folder(self, request: StartSession) -> str:
        folder = request.cwd
        if not folder and request.caller:
            folder = await self.folder(await self.find(request.caller))
        return _checked_folder(folder or "~")

    async def _bear(self, birth: SessionLaunch) -> str:
        """Have tmux start the session; return its pane. Try another name if the first one is taken meanwhile."""
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                printed = await self._server.query(*start_commands(birth), repeatable=False)
            except ConnectionLost:
                marks = parse_marks(await self._server.query(LIST_MARKS))
                started = next((pane for pane, mark in marks.items() if mark.session == birth.mark.session), None)
                if started is not None:
                    return started
                if attempt == _ATTEMPTS:
                    raise
            except CommandFailed as error:
                if "duplicate session" not in error.message or attempt == _ATTEMPTS:
                    raise
                named = f"{birth.name}-{secrets.token_hex(2)}"
                birth = dataclasses.replace(birth, name=named)
            else:
                return next(line for line in printed if line.startswith("%"))
            finally:
                await self._server.query(FORGET_FOLDER)
        raise AssertionError("unreachable")

    async def _arrive(self, pane: str, birth: SessionLaunch) -> None:
        """Wait until the program is in the foreground."""
        loop = asyncio.get_running_loop()
        until = loop.time() + ARRIVAL
        program = birth.words[0]
        resembles_runner = is_shell(program) or Path(program).name in BEFORE_PROGRAM
        while True:
            now = await self._foreground(pane)
            if now is None or now.has_ended:
                raise await self._start_failure(pane, birth.mark.session, Path(program).name, now)
            if (now.command and now.command not in BEFORE_PROGRAM) or resembles_runner or loop.time() >= until:
                return
            await asyncio.sleep(_LOOK_AGAIN)

    async def _foreground(self, pane: str) -> Foreground | None:
        """Ask how the program of a pane is; None where the pane is gone."""

        async def ask() -> Foreground | None:
            with contextlib.suppress(TargetNotFound):
                return read_foreground("".join(await self._server.query(foreground_command(pane))), pane)
            return None

        now = await ask()
        if now is not None and now.has_ended and not now.says_how:
            await self._server.query(LOOK_FOR_ENDED)
            now = await ask()
        return now

    async def _start_failure(self, pane: str, session: str, program: str, ended: Foreground | None) -> StartFailed:
        """Return the error for a program that ended, with its last words, and end what is left of its session."""
        rows = list[str]()
        if ended is not None:
            with contextlib.suppress(TargetNotFound):
                rows = await self._server.query(tail_command(pane))
                await self._server.query(end_command(pane, session))
            if ended.status == _NOT_FOUND and not self._server.is_here:
                [variable] = await self._server.query(("show-environment", "-g", "PATH")) or [""]
                return program_not_found(program, variable.partition("=")[2], where=" of the tmux server there")
            ended = dataclasses.replace(ended, signal=_signal_name(ended.signal))
        return start_failure(program, ended, rows)

    # Being ready

    async def until_ready(self, session: Session, patience: float = PATIENCE) -> Session:
        """Wait until a session that is watched takes what it is given, or a person is needed there; return it then.

        A program of which nothing is known is ready once it has rested. Returns also when `patience` (seconds) is up.
        From then on the pane goes with its program. Raises StartFailed, with its last words, where the program ends
        before.
        """
        loop = asyncio.get_running_loop()
        began = loop.time()
        async with self.failing_start(session):
            pipeline = self._server.pipeline(session.pane)
            profile = self._server.profile(session.agent)
            while (now := loop.time()) < began + patience:
                if pipeline.closed:
                    raise PaneGone(f"{session.program} in pane {session.pane} has ended", data={"pane": session.pane})
                pipeline.look()
                rested = now - max(began, pipeline.last_output or 0.0)
                if is_ready(pipeline.pane_state, profile, rested=rested):
                    break
                look_again = PICTURE_REST if rested < PICTURE_REST else RESTED
                with contextlib.suppress(TimeoutError):
                    async with asyncio.timeout(min(look_again, began + patience - now)):
                        await pipeline.changed()
            if session.started_here:
                await self._server.query(release_command(session.pane))
                foreground = await self._foreground(session.pane)
                if foreground is None or foreground.has_ended:
                    raise PaneGone(f"{session.program} in pane {session.pane} has ended", data={"pane": session.pane})
            return await self.find(session.session)

    # As it stands

    def _session(self, info: PaneInfo, mark: SessionMark | None, *, alone: bool) -> Session:
        watched = not info.dead and self._server.is_watched(info.pane)
        pipeline = self._server.pipeline(info.pane) if watched else None
        state: SessionState = "ended" if info.dead else "unknown"
        agent, action, question = (mark.agent if mark is not None else ""), "", ""
        needed: NeedKind | None = None
        # A session opens at its active pane.
        target = info.session_name if info.active else info.address
        attach = attach_command(target, socket_path=self._server.info.socket_path, host=self._server.info.host)
        if pipeline is not None:
            agent = agent or ("" if self._server.profile(pipeline.profile) is None else pipeline.profile)
            needed = pipeline.needs_human
            state = "needs_human" if needed is not None else ("busy" if pipeline.answers else "idle")
            if needed is not None:
                question = pipeline.asked
                action = advice(needed, question, attach)
        return Session(
            session=mark.session if mark is not None else info.pane,
            pane=info.pane,
            title=mark.title if mark is not None else (info.session_name if alone else info.address),
            session_name=info.session_name,
            program=info.command,
            agent=agent or self._server.recognised(info.command),
            state=state,
            need=needed or "",
            question=question,
            advice=action,
            attach=attach,
            started_here=mark is not None,
        )


def _acp_command(agent: str, *, is_here: bool) -> list[str]:
    """Return the words of the command that `acp:COMMAND` names; raises UsageError where it cannot be started."""
    if not is_here:
        raise UsageError("an ACP agent is started on the machine of its tmux server", hint="start it there")
    try:
        words = shlex.split(agent.removeprefix(ACP_PREFIX))
    except ValueError as error:
        raise UsageError(
            f"invalid command of an ACP agent: {error}", hint="streamrelay start 'acp:gemini --acp'"
        ) from error
    return words or [""]


def _signal_name(number: str) -> str:
    with contextlib.suppress(ValueError):
        return signal.Signals(int(number)).name
    return number


def _name(session: Session) -> str:
    """Return what a session's program is called in an error: before it is itself, it is the shell that runs it."""
    return session.agent or (session.title if session.program in BEFORE_PROGRAM else session.program)


def _checked_folder(folder: str) -> str:
    """Return a folder that is there; tmux would quietly take another one."""
    path = Path(folder).expanduser()
    if "\0" in folder or not path.is_absolute() or not path.is_dir() or not os.access(path, os.X_OK):
        raise UsageError(f"{folder!r} is no folder to start in", hint="name an absolute path of one that is there")
    return str(path)
