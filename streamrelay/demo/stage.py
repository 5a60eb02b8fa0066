"""The demonstration: start the programs, let them converse, and compare the stream with what they wrote."""

import asyncio
import contextlib
import shutil
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

import streamrelay
from streamrelay.demo.circle import Ring
from streamrelay.demo.duet import Duet, Show
from streamrelay.demo.polling import PRINTED_AT, polling, printed_at
from streamrelay.demo.programs import LOG_LINES, build_lines
from streamrelay.errors import StreamrelayError
from streamrelay.events import Event, Gap, RelayOpened, Text
from streamrelay.relay.session import RelaySession
from streamrelay.testing.participant import ParticipantRecord, begin, read_log
from streamrelay.testing.tmux import PrivateTmux
from streamrelay.testing.waiting import wait_until_async

ROUNDS = 6
PAINT_DELAY = 0.2
QUOTE_EVERY = 2
TIME_LIMIT = 25.0
HEARING_LIMIT = 3.0


@dataclass(slots=True)
class Outcome:
    """The measurements and the failures of the demonstration."""

    lines_out: int = 0
    echoes_suppressed: int = 0
    quotes_kept: int = 0
    stream_latencies: list[float] = field(default_factory=list)
    polling_latencies: list[float] = field(default_factory=list)
    relay_latencies: list[float] = field(default_factory=list)
    proved_deliveries: int = 0
    """Deliveries of the link, each with all its receipts."""
    contributions: int = 0
    """What was said in the gathering, and heard by all others."""
    failures: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class _Stage:
    tmux: PrivateTmux
    shell: str
    log: str
    ann: str
    bob: str
    duet: Duet
    folder: Path

    @classmethod
    def set(cls, tmux: PrivateTmux, folder: Path, show: Show) -> "_Stage":
        python = [sys.executable, "-m"]
        bash = shutil.which("bash")
        shell = [bash, "--noprofile", "--norc", "-i"] if bash else ["sh", "-i"]

        def participant(name: str, *options: str) -> list[str]:
            return [
                *python, "streamrelay.testing.participant", "--name", name, "--rounds", str(ROUNDS), "--stay",
                "--log", str(folder / name), *options,
            ]  # fmt: skip

        slow = ("--input", "raw", "--paint-delay", str(PAINT_DELAY))
        return cls(
            tmux,
            tmux.new_session("shell", shell, environment={"PS1": "$ ", "HISTFILE": "/dev/null"}),
            tmux.new_session("log", [*python, "streamrelay.demo.programs", "log"]),
            tmux.new_session("Ann", participant("Ann", *slow)),
            tmux.new_session("Bob", participant("Bob", "--quote-every", str(QUOTE_EVERY))),
            Duet(tmux, folder, show),
            folder,
        )

    def log_of(self, name: str) -> list[ParticipantRecord]:
        return read_log(self.folder / name)


async def perform(show: Show, *, binary: str | None = None) -> Outcome:
    """Run the whole demonstration; every server and file it makes is its own, and gone afterwards."""
    outcome = Outcome()
    with ExitStack() as cleanup:
        folder = Path(cleanup.enter_context(tempfile.TemporaryDirectory(prefix="streamrelay-demo-")))
        tmux = cleanup.enter_context(PrivateTmux(binary) if binary else PrivateTmux())
        stage = _Stage.set(tmux, folder, show)
        outcome.polling_latencies = cleanup.enter_context(polling(tmux.libtmux(), stage.log))
        said: dict[str, list[str]] = {pane: [] for pane in (stage.shell, stage.log, stage.ann, stage.bob)}
        try:
            async with asyncio.timeout(TIME_LIMIT):
                await _converse(stage, outcome, said, show)
        except TimeoutError:
            outcome.failures.append(f"not finished after {TIME_LIMIT:g} s")
        _judge(stage, outcome, said)
        outcome.failures += stage.duet.judge()
        outcome.proved_deliveries = stage.duet.deliveries
        ring = Ring(tmux, folder, show)
        try:
            await ring.run()
        except (TimeoutError, StreamrelayError) as error:
            outcome.failures.append(f"the gathering: {error}")
        outcome.failures += ring.judge()
        outcome.contributions = ring.contributions
    return outcome


async def _converse(stage: _Stage, outcome: Outcome, said: dict[str, list[str]], show: Show) -> None:
    names = {stage.shell: "shell", stage.log: "log", stage.ann: "Ann", stage.bob: "Bob"}

    def publish(event: Event) -> None:
        if isinstance(event, Gap):
            outcome.failures.append(f"{names[event.pane]}: a gap ({event.reason})")
        if not isinstance(event, Text) or not event.text:
            return
        if event.origin == "program":
            outcome.lines_out += 1
            other = stage.bob if event.pane == stage.ann else stage.ann
            quote = event.pane in {stage.ann, stage.bob} and _is_quote(event.text, said[other])
            said[event.pane].append(event.text)
            show(
                names[event.pane], PRINTED_AT.sub("", event.text).rstrip() + ("   (a quote, and kept)" if quote else "")
            )
            if (printed := printed_at(event.text)) is not None:
                outcome.stream_latencies.append(time.monotonic() - printed)
        elif event.origin == "injected":
            outcome.echoes_suppressed += 1

    async with streamrelay.connect(tmux=stage.tmux.binary, socket_path=str(stage.tmux.socket_path)) as server:
        pairs = [(name, await server.find(pane)) for name, pane in (("Ann", stage.ann), ("Bob", stage.bob))]
        opened = asyncio.Event()

        def heard(event: Event) -> None:
            if isinstance(event, RelayOpened):
                opened.set()
            publish(event)

        relay = RelaySession(server, pairs, budget=2 * ROUNDS)
        async with server.watch(stage.shell, stage.log) as stream, asyncio.TaskGroup() as tasks:
            tasks.create_task(relay.run(heard))
            tasks.create_task(stage.duet.run(server))
            await opened.wait()
            await asyncio.to_thread(begin, stage.tmux, stage.ann, stage.folder / "Ann")
            stage.tmux.run("send-keys", "-t", stage.log, "Enter")
            stage.tmux.run(
                "send-keys", "-l", "-t", stage.shell, f"'{sys.executable}' -m streamrelay.demo.programs build"
            )
            stage.tmux.run("send-keys", "-t", stage.shell, "Enter")
            async for event in stream:
                publish(event)
                if len(said[stage.log]) == LOG_LINES and len(said[stage.shell]) >= len(build_lines()):
                    break
    outcome.relay_latencies = list(relay.counts.latencies)
    with contextlib.suppress(TimeoutError):
        await wait_until_async(lambda: _everything_heard(stage), timeout=HEARING_LIMIT)
    if relay.error is not None:
        outcome.failures.append(f"the relay ended: {relay.error.message}")


def _everything_heard(stage: _Stage) -> bool:
    """Tell whether the last delivery has reached its reader, which may be slow."""
    ann, bob = stage.log_of("Ann"), stage.log_of("Bob")
    return _texts(ann, "heard") == _texts(bob, "said") and _texts(bob, "heard") == _texts(ann, "said")


def _judge(stage: _Stage, outcome: Outcome, said: dict[str, list[str]]) -> None:
    """Compare the streams with what the programs know they did."""
    fail = outcome.failures.append
    if said[stage.shell] != build_lines():
        fail(f"the shell's build came out as {said[stage.shell]}")
    numbers = [line.split()[2] for line in said[stage.log] if printed_at(line)]
    if numbers != [str(number) for number in range(1, LOG_LINES + 1)]:
        fail(f"of {LOG_LINES} log lines {len(numbers)} came out")
    for speaker, pane, listener in (("Ann", stage.ann, "Bob"), ("Bob", stage.bob, "Ann")):
        spoken = _texts(stage.log_of(speaker), "said")
        heard = _texts(stage.log_of(listener), "heard")
        own = _texts(stage.log_of(listener), "said")
        if len(spoken) < ROUNDS:
            fail(f"{speaker} said {len(spoken)} lines, {ROUNDS} messages were expected")
        if said[pane] != spoken:
            fail(f"{speaker} said {spoken}, the stream has {said[pane]}")
        if heard != spoken:
            fail(f"{speaker} said {spoken}, {listener} heard {heard}")
        outcome.quotes_kept += sum(_is_quote(line, own) for line in heard)
    if not outcome.quotes_kept:
        fail("no quote came through")


def _is_quote(line: str, said_by_the_other: Sequence[str]) -> bool:
    return line.removeprefix("You said: ") in said_by_the_other


def _texts(log: Sequence[ParticipantRecord], kind: str) -> list[str]:
    return [record.text for record in log if record.kind == kind]
