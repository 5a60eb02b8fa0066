"""Collecting a pulse: all sources at once; a source that misses the deadline is left out and named.

What depends on other things waits for them, but not for ever: repositories and pipelines need to know where sessions
work, and which words history is searched for depends on both. History begins when half of the time is over at the
latest, with the words there are then. A source that fails or raises is missing, and never spoils the rest.
"""

import asyncio
import contextlib
import logging
import time
from collections.abc import Awaitable, Callable, Collection, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from streamrelay.errors import StreamrelayError
from streamrelay.history.results import FoundText, History, SearchHistory
from streamrelay.pulse import keywords, summary
from streamrelay.pulse.model import (
    ALL_PARTS,
    HistorySignals,
    MissingSignal,
    Part,
    PipelineNow,
    Repository,
    SessionNow,
    SystemState,
)
from streamrelay.pulse.pulse import Pulse
from streamrelay.pulse.repositories import repository_at, top_of
from streamrelay.pulse.subprocesses import MAX_OUTPUT_BYTES, run
from streamrelay.pulse.system import system_state
from streamrelay.threads import in_thread

SECONDS = 5.0
REPOSITORY = "{repository}"
"""In a pipeline's command: the top folder of each repository, in which it is run then."""
MAX_FOLDERS = 16
MAX_RESULTS = 60
_WORDS_AT, _SEARCH_SHARE, _MODEL_SHARE = 0.5, 0.8, 0.4
"""When the words for history are picked, and how much of what is left then the search may take, without and with a
model behind it."""
_MATERIAL = 24_000
"""Characters that a model is given."""
_MARGIN = 0.3
"""Seconds in which a model's command that was too slow is ended."""
_DAY = 86_400.0
_log = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class Sources:
    """The sources from which a pulse is taken."""

    sessions: Callable[[], Awaitable[Sequence[SessionNow]]] | None = None
    search: Callable[[SearchHistory], Awaitable[History]] | None = None
    pipelines: Mapping[str, Sequence[str]] = field(default_factory=dict)
    """Commands by name, as argument lists."""
    summary: Sequence[str] = ()
    """A command that reads the search results and prints a summary; empty to extract sentences."""
    history_days: float = 0.0
    """How far back history is searched; 0 for everything."""


async def take_pulse(
    sources: Sources,
    *,
    scope: Sequence[str] = (),
    parts: Collection[Part] = ALL_PARTS,
    seconds: float = SECONDS,
) -> Pulse:
    """Gather a pulse within that time; `scope` are the rhythm's words for history."""
    taking = _Taking(sources, tuple(scope), parts, asyncio.get_running_loop().time(), seconds)
    return await taking.take()


class _Taking:
    """One pulse while it is taken: what has come in so far."""

    def __init__(
        self, sources: Sources, scope: tuple[str, ...], parts: Collection[Part], began: float, seconds: float
    ) -> None:
        self._sources = sources
        self._scope = scope
        self._parts = parts
        self._began = began
        self._seconds = seconds
        self._located = asyncio.Event()
        """It is known where sessions work, or that it is not."""
        self._cloned = asyncio.Event()
        """The same of repositories."""
        self._system: SystemState | None = None
        self._sessions: Sequence[SessionNow] = ()
        self._tops: dict[str, Repository | None] = {}
        self._pipelines: dict[tuple[str, str], PipelineNow | None] = {}
        self._words: tuple[str, ...] = ()
        self._history: HistorySignals | None = None
        self._missing: list[MissingSignal] = []

    async def take(self) -> Pulse:
        work: dict[Part, Coroutine[Any, Any, None]] = {
            "system": self._take_system(),
            "sessions": self._take_sessions(),
            "repositories": self._take_repositories(),
            "pipelines": self._take_pipelines(),
            "history": self._take_history(),
        }
        needed: set[Part] = set(self._parts)
        if not needed.isdisjoint(("pipelines", "history")):
            needed.add("repositories")
        if "repositories" in needed:
            needed.add("sessions")
        tasks = {asyncio.ensure_future(self._guarded(part, work.pop(part))): part for part in sorted(needed)}
        for left in work.values():
            left.close()
        try:
            late = (await asyncio.wait(tasks, timeout=self._left()))[1] if tasks else ()
            for task in late:
                task.cancel()
            for part in (tasks[task] for task in late):
                self._is_late(part)
        finally:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
        wanted = set(self._parts)
        return Pulse(
            at=time.time(),
            system=self._system,
            sessions=tuple(self._sessions) if "sessions" in wanted else (),
            repositories=tuple(filter(None, self._tops.values())) if "repositories" in wanted else (),
            pipelines=tuple(filter(None, self._pipelines.values())),
            history=self._history,
            keywords=self._words,
            missing=tuple(missing for missing in self._missing if missing.part in wanted),
        )

    async def _guarded(self, part: Part, work: Coroutine[Any, Any, None]) -> None:
        try:
            await work
        except StreamrelayError as error:
            self._lacks(part, error.message)
        except OSError as error:
            self._lacks(part, error.strerror or "cannot be read")
        except Exception as error:  # noqa: BLE001  # a gathering begins whatever is wrong with one of its signals
            _log.error("the pulse's %s failed: %s", part, type(error).__name__)
            _log.debug("the pulse's %s failed", part, exc_info=error)
            self._lacks(part, "failed")
        finally:
            {"sessions": self._located, "repositories": self._cloned}.get(part, asyncio.Event()).set()

    async def _take_system(self) -> None:
        self._system = await in_thread(system_state, name="pulse")

    async def _take_sessions(self) -> None:
        if self._sources.sessions is not None:
            self._sessions = await self._sources.sessions()

    async def _take_repositories(self) -> None:
        await self._located.wait()
        folders = list(dict.fromkeys(one.folder for one in self._sessions if one.folder))
        if len(folders) > MAX_FOLDERS:
            self._lacks("repositories", f"{len(folders) - MAX_FOLDERS} of {len(folders)} folders not looked at")

        async def look(folder: str) -> None:
            self._tops[folder] = None
            top = await top_of(folder)
            del self._tops[folder]
            if top and top not in self._tops:
                self._tops[top] = None
                self._tops[top] = await repository_at(top)

        try:
            await _together([look(folder) for folder in folders[:MAX_FOLDERS]])
        except FileNotFoundError:
            self._lacks("repositories", "there is no git")

    async def _take_pipelines(self) -> None:
        if any(REPOSITORY in word for command in self._sources.pipelines.values() for word in command):
            await self._cloned.wait()
        tops = [one for one in self._tops.values() if one is not None]
        asked: list[Coroutine[Any, Any, None]] = []
        for name, command in self._sources.pipelines.items():
            if any(REPOSITORY in word for word in command):
                asked += [self._ask(name, command, top) for top in tops]
            else:
                asked.append(self._ask(name, command, None))
        await _together(asked)

    async def _ask(self, name: str, command: Sequence[str], of: Repository | None) -> None:
        key = name, "" if of is None else of.folder
        self._pipelines[key] = None
        words = command if of is None else [word.replace(REPOSITORY, of.folder) for word in command]
        try:
            ran = await run(words, folder=None if of is None else of.folder)
        except OSError as error:
            del self._pipelines[key]
            self._lacks("pipelines", f"{name} cannot be run: {error.strerror}")
            return
        if ran.cut:
            self._lacks("pipelines", f"{name} printed more than {MAX_OUTPUT_BYTES} bytes and was ended")
        repository = "" if of is None else of.name
        self._pipelines[key] = PipelineNow(name=name, repository=repository, status=ran.status, output=ran.output)

    async def _take_history(self) -> None:
        search = self._sources.search
        if search is None:
            return
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(self._left() * _WORDS_AT):
                await self._cloned.wait()
        repositories = [one for one in self._tops.values() if one is not None]
        self._words = keywords.pick(self._scope, repositories, self._sessions)
        if not self._words:
            return
        share = _MODEL_SHARE if self._sources.summary else _SEARCH_SHARE
        since = time.time() - self._sources.history_days * _DAY if self._sources.history_days else 0.0
        history = await search(
            SearchHistory(
                words=" ".join('"' + word.replace('"', " ") + '"' for word in self._words),
                any_word=True,
                since=since,
                limit=MAX_RESULTS,
                seconds=self._left() * share,
            )
        )
        for unread in history.left_out:
            self._lacks("history", unread)
        found = [one for one in history.found if not summary.is_own(one)]
        self._history = HistorySignals(found=len(found), summary=summary.extract(found, self._words))
        if self._sources.summary and found:
            await self._summarise(found)

    async def _summarise(self, found: Sequence[FoundText]) -> None:
        """Let a model summarise the results; until then the extracted sentences are the summary."""
        said = summary.material(found, self._words, _MATERIAL).encode()
        try:
            async with asyncio.timeout(max(0.0, self._left() - _MARGIN)):
                ran = await run(self._sources.summary, given=said)
        except TimeoutError:
            self._lacks("history", f"no summary of the model's after {self._seconds:g} s")
            return
        except OSError as error:
            self._lacks("history", f"the model's command cannot be run: {error.strerror}")
            return
        if ran.status or ran.cut or not ran.output.strip():
            self._lacks("history", f"the model's command gave no summary (status {ran.status})")
            return
        self._history = HistorySignals(found=len(found), summary=ran.output, by="model")

    def _is_late(self, part: Part) -> None:
        if part == "history" and self._history is not None:
            return
        unfinished = {
            "repositories": [name for name, found in self._tops.items() if found is None],
            "pipelines": [name for (name, _), found in self._pipelines.items() if found is None],
        }.get(part, [])
        which = f"{', '.join(dict.fromkeys(unfinished))} " if unfinished else ""
        self._lacks(part, f"{which}not there after {self._seconds:g} s")

    def _lacks(self, part: Part, why: str) -> None:
        self._missing.append(MissingSignal(part=part, why=why))

    def _left(self) -> float:
        return max(0.0, self._began + self._seconds - asyncio.get_running_loop().time())


async def _together(work: Sequence[Coroutine[Any, Any, None]]) -> None:
    """Do all of it at once; one that fails does not end the others, but is raised when they have ended."""
    for done in await asyncio.gather(*work, return_exceptions=True):
        if isinstance(done, BaseException):
            raise done
