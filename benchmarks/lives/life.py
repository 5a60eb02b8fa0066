"""One life: an agent in a pane of a private tmux server, recorded from its first byte while a script drives it.

What streamrelay sends goes through its own writer, and the recording has it; what a person or another tool types goes
to tmux, and only meta.json has it. The recording also has what the agent's own record said, as it was read.
"""

import asyncio
import contextlib
import json
import re
import shutil
import time
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any, Self

import streamrelay
from benchmarks.lives.agents import AGENTS, Agent, Wanted, version
from benchmarks.lives.painted import unpainted
from benchmarks.lives.texts import decide, is_side
from streamrelay.agents import shipped_profiles
from streamrelay.delivery.message import FINAL, Message, Progress
from streamrelay.delivery.writer import PaneWriter
from streamrelay.delta.inputs import Pasted, Submitted
from streamrelay.events import Event, PaneOpened
from streamrelay.panes.recorder import LiveRecording
from streamrelay.recordings import open_recording
from streamrelay.recordings.control_stream import META, STREAM
from streamrelay.testing.loopback_model import LoopbackModel, ModelAnswer
from streamrelay.testing.tmux import PrivateTmux

_PATIENCE = 60.0
"""Seconds for an agent to start, and for an answer beyond the time that its model takes."""
_HANDED = 25.0
"""Seconds for the writer to hand a message over before a person types it."""
_LOOK = 0.1
_TYPED_ENTER = 0.3
"""Seconds between a person's text and Enter."""
_START = (
    'until [ -e "$1" ]; do sleep 0.05; done; cd "$2"; shift 2; exec env -i TMUX="$TMUX" TMUX_PANE="$TMUX_PANE" "$@"'
)


class Life:
    """An agent under way; made by `begun`."""

    def __init__(
        self, name: str, scenario: str, size: tuple[int, int], model: LoopbackModel, tmux: PrivateTmux
    ) -> None:
        self.agent: Agent = AGENTS[name]
        self.name, self.scenario, self.size, self.model, self.tmux = name, scenario, size, model, tmux
        self.pane = ""
        self.notes: list[str] = []
        self._injected: list[dict[str, Any]] = []
        self._dialogs: list[dict[str, Any]] = []
        self._snapshots: list[dict[str, Any]] = []
        self._progress: dict[str, Progress] = {}
        self._sent = 0
        self._writer: PaneWriter | None = None
        self._tasks: list[asyncio.Task[None]] = []
        self._recording: LiveRecording | None = None
        self._server: streamrelay.Server | None = None
        self._opened_at: float | None = None
        """Unix time of the stream's beginning."""

    # What is seen

    async def screen(self) -> str:
        """Return what the pane shows."""
        return await self.command("capture-pane", "-p", "-t", self.pane)

    async def command(self, *words: str) -> str:
        """Run a tmux command in a thread: the recorder goes on meanwhile."""
        return await asyncio.to_thread(self.tmux.run, *words)

    async def until(self, met: Callable[[], bool], seconds: float, what: str) -> bool:
        """Wait; note it where it never comes."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if met():
                return True
            await asyncio.sleep(_LOOK)
        self.notes.append(f"never: {what}")
        return False

    async def shows(self, pattern: str, seconds: float = _PATIENCE) -> bool:
        """Wait until the screen shows something."""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if re.search(pattern, await self.screen()):
                return True
            await asyncio.sleep(_LOOK)
        self.notes.append(f"never: the screen shows {pattern}")
        return False

    async def quiet(self, seconds: float = 1.2, limit: float = 6.0) -> None:
        """Wait until the screen has been the same for some time."""
        last, since, end = await self.screen(), time.monotonic(), time.monotonic() + limit
        while time.monotonic() < end and time.monotonic() - since < seconds:
            await asyncio.sleep(_LOOK)
            if (now := await self.screen()) != last:
                last, since = now, time.monotonic()

    async def snapshot(self, label: str) -> None:
        """Keep what tmux itself says is on the screen."""
        state = await self.command("display-message", "-p", "-t", self.pane, "alt=#{alternate_on} hist=#{history_size}")
        self._snapshots.append({"t": time.time(), "label": label, "state": state, "screen": await self.screen()})

    # What is done

    async def ask(self, topic: str, label: str = "") -> None:
        """Send a message through the writer, and wait for its answer."""
        before = self.answered_so_far
        await self.send(f"Please tell me what you think of topic:{topic} in your own words.")
        await self.answered(before + 1)
        await self.snapshot(f"after {label or topic}")

    async def send(self, text: str) -> None:
        """Send a message through the writer; a person types it where the writer cannot."""
        for _ in range(2):
            writer = await self._writing()
            self._sent += 1
            key = f"life-{self._sent}"
            await writer.put(Message(key, text))
            await self.until(lambda: self._state(key) not in {"", "queued"}, _HANDED, f"{key} is handed over")  # noqa: B023
            if self._state(key) != "failed":
                break
            # Its program has started anew, and needs another writer.
            self._writer = None
        if self._state(key) in {"", "queued", "failed"}:
            self.notes.append(f"{key}: {self._progress.get(key)}")
            await writer.cancel(key)
            await self.type(text)

    def _state(self, message_id: str) -> str:
        progress = self._progress.get(message_id)
        return "" if progress is None else progress.state

    async def type(self, text: str, *, enter: bool = True) -> None:
        """Type as a person does."""
        await self.command("send-keys", "-t", self.pane, "-l", "--", text)
        entry: dict[str, Any] = {"t": time.time(), "mode": "typed", "text": text}
        self._injected.append(entry)
        if enter:
            await asyncio.sleep(_TYPED_ENTER)
            await self.command("send-keys", "-t", self.pane, "Enter")
            entry["t_enter"] = time.time()

    async def key(self, *keys: str, rest: float = 0.4) -> None:
        """Press keys, one after the other."""
        for key in keys:
            self._injected.append({"t": time.time(), "mode": "key", "keys": [key], "text": ""})
            await self.command("send-keys", "-t", self.pane, key)
            await asyncio.sleep(rest)

    async def resize(self, columns: int, lines: int) -> None:
        """Give the window another size."""
        self._injected.append({"t": time.time(), "mode": "resize", "cols": columns, "rows": lines, "text": ""})
        await self.command("resize-window", "-t", self.pane, "-x", str(columns), "-y", str(lines))
        await asyncio.sleep(0.5)

    async def dialog(
        self, kind: str | None, pattern: str, *keys: str, seconds: float = 20.0, stands: float = 1.5
    ) -> bool:
        """Wait for a dialog, let it stand, answer it; `kind` None is a panel that asks nothing."""
        if not await self.shows(pattern, seconds):
            return False
        shown = time.time()
        await asyncio.sleep(stands)
        await self.snapshot(f"dialog {kind}")
        answered = time.time()
        await self.key(*keys)
        self._dialogs.append({"kind": kind, "t_shown": shown, "t_answered": answered, "pattern": pattern})
        return True

    async def picker(self, command: str, kind: str | None = "picker") -> None:
        """Open a panel by a command, and close it again; `kind` None is one that asks nothing."""
        await self.quiet(0.8, 4.0)
        await self.type(command)
        await self.quiet(0.8, 4.0)
        shown = time.time()
        await asyncio.sleep(1.2)
        await self.snapshot(command)
        self._dialogs.append({"kind": kind, "t_shown": shown, "t_answered": time.time(), "label": command})
        escapes = self.agent.escapes + (command in self.agent.nested)
        await self.key(*["Escape"] * escapes, rest=0.7)
        await self.quiet()

    async def answered(self, count: int, seconds: float = _PATIENCE) -> None:
        """Wait until the model has given so many answers and the screen rests."""
        await self.until(lambda: self.answered_so_far >= count, seconds, f"{count} answers")
        await self.quiet()

    async def answering(self, count: int) -> None:
        """Wait until the model has begun so many answers."""
        await self.until(lambda: len(self.model.answers) >= count, _PATIENCE, f"{count} answers begin")

    async def pause(self, seconds: float) -> None:
        """Do nothing for some time."""
        await asyncio.sleep(seconds)

    @property
    def answered_so_far(self) -> int:
        """Return how many answers have ended that call no tool, or were broken off."""
        return sum(one.broken_off or (one.ended is not None and one.reply.call is None) for one in self.model.answers)

    # What records

    async def _writing(self) -> PaneWriter:
        assert self._server is not None
        if self._writer is None:
            pipeline = self._server.pipeline(self.pane)
            self._writer = PaneWriter(self._server, pipeline, program=pipeline.info.command, report=self._report)
            await self._writer.recover()
            self._tasks.append(asyncio.create_task(self._writer.run()))
        return self._writer

    def _report(self, progress: Progress) -> None:
        self._progress[progress.message_id] = progress

    async def _hear(self, recording: LiveRecording) -> None:
        async for event in recording.stream:
            self._take(event)

    def _take(self, event: Event) -> None:
        if isinstance(event, PaneOpened) and isinstance(event.at, float):
            self._opened_at = event.at - event.t

    @contextlib.asynccontextmanager
    async def recorded(self, folder: Path) -> AsyncIterator[Self]:
        """Record the pane into a folder, with its meta.json at the end."""
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        profiles = shipped_profiles()
        async with streamrelay.connect(socket_path=self.tmux.socket_path, profiles=profiles) as server:
            self._server = server
            async with server.record(self.pane, folder / STREAM) as recording:
                self._tasks.append(asyncio.create_task(self._hear(recording)))
                await self.until(lambda: self._opened_at is not None, 10.0, "the stream opens")
                try:
                    yield self
                finally:
                    left = [key for key, one in self._progress.items() if one.state not in FINAL]
                    self.notes += [f"{key} left {self._progress[key].state}" for key in left]
                    for task in self._tasks:
                        task.cancel()
                    await asyncio.gather(*self._tasks, return_exceptions=True)

    def told(self, programs: Path, words: list[str], folder: Path, *, late: bool) -> dict[str, Any]:
        """Return meta.json: the truth and what was done, in seconds of the recording."""
        began = self._opened_at or 0.0
        monotonic = time.time() - time.monotonic()
        answers = [_answer(one, monotonic - began) for one in self.model.answers]
        sent: dict[str, dict[str, Any]] = {}
        for entry in open_recording(folder / STREAM).entries():
            if isinstance(entry, Pasted):
                sent[entry.message_id] = {"t": entry.t, "t_paste": entry.t, "mode": "sent", "text": entry.text}
            elif isinstance(entry, Submitted) and entry.message_id in sent:
                sent[entry.message_id]["t_enter"] = entry.t
        timed = [_from(began, entry) for entry in self._injected]
        meta: dict[str, Any] = {
            "program": _program(self.name), "scenario": self.scenario, "version": version(self.name, programs),
            "cols": self.size[0], "rows": self.size[1], "argv": [Path(words[0]).name, *words[1:]],
            "tmux": self.tmux.run("-V").removeprefix("tmux "),
            "injected": sorted([*sent.values(), *timed], key=lambda one: one["t"]),
            "truth": answers,
            "dialogs": [_from(began, dialog) for dialog in self._dialogs],
            "snapshots": [_from(began, snapshot) for snapshot in self._snapshots],
            "notes": self.notes,
            "t_live": 0.0 if late else None,
        }  # fmt: skip
        missing = unpainted(open_recording(folder / STREAM), [one for one in answers if one["t1"] is not None])
        return {**meta, **({"unpainted": missing} if missing else {})}


def _program(name: str) -> str:
    """Return what the scorers call an agent: its renderer and version are in the folder's name."""
    return name if name == "codex_inline" else name.partition("_")[0].rstrip("0123456789")


def _answer(answer: ModelAnswer, offset: float) -> dict[str, Any]:
    ended = None if answer.broken_off or answer.ended is None else round(answer.ended + offset, 4)
    call = None if answer.reply.call is None else [*answer.reply.call]
    return {"text": answer.reply.text, "t0": round(answer.began + offset, 4), "t1": ended, "tool_call": call}


def _from(began: float, entry: dict[str, Any]) -> dict[str, Any]:
    return {name: round(value - began, 4) if name[:1] == "t" and name[1:2] in {"", "_"} else value
            for name, value in entry.items()}  # fmt: skip


@contextlib.asynccontextmanager
async def begun(
    name: str, scenario: str, programs: Path, folder: Path, *, size: tuple[int, int], wanted: Wanted,
    before: Callable[[Life], Any] | None, late: Callable[[Life], Any] | None,
) -> AsyncIterator[Life]:  # fmt: skip
    """Start an agent, record it into a folder, and write meta.json at the end.

    `before` has a whole session with it first, unrecorded; with `late`, it starts and does this before it is recorded.
    """
    agent = AGENTS[name]
    side = lambda asked: is_side(asked, without_tools=agent.without_tools)  # noqa: E731
    with PrivateTmux() as tmux, LoopbackModel(decide, side) as model:
        home = tmux.directory / "home"
        (home / "work").mkdir(parents=True)
        (home / "tmp").mkdir()
        if before is not None:
            earlier = Life(name, scenario, size, model, tmux)
            start = agent.set_up(programs, home, model.url, wanted._replace(resumes=False))
            _open_pane(earlier, start.words, start.variables, home, "earlier")
            (home / "earlier").touch()
            await earlier.shows(agent.ready)
            await asyncio.sleep(agent.boots)
            await before(earlier)
            tmux.kill()
            model.answers.clear()
        start = agent.set_up(programs, home, model.url, wanted)
        life = Life(name, scenario, size, model, tmux)
        _open_pane(life, start.words, start.variables, home, "go")
        attached_late = late is not None or agent.greets
        if attached_late:
            (home / "go").touch()
            await life.shows(agent.ready)
            await asyncio.sleep(agent.boots)
        if late is not None:
            await late(life)
        async with life.recorded(folder):
            if not attached_late:
                (home / "go").touch()
            yield life
            await life.quiet(2.0, 5.0)
            await life.snapshot("final")
        meta = life.told(programs, start.words, folder, late=attached_late)
        (folder / META).write_text(json.dumps(meta, indent=1, ensure_ascii=False))


def _open_pane(life: Life, words: list[str], variables: dict[str, str], home: Path, gate: str) -> None:
    environment = {
        "HOME": str(home), "PATH": "/usr/local/bin:/usr/bin:/bin", "TERM": "tmux-256color", "TERM_PROGRAM": "tmux",
        "COLORTERM": "truecolor", "LANG": "C.UTF-8", "SHELL": "/bin/bash", "USER": "me", "TMPDIR": str(home / "tmp"),
        **variables,
    }  # fmt: skip
    settings = [f"{key}={value}" for key, value in environment.items()]
    run = ["sh", "-c", _START, "sh", str(home / gate), str(home / "work"), *settings, *words]
    life.pane = life.tmux.new_session("life", run, columns=life.size[0], lines=life.size[1])
    life.tmux.run("set-option", "-g", "history-limit", "20000")
    life.tmux.run("set-option", "-g", "default-terminal", "tmux-256color")
    life.tmux.run("set-option", "-w", "-t", life.pane, "window-size", "manual")
