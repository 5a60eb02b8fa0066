"""Programs that print and rewrite what they printed, against what a person finally saw: each line once, in order.

A program of the random tests prints lines, goes up and rewrites some, writes logs above a bar, clears the screen, or
prints its whole transcript again because a part of it has left the screen. The reference keeps the lines as a list and
knows nothing of screens.
"""

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import pytest

from streamrelay.delta.frames import SETTLE
from streamrelay.delta.printing.lines import MAX_PATIENCE, REPAINT_REST
from streamrelay.events import Gap, encode
from streamrelay.testing.scripted_pane import ScriptedPane

COLUMNS, LINES = 40, 12
CLEARS = ["\x1b[2J\x1b[3J\x1b[H", "\x1b[H\x1b[2J", "\x1b[H\x1b[2J\x1b[3J", "\x1b[2J\x1b[H", "\x1b[H\x1b[J"]

PAUSES = [0.0, 0.001, SETTLE, 0.05, 0.1]
"""Seconds between two writes: shorter than the 0.5 s in which a program shows how it prints."""


@dataclass
class Program:
    """A program whose `lines` are what it wants a person to see at last, in order."""

    pick: random.Random
    lines: list[str] = field(default_factory=list)
    count: int = 0

    def word(self) -> str:
        self.count += 1
        return f"{self.pick.choice(['unit', 'file', 'step'])} {self.count}"

    def prints(self) -> Iterator[str]:
        """Some plain lines."""
        for _ in range(self.pick.randint(1, 5)):
            self.lines.append(self.word())
            yield self.lines[-1] + "\r\n"

    def rewrites(self) -> Iterator[str]:
        """A block of lines of which each is rewritten several times, by moving up (docker, build tools)."""
        height = self.pick.randint(1, 6)
        block = [self.word() for _ in range(height)]
        yield "".join(f"{line} waits\r\n" for line in block)
        for percent in range(self.pick.randint(1, 12)):
            up = self.pick.randint(1, height)
            yield f"\x1b[{up}A\r\x1b[2K{block[-up]} {percent} %\x1b[{up}B\r"
        for up in range(height, 0, -1):
            yield f"\x1b[{up}A\r\x1b[2K{block[-up]} is done\x1b[{up}B\r"
        self.lines += [f"{line} is done" for line in block]

    def logs_above_a_bar(self) -> Iterator[str]:
        """Two rows of bars that stay below all lines printed (tqdm, cargo)."""
        yield "bar one\r\nbar two\r"
        for state in range(self.pick.randint(1, 2 * LINES)):
            self.lines.append(self.word())
            yield f"\x1b[1A\x1b[J{self.lines[-1]}\r\nbar one {state}\r\nbar two {state}\r"
        self.lines += ["bar one over", "bar two over"]
        yield "\x1b[1A\r\x1b[2Kbar one over\r\n\x1b[2Kbar two over\r\n"

    def watches(self) -> Iterator[str]:
        """A screen that is cleared before each of its states (jest, tsc -w)."""
        clear = self.pick.choice(CLEARS)
        for state in range(self.pick.randint(1, 5)):
            page = [f"run {state} of {self.word()}" for _ in range(self.pick.randint(1, LINES - 2))]
            yield clear
            for line in page:
                yield line + "\r\n"
        self.lines += page

    def reprints(self) -> Iterator[str]:
        """A transcript taller than the screen, printed again with each line it gets (Ink)."""
        page = [self.word()]
        for _ in range(self.pick.randint(1, 2 * LINES)):
            page.append(self.word())
            yield "\x1b[2J\x1b[3J\x1b[H" + "\r\n".join(page) + f"\r\n~ {len(page)}"
        yield "\r\x1b[K"
        self.lines += page

    def shows_more(self) -> Iterator[str]:
        """A region that grows beyond the screen and is painted from its first row that can be reached (rich)."""
        page = [self.word()]
        yield page[0]
        for _ in range(self.pick.randint(1, 2 * LINES)):
            up = "\x1b[1A\x1b[2K" * (len(page) - 1)
            page.append(self.word())
            yield "\x1b[2K\r" + up + "\r\n".join(page)
        yield "\r\n"
        self.lines += page

    def logs_on_top(self) -> Iterator[str]:
        """A log whose newest line is on top."""
        yield "\x1b[H\x1b[2J"
        count = self.pick.randint(1, LINES - 2)
        for _ in range(count):
            self.lines.append(self.word())
            yield f"\x1b[H\x1b[L{self.lines[-1]}"
        yield f"\x1b[{count + 1};1H"

    def inserts_above_a_bar(self) -> Iterator[str]:
        """Lines that are inserted above a bar, which is rewritten."""
        yield "bar\r"
        for state in range(self.pick.randint(1, 2 * LINES)):
            self.lines.append(self.word())
            yield f"\x1b[L{self.lines[-1]}\r\n\x1b[2Kbar {state}\r"
        self.lines.append("bar over")
        yield "\x1b[2Kbar over\r\n"


ACTS: list[Callable[[Program], Iterator[str]]] = [
    Program.prints, Program.rewrites, Program.logs_above_a_bar, Program.watches, Program.reprints, Program.shows_more,
    Program.logs_on_top, Program.inserts_above_a_bar,
]  # fmt: skip


def play(
    seed: int, acts: list[Callable[[Program], Iterator[str]]], *, read_size: int | None = None
) -> tuple[Program, ScriptedPane]:
    """Let a shell run one program after the other, each of which acts as one of `acts`."""
    pick = random.Random(f"rewriting {seed}")
    program, pane = Program(pick), ScriptedPane(COLUMNS, LINES)
    for _ in range(pick.randint(1, 5)):
        pane.prints("\x1b[?2004h$ ", read_size=read_size)
        pane.rests(0.5)
        pane.prints("run it", read_size=read_size)
        pane.rests(0.5)
        pane.prints("\r\n\x1b[?2004l\r", read_size=read_size)
        for written in pick.choice(acts)(program):
            pane.prints(written, read_size=read_size)
            pane.rests(pick.choice(PAUSES))
        pane.rests(pick.choice([0.0, 0.02, REPAINT_REST, 5.0]))
    pane.ends()
    return program, pane


@pytest.mark.requirement("DEL-01", "DEL-03b", "DEL-08")
@pytest.mark.sampled(60)
@pytest.mark.parametrize("seed", range(600))
def test_what_a_person_finally_saw_is_said_once_and_in_order(seed: int) -> None:
    program, pane = play(seed, ACTS)
    said = [line for line in pane.said() if line]
    assert said == program.lines
    assert not any(isinstance(event, Gap) for event in pane.events)


@pytest.mark.requirement("ENG-03b")
@pytest.mark.sampled(20)
@pytest.mark.parametrize("seed", range(200))
def test_any_chunking_of_what_is_rewritten_gives_the_same_events(seed: int) -> None:
    _, whole = play(seed, ACTS)
    _, cut = play(seed, ACTS, read_size=1 + seed % 7)
    assert [*map(encode, cut.events)] == [*map(encode, whole.events)]


@pytest.mark.requirement("DEL-01")
@pytest.mark.parametrize("last", ["✔ built in 812ms", "Tokens: 1.2k used", "∑ 340 tokens · 3.1 s", "─" * COLUMNS])
@pytest.mark.parametrize("rest", [0.02, 5.0])
def test_the_closing_line_of_what_was_painted_is_said(last: str, rest: float) -> None:
    pane = ScriptedPane(COLUMNS, LINES)
    pane.prints("\x1b[?25l")
    for number in range(3):
        pane.prints(f"file {number}\r\n")
        pane.rests(0.1)
        pane.prints("\x1b[1A\x1b[2K")
    pane.prints(f"all files\r\n{last}\r\n\x1b[?25h")
    pane.rests(rest)
    pane.prints("next\r\n")
    pane.ends()
    assert pane.said() == ["all files", last, "next"]


@pytest.mark.requirement("DEL-03a")
def test_what_sums_up_an_answer_before_a_prompt_is_not_said() -> None:
    pane = ScriptedPane(COLUMNS, LINES)
    pane.prints("\x1b[?25lan answer\r\n")
    pane.rests(0.1)
    pane.prints("\x1b[?25hTokens: 95 sent\r\n")
    pane.rests(0.1)
    pane.prints("\x1b[?2004h> ")
    pane.ends()
    assert pane.said() == ["an answer"]


@pytest.mark.requirement("DEL-01")
@pytest.mark.parametrize("gap", [0.3, 2.0, 5.0, 12.0])
@pytest.mark.parametrize("cursor", ["", "\x1b[?25l"], ids=["cursor shown", "cursor hidden"])
def test_of_a_status_row_the_first_and_the_last_state_are_said_however_slow_it_is(gap: float, cursor: str) -> None:
    pane = ScriptedPane(COLUMNS, LINES)
    pane.prints(f"{cursor}waiting 0 s\r\n")
    pane.rests(gap)
    for number in range(1, 6):
        pane.prints(f"\x1b[1A\r\x1b[2Kentry {number}\r\nwaiting {number} s\r\n")
        pane.rests(gap)
    pane.ends()
    first = [] if gap == 0.3 and cursor else ["waiting 0 s"]
    assert pane.said() == [*first, *(f"entry {number}" for number in range(1, 6)), "waiting 5 s"]


@pytest.mark.requirement("DEL-01")
@pytest.mark.parametrize("clear", [*CLEARS, "\x1bc"], ids=ascii)
def test_each_run_of_a_watch_mode_is_said_after_the_same_rest(clear: str) -> None:
    pane = ScriptedPane(COLUMNS, LINES)
    for runs in range(1, 4):
        pane.prints(f"{clear}RUN suite\r\n")
        pane.rests(0.4)
        pane.prints("Tests: 2 passed\r\nWaiting for changes\r\n")
        pane.rests(REPAINT_REST + 0.5)
        assert pane.said() == ["RUN suite", "Tests: 2 passed", "Waiting for changes"] * runs


@pytest.mark.requirement("DEL-01")
def test_nobody_waits_for_long_for_a_program_that_rewrote_a_line_after_minutes() -> None:
    pane = ScriptedPane(COLUMNS, LINES)
    pane.prints("building\r\n")
    pane.rests(300)
    pane.prints("\x1b[1A\r\x1b[2Kbuilt\r\n")
    pane.rests(MAX_PATIENCE + 0.1)
    assert pane.said() == ["building", "built"]
    pane.prints("next\r\n")
    pane.rests(0.1)
    assert pane.said()[-1] == "next"


@pytest.mark.requirement("DEL-01")
def test_the_next_command_of_a_shell_is_not_waited_for_as_a_slow_one_before_it() -> None:
    pane = ScriptedPane(COLUMNS, LINES)
    pane.prints("\x1b[?2004h$ ")
    pane.rests()
    for command in ("slow", "quick"):
        pane.prints(f"{command}\r\n\x1b[?2004l\r{command} waits\r\n")
        pane.rests(5.0 if command == "slow" else 0.1)
        pane.prints(f"\x1b[1A\r\x1b[2K{command} is done\r\n")
        pane.rests(REPAINT_REST + 0.1)
        if command == "slow":
            assert "slow is done" not in pane.said()
            pane.prints("\x1b[?2004h$ ")
            pane.rests()
    assert pane.said() == ["slow waits", "slow is done", "quick is done"]
