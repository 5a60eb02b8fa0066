"""What it costs to read twenty agents at work: recorded sessions, played in real time in twenty panes.

One reader after the other reads the same bytes at the same moments (`benchmarks/agents_reader.py`):

* `nothing`: no reader is attached; the tmux server's own CPU, which is subtracted from that of the other ways;
* `polling`: libtmux, `capture-pane` of every pane once a second;
* `terminal`: a control client and a virtual terminal for each pane, the least that a reader of screens needs;
* `turns`: a subscriber of the library without live text: whole turns, as a relay, link or gathering takes them;
* `stream`: a subscriber of the library, live text included.

The agents keep no record of what they say (they are `cat` under their names), so each end of a turn looks for one in
vain: Claude Code and Codex are known at once to keep none, and the first answers of Gemini CLI, Qwen Code and OpenCode
wait for one for the `witness.lag` of their profiles.

CPU is in percent of one core. Latency runs from the write that painted a row in a pane to the moment at which the
reader had its text: live text of the stream, new rows of the poller. Linux only: /proc tells the server's CPU.
"""

import argparse
import heapq
import os
import subprocess
import sys
import time
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager

import msgspec

from benchmarks import measuring
from benchmarks.agents_reader import WAYS, Observation, ticks
from benchmarks.measuring import ROOT, Report, Runs, Sample, Table, progress
from streamrelay.delta.inputs import Output, Pasted
from streamrelay.recordings import open_recording
from streamrelay.recordings.model import Recording
from streamrelay.testing.tmux import PrivateTmux
from streamrelay.vt import TmuxScreen

LIVE = ROOT / "tests" / "corpus" / "live"
RECORDINGS = (
    "aider/rich", "aider/ten", "claude/abort", "claude/rich", "claude/ten_80", "claude/two", "codex/abort",
    "codex/long", "codex/rich", "codex/two", "gemini/long", "gemini/rich", "gemini/ten_80", "gemini/two",
    "opencode/abort", "opencode/rich", "opencode/two", "qwen/long", "qwen/rich", "qwen/ten_80",
)  # fmt: skip
"""Every program of the corpus, in sessions of several messages, without those whose panes were resized."""
_LIMIT = 60.0
_MILLI = 1e3
_MIN_TEXT = 4
"""Characters of a row that is looked for: shorter ones stand on a screen by chance."""


class Played(msgspec.Struct, frozen=True):
    """A recorded agent: what it printed before its first message, and at which second after that it printed what."""

    name: str
    columns: int
    lines: int
    before: bytes
    writes: list[tuple[float, bytes]]


class Figures(msgspec.Struct, frozen=True):
    """What one way of reading cost: percent of a core, milliseconds, and final texts of the stream."""

    way: str
    cpu: Sample
    server_cpu: Sample
    """The tmux server's CPU minus its CPU without a reader."""
    latency: Sample | None
    """The latency of all recognisable rows of all runs; None for readers that read no text."""
    runs: Runs | None
    """The same by run."""
    texts: Sample


class _Run(msgspec.Struct, frozen=True):
    way: str
    cpu: float
    server_cpu: float
    latencies: list[float]
    texts: int


def load(name: str, seconds: float) -> Played:
    """Return the first `seconds` of a recording behind its first message."""
    recording: Recording = open_recording(LIVE / name)
    before, writes, began = bytearray(), list[tuple[float, bytes]](), None
    for entry in recording.entries():
        if isinstance(entry, Pasted) and began is None:
            began = entry.t
        elif isinstance(entry, Output) and began is None:
            before += entry.data
        elif isinstance(entry, Output) and began is not None:
            if entry.t >= began + seconds:
                break
            writes.append((entry.t - began, entry.data))
    return Played(name, recording.columns, recording.lines, bytes(before), writes)


def painted(agent: Played) -> dict[str, list[int]]:
    """Return which writes painted which rows: those that were not on the screen before."""
    screen = TmuxScreen(agent.columns, agent.lines)
    screen.feed(agent.before)
    found: defaultdict[str, list[int]] = defaultdict(list)
    known = {row.strip() for row in screen.text()}
    for number, (_, data) in enumerate(agent.writes):
        screen.feed(data)
        rows = {row.strip() for row in screen.text()}
        for row in rows - known:
            found[row].append(number)
        known = rows
    return dict(found)


def latencies(
    rows: Mapping[str, Sequence[int]], written: Sequence[float], seen: Sequence[tuple[float, str]]
) -> list[float]:
    """Return how many seconds after the last write that painted it each text was seen; texts in no row are left out.

    `rows` is what `painted` gives, `written` the moment of each write, `seen` the moment and text of each observation.
    """
    late = []
    for at, text in seen:
        wanted = text.strip()
        if len(wanted) < _MIN_TEXT:
            continue
        done = bisect_right(written, at)
        writes = [
            numbers[place - 1]
            for row, numbers in rows.items()
            if wanted in row and (place := bisect_right(numbers, done - 1))
        ]
        if writes:
            late.append(at - written[max(writes)])
    return late


@contextmanager
def _panes(agents: Sequence[Played]) -> Iterator[tuple[PrivateTmux, list[str], list[int]]]:
    """Open a pane for each agent that shows what it showed before its first message."""
    with PrivateTmux() as tmux:
        tmux.new_session("anchor", ["cat", "-"])
        tmux.run("set-option", "-g", "window-size", "manual")
        panes: list[str] = []
        descriptors: list[int] = []
        try:
            for agent in agents:
                # Named as the agent, so that its profile is found; what tmux answers to its queries is read away.
                program = agent.name.partition("/")[0]
                command = ["bash", "-c", f"stty raw -echo; exec -a {program} cat >/dev/null"]
                if not panes:
                    pane = tmux.new_session("agents", command, columns=agent.columns, lines=agent.lines)
                else:
                    pane = tmux.run("new-window", "-d", "-P", "-F", "#{pane_id}", "-t", "=agents:", "--", *command)
                tmux.run("resize-window", "-t", pane, "-x", str(agent.columns), "-y", str(agent.lines))
                terminal = tmux.run("display-message", "-p", "-t", pane, "#{pane_tty}")
                descriptors.append(os.open(terminal, os.O_WRONLY | os.O_NOCTTY))
                panes.append(pane)
            time.sleep(0.3)  # until `stty` has run in each of them
            for agent, descriptor in zip(agents, descriptors, strict=True):
                _write(descriptor, agent.before)
            yield tmux, panes, descriptors
        finally:
            for descriptor in descriptors:
                os.close(descriptor)


def _write(descriptor: int, data: bytes) -> None:
    rest = memoryview(data)
    while rest:
        rest = rest[os.write(descriptor, rest) :]


def play(agents: Sequence[Played], descriptors: Sequence[int], seconds: float) -> list[list[float]]:
    """Write what every agent printed when it printed it; return the moment of each write, agent by agent."""
    written: list[list[float]] = [[] for _ in agents]
    began = time.monotonic()
    order = heapq.merge(
        *([(at, place, data) for at, data in agent.writes] for place, agent in enumerate(agents)),
        key=lambda write: write[0],
    )
    for at, place, data in order:
        time.sleep(max(0.0, began + at - time.monotonic()))
        written[place].append(time.monotonic())
        _write(descriptors[place], data)
    time.sleep(max(0.0, began + seconds - time.monotonic()))
    return written


def _run(way: str, agents: Sequence[Played], rows: Sequence[Mapping[str, Sequence[int]]], seconds: float) -> _Run:
    with _panes(agents) as (tmux, panes, descriptors):
        argv = [sys.executable, "-m", "benchmarks.agents_reader", way, *panes, "--socket", tmux.socket_path]
        argv += ["--tmux", tmux.binary]
        with subprocess.Popen(
            argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, cwd=ROOT, env=tmux.environment
        ) as reader:
            try:
                assert reader.stdout is not None
                if reader.stdout.readline() != b"ready\n":
                    raise RuntimeError(f"the reader by {way} could not attach")
                server, before, began = tmux.server_pid, ticks(tmux.server_pid), time.monotonic()
                written = play(agents, descriptors, seconds)
                used, took = ticks(server) - before, time.monotonic() - began
                output, _ = reader.communicate(timeout=_LIMIT)
            finally:
                reader.kill()
    observation = msgspec.json.decode(output, type=Observation)
    late: list[float] = []
    for place in range(len(agents)):
        seen = [(text.at, text.text) for text in observation.shown if text.place == place]
        late += latencies(rows[place], written[place], seen)
    return _Run(way, 100 * observation.cpu / took, 100 * used / took, [_MILLI * one for one in late], observation.texts)


def _figures(way: str, runs: Sequence[_Run], alone: Sequence[_Run]) -> Figures:
    late = [value for run in runs for value in run.latencies]
    return Figures(
        way=way,
        cpu=Sample.of(run.cpu for run in runs),
        server_cpu=Sample.of(run.server_cpu - idle.server_cpu for run, idle in zip(runs, alone, strict=True)),
        latency=Sample.of(late) if late else None,
        runs=Runs.of(run.latencies for run in runs) if late else None,
        texts=Sample.of(run.texts for run in runs),
    )


def measure(arguments: argparse.Namespace) -> Report:
    """Let one reader after the other read the same agents, as often as the options ask for."""
    names = [RECORDINGS[number % len(RECORDINGS)] for number in range(arguments.agents)]
    agents = [load(name, arguments.seconds) for name in names]
    rows = [painted(agent) for agent in agents]
    runs: defaultdict[str, list[_Run]] = defaultdict(list)
    for repetition in range(1, arguments.repetitions + 1):
        for way in arguments.ways:
            progress(f"agents: {way}, run {repetition} of {arguments.repetitions}")
            runs[way].append(_run(way, agents, rows, arguments.seconds))
    alone = runs.get("nothing") or [_Run("nothing", 0.0, 0.0, [], 0)] * arguments.repetitions
    figures = [_figures(way, runs[way], alone) for way in arguments.ways]
    total = sum(len(data) for agent in agents for _, data in agent.writes)
    count = sum(len(agent.writes) for agent in agents)
    title = (
        f"{len(agents)} agents at work for {arguments.seconds:g} s: {count / arguments.seconds:.0f} writes and "
        f"{total / arguments.seconds / 1000:.0f} kB a second, for which the tmux server alone uses "
        f"{Sample.of(run.server_cpu for run in alone).spread()} %; {arguments.repetitions} run(s), median "
        "(lowest-highest)"
    )
    return Report("agents", measuring.machine(PrivateTmux().binary), figures, (_table(title, figures),))


def _table(title: str, figures: Sequence[Figures]) -> Table:
    return Table(
        title,
        ("read by", "reader, % of a core", "tmux server more, %", "text seen after ms, median", "p99", "texts"),
        [
            (
                row.way,
                row.cpu.spread(),
                row.server_cpu.spread(),
                *(("-", "-") if row.runs is None else row.runs.spreads()),
                f"{row.texts.median:g}" if row.texts.median else "-",
            )
            for row in figures
        ],
    )


def options() -> argparse.ArgumentParser:
    """Return the parser of the command line."""
    parser = measuring.options(__doc__, repetitions=5)
    parser.add_argument("--agents", type=int, default=len(RECORDINGS), help="number of panes (%(default)s)")
    parser.add_argument("--seconds", type=float, default=8.0, help="seconds that each reader reads (%(default)s)")
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=list(WAYS), help="ways of reading (all)")
    return parser


if __name__ == "__main__":
    raise SystemExit(measuring.run(options(), measure))
