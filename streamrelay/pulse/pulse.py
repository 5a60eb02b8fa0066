"""A pulse, and its text: one line a signal, more room for the important ones, within a limit; pure.

Whatever sessions, commits, commands and transcripts say stands here as their words: on one line each, without control
characters, and cut. When there is too much, each part gives up its last lines, in proportion, and says how many; no
part vanishes before the others have given as much.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import msgspec
import regex

from streamrelay.pulse.model import (
    HistorySignals,
    MissingSignal,
    PipelineNow,
    Repository,
    SessionNow,
    SystemState,
)

SIGNALS = "History signals:"
MAX_LINE = 240
"""Characters."""
_MAX_LINES = 40
"""Lines of one source."""
_BLANKS = regex.compile(r"[\s\p{C}]+")
_GIGABYTE = 10**9
_MINUTE, _HOUR, _DAY = 60.0, 3600.0, 86_400.0


class Pulse(msgspec.Struct, frozen=True, kw_only=True):
    """What could be gathered in time."""

    at: float
    """Unix time."""
    system: SystemState | None = None
    sessions: Sequence[SessionNow] = ()
    repositories: Sequence[Repository] = ()
    pipelines: Sequence[PipelineNow] = ()
    history: HistorySignals | None = None
    keywords: Sequence[str] = ()
    """The words for which the history was searched."""
    missing: Sequence[MissingSignal] = ()

    def text(self, longest: int = 4_000) -> str:
        """Return it as lines for a seed, of no more characters than that."""
        return _text(self, longest)

    def line(self, longest: int = 400) -> str:
        """Return it as one line for a beat, of no more characters than that."""
        return _line(self, longest)


def one_line(text: str, longest: int = MAX_LINE) -> str:
    """Return a text on one line, without control characters, cut to a length."""
    shown = _BLANKS.sub(" ", text[: 8 * longest]).strip()
    return shown if len(shown) <= longest else shown[: max(0, longest - 1)].rstrip() + "…"


def _text(pulse: Pulse, longest: int) -> str:
    blocks = [_Block(head, rest[:_MAX_LINES], max(0, len(rest) - _MAX_LINES)) for head, *rest in _blocks(pulse)]
    while sum(block.size for block in blocks) > longest + 1 and any(block.rest for block in blocks):
        max(blocks, key=lambda block: sum(map(len, block.rest))).shorten()
    whole = "\n".join(line for block in blocks for line in block.lines())
    return whole if len(whole) <= longest else f"{whole[: longest - 1].rstrip()}…"[:longest]


@dataclass(slots=True)
class _Block:
    """What one source said: a line that stays as long as there is any room, and others."""

    head: str
    rest: list[str]
    hidden: int = 0

    @property
    def size(self) -> int:
        return sum(len(line) + 1 for line in self.lines())

    def lines(self) -> list[str]:
        return [self.head, *self.rest, *([f"* and {self.hidden} more"] if self.hidden else [])]

    def shorten(self) -> None:
        """Give up the last line."""
        self.rest.pop()
        self.hidden += 1


def _line(pulse: Pulse, longest: int) -> str:
    """Return a pulse as one line."""
    said = []
    if pulse.system is not None:
        said.append(_machine(pulse.system))
    if pulse.sessions:
        said.append(_states(pulse.sessions))
    said += [_repository(one, pulse.at) for one in pulse.repositories]
    said += [f"{_pipeline_name(one.name, one.repository)} {_verdict(one.status)}" for one in pulse.pipelines]
    said += [f"{missing.part}: {missing.why}" for missing in pulse.missing]
    return one_line("; ".join(said) or "none", longest)


def _blocks(pulse: Pulse) -> Iterator[list[str]]:
    if pulse.system is not None:
        yield [f"System: {_machine(pulse.system)}", *_disks(pulse.system)]
    if pulse.sessions:
        yield [f"Sessions: {_states(pulse.sessions)}", *(_session(one) for one in pulse.sessions)]
    for repository in pulse.repositories:
        subjects = [f"* {one_line(subject)}" for subject in repository.commits]
        yield [f"Repository: {_repository(repository, pulse.at)}", *subjects]
    for pipeline in pulse.pipelines:
        name = _pipeline_name(pipeline.name, pipeline.repository)
        lines = [one_line(said) for said in pipeline.output.splitlines()]
        yield [f"Pipeline {name}: {_verdict(pipeline.status)}", *(f"* {said}" for said in lines if said)]
    if pulse.history is not None:
        signals = [one_line(signal) for signal in pulse.history.summary.splitlines()]
        words = ", ".join(pulse.keywords)
        about = one_line(f"{pulse.history.found} found for {words}" if words else f"{pulse.history.found} found")
        yield [f"{SIGNALS} {about}", *(f"* {signal.removeprefix('* ')}" for signal in signals if signal)]
    if pulse.missing:
        yield ["Left out:", *(f"* {missing.part}: {one_line(missing.why)}" for missing in pulse.missing)]


def _machine(system: SystemState) -> str:
    said = [f"load {system.load:.1f} on {system.processors} processors"]
    if system.memory_free is not None and system.memory_total is not None:
        said.append(f"{system.memory_free / _GIGABYTE:.1f} of {system.memory_total / _GIGABYTE:.1f} GB memory free")
    said += [f"{one_line(disk.folder, 60)} {_room(disk.free, disk.total)}" for disk in system.disks[:1]]
    return ", ".join(said)


def _disks(system: SystemState) -> list[str]:
    return [f"* {one_line(disk.folder, 60)} {_room(disk.free, disk.total)}" for disk in system.disks[1:]]


def _room(free: int, total: int) -> str:
    return f"{free / _GIGABYTE:.0f} of {total / _GIGABYTE:.0f} GB free"


def _states(sessions: Sequence[SessionNow]) -> str:
    states = [one_line(one.state, 20) or "unknown" for one in sessions]
    return ", ".join(f"{states.count(state)} {state}" for state in dict.fromkeys(states))


def _session(session: SessionNow) -> str:
    said = [one_line(session.title, 60)]
    if session.program and session.program != session.title:
        said.append(f"({one_line(session.program, 40)})")
    said.append(one_line(session.state, 20) or "unknown")
    if session.folder:
        said.append(f"in {one_line(session.folder, 80)}")
    if session.quiet is not None:
        said.append(f"spoke {_ago(session.quiet)}")
    words = one_line(" ".join(said))
    return f"* {words}: {one_line(session.said, 160)}" if session.said.strip() else f"* {words}"


def _repository(repository: Repository, at: float) -> str:
    when = f", last commit {_ago(at - repository.newest)}" if repository.newest else ", no commit yet"
    return f"{one_line(repository.name, 60)} on {one_line(repository.branch, 80)}{when}"


def _pipeline_name(name: str, repository: str) -> str:
    return one_line(f"{name} of {repository}" if repository else name, 80)


def _verdict(status: int) -> str:
    if status < 0:
        return f"ended by signal {-status}"
    return f"failed ({status})" if status else "ok"


def _ago(seconds: float) -> str:
    if seconds < _MINUTE:
        return "just now"
    for unit, name in ((_DAY, "d"), (_HOUR, "h"), (_MINUTE, "min")):
        if seconds >= unit:
            return f"{seconds / unit:.0f} {name} ago"
    return "just now"
