"""The mode of a program: one table of transitions, each with its evidence and reason."""

import pytest

from streamrelay.agents import shipped_profiles
from streamrelay.delta.inputs import Output, Pasted, Ran, Submitted, Waited
from streamrelay.delta.mode import TRANSITIONS, Mode, ModeMachine
from streamrelay.delta.stream import DeltaStream
from streamrelay.events import Event, NeedsHuman, Text
from streamrelay.vt import TmuxScreen

ASK, WITHDRAW = b"\x1b[?25l\x1b[?2004h", b"\x1b[?2004l"
RULE = "─" * 30


def machine(*evidence: str) -> ModeMachine:
    mode = ModeMachine()
    for each in evidence:
        match each:
            case "ask":
                mode.ask()
            case "withdraw":
                mode.withdraw(typed=False)
            case "submit":
                mode.withdraw(typed=True)
            case "alternate" | "main":
                mode.show(alternate=each == "alternate")
            case _:
                mode.see(each)  # type: ignore[arg-type]
    return mode


def test_evidence_decides_each_mode_once() -> None:
    cells = [(row.evidence, mode) for row in TRANSITIONS for mode in row.before]
    assert len(cells) == len(set(cells))
    assert all(row.reason and not row.reason.endswith(".") for row in TRANSITIONS)
    reached = {row.after for row in TRANSITIONS} | {Mode.PRINTING}
    assert reached >= set(Mode)


@pytest.mark.parametrize(
    ("evidence", "mode"),
    [
        ("", Mode.PRINTING),
        ("ask", Mode.UNDECIDED),
        ("ask submit", Mode.RUNNING),
        ("ask submit ask", Mode.EDITING),
        ("ask submit ask shows_composer painted", Mode.CONVERSING),
        ("ask passed_lines", Mode.LISTENING),
        ("ask shows_composer painted withdraw", Mode.PRINTING),
        ("ask shows_composer painted submit", Mode.RUNNING),
        ("ask dialog_opened", Mode.DIALOG),
        ("ask dialog_opened shows_composer painted dialog_closed", Mode.CONVERSING),
        ("ask dialog_opened withdraw ask", Mode.UNDECIDED),
        ("ask submit ask dialog_opened submit", Mode.PRINTING),
        ("alternate", Mode.FULL_SCREEN),
        ("alternate answered", Mode.CONVERSING),
        ("alternate ask answered withdraw", Mode.FULL_SCREEN),
        ("alternate answered dialog_opened main", Mode.PRINTING),
        ("ask submit alternate ask withdraw main", Mode.RUNNING),
        ("ask alternate withdraw main", Mode.PRINTING),
        ("alternate ask main", Mode.UNDECIDED),
        ("ask shows_composer painted alternate main", Mode.CONVERSING),
        ("ask shows_composer painted unheard alternate", Mode.FULL_SCREEN),
        ("ask shows_composer painted unheard alternate main", Mode.LISTENING),
    ],
)
def test_mode(evidence: str, mode: Mode) -> None:
    assert machine(*evidence.split()).mode is mode


def test_what_stands_in_front_of_a_conversation_is_not_followed() -> None:
    mode = machine("ask", "shows_composer", "painted", "alternate")
    assert mode.is_overlaid
    assert not mode.is_followed


def test_the_alternate_screen_of_a_program_that_was_asked_nothing_is_followed() -> None:
    mode = machine("ask", "shows_composer", "painted", "unheard", "alternate")
    assert not mode.is_overlaid
    assert mode.is_followed


@pytest.mark.parametrize("command", ["opencode", "vim"])
def test_an_agent_that_asks_on_the_alternate_screen_has_not_withdrawn(command: str) -> None:
    """The shell that started it has: to an editor in its place nothing is typed."""
    stream = DeltaStream(TmuxScreen(30, 16), profiles=[profile.reading for profile in shipped_profiles()])
    steps = [b"\x1b[?2004h$ ", command.encode(), b"\r\n\x1b[?2004l\r", b"\x1b[?1049h\x1b[2J\x1b[?2004h"]
    for now, data in enumerate(steps):
        stream.apply(Output(float(now), "", data))
        stream.apply(Waited(now + 0.9, ""))
    stream.apply(Ran(9.0, "", command))
    assert stream.pane_state.withdrawn is (command == "vim")


def test_another_command_than_the_line_editor_is_undecided() -> None:
    mode = machine()
    mode.run("bash")
    mode.ask()
    mode.withdraw(typed=True)
    mode.run("agent")
    mode.ask()
    assert mode.mode is Mode.UNDECIDED
    mode.run("bash")
    assert mode.mode is Mode.EDITING


def test_each_change_tells_its_reason() -> None:
    mode = machine("ask")
    assert mode.reason == "it asked for bracketed paste"
    mode.see("main")
    assert mode.reason == "it asked for bracketed paste"


def talk(*, shell_first: bool, alternate: bool) -> list[Event]:
    """An agent whose dialog withdraws bracketed paste when it closes, started from a shell or by itself.

    On the `alternate` screen it converses some time after it has asked for bracketed paste again.
    """
    stream = DeltaStream(TmuxScreen(30, 16))
    events: list[Event] = []
    now = 0.0

    def paint(data: bytes, rest: float = 2.0) -> None:
        nonlocal now
        events.extend(stream.apply(Output(now, "", data)))
        now += rest
        events.extend(stream.apply(Waited(now, "")))

    if shell_first:
        paint(b"\x1b[?2004h$ ")
        paint(b"agent")
        paint(b"\r\n\x1b[?2004l\r", rest=0.01)
    paint(ASK + b"\x1b[2J\x1b[HDo you trust this folder?\r\n\r\n> 1. Yes\r\n  2. No\x1b[1A\x1b[0G")
    assert any(isinstance(event, NeedsHuman) for event in events)
    paint(WITHDRAW + b"\x1b[1B\x1b[2K" + b"\x1b[1A\x1b[2K" * 3 + b"\r", rest=0.01)

    def screen(*rows: str) -> bytes:
        drawn = "\r\n".join([*rows, RULE, "> ", RULE])
        return ("\x1b[2J\x1b[H" + drawn + "\x1b[1A\x1b[3G").encode()

    if alternate:
        paint(ASK, rest=0.1)
        paint(b"\x1b[?1049h" + screen("Agent 1.0"))
    else:
        paint(ASK + screen("Agent 1.0"))
    assert stream.needs_human is None
    events.extend(stream.apply(Pasted(now, "", "m1", "hello there")))
    paint(b"hello there")
    events.extend(stream.apply(Submitted(now, "", "m1")))
    paint(screen("Agent 1.0", "> hello there", "", "* Good morning."))
    paint(b"", rest=20.0)
    return events


@pytest.mark.parametrize("alternate", [False, True], ids=["main", "alternate"])
@pytest.mark.parametrize("shell_first", [False, True])
def test_an_agent_whose_dialog_withdraws_paste_is_heard(shell_first: bool, alternate: bool) -> None:
    events = talk(shell_first=shell_first, alternate=alternate)
    said = [event for event in events if isinstance(event, Text) and event.origin == "program"]
    assert [event.text for event in said] == ["Good morning."]


@pytest.mark.parametrize("composer", ["> ", "$ "], ids=["a mark of its own", "the shell's prompt"])
def test_the_first_screen_of_an_agent_and_its_farewell_answer_nobody(composer: str) -> None:
    """The agent paints before it asks for bracketed paste, in a shell, and prints a note when it leaves."""
    stream = DeltaStream(TmuxScreen(30, 16))
    events: list[Event] = []
    screen = f"Agent 1.0\r\nTips\r\n{RULE}\r\n{composer}\r\n{RULE}\x1b[1A\x1b[3G"
    steps: list[tuple[bytes, float]] = [
        (b"\x1b[?2004h$ ", 1.0),
        (b"agent", 1.0),
        (b"\r\n\x1b[?2004l\r", 0.01),
        (b"\x1b[?25l\x1b[2J\x1b[H" + screen.encode(), 0.1),
        (b"\x1b[?2004h", 5.0),
        (b"/exit", 1.0),
        (b"\x1b[2B\r\x1b[?2004l\x1b[?25hSee you.\r\n", 0.5),
        (b"\x1b[?2004h$ ", 20.0),
    ]
    now = 0.0
    for data, rest in steps:
        events.extend(stream.apply(Output(now, "", data)))
        now += rest
        events.extend(stream.apply(Waited(now, "")))
    said = [(event.origin, event.text) for event in events if isinstance(event, Text)]
    assert said == [("typed", "agent"), ("unknown", "See you.")]


FILE = [f"content row {n}" for n in range(1, 12)]


@pytest.mark.parametrize("head", ["", "> ", "- "])
def test_the_rows_of_a_file_in_an_editor_are_nobodys_words(head: str) -> None:
    """As vim paints them: its insert mode withdraws bracketed paste, and what was typed vanishes with the file."""
    stream = DeltaStream(TmuxScreen(40, 12))
    events: list[Event] = []
    now = 0.0
    rows = [head + row for row in FILE]
    steps = [
        "\x1b[?2004h$ ",
        "vim",
        "\r\n\x1b[?2004l\r",
        "\x1b[?1049h\x1b[?2004h\x1b[H\x1b[J\x1b[?25l" + "\r\n".join(rows) + "\x1b[H\x1b[?25h",
        "\x1b[?2004l",
        f"\x1b[?25lhello{rows[0]}\rhello\x1b[?25h",
        "\x1b[?2004h\x08",
        "\x1b[?25l\x1b[12;1H\x1b[K:q!\x1b[?25h",
        "\r\x1b[?25l\x1b[?2004l\x1b[12;1H\x1b[K\x1b[?1049l\x1b[?25h\x1b[?2004h$ ",
    ]
    for step in steps:
        events.extend(stream.apply(Output(now, "", step.encode())))
        while (due := stream.deadline()) is not None and due < now + 1.0:
            events.extend(stream.apply(Waited(due, "")))
        now += 1.0
    said = [(event.origin, event.text) for event in events if isinstance(event, Text)]
    assert said == [("typed", "vim")]


@pytest.mark.requirement("DEL-06")
def test_what_is_printed_behind_an_agent_that_left_above_its_last_row_is_heard() -> None:
    stream = DeltaStream(TmuxScreen(30, 16))
    events: list[Event] = []
    screen = f"Agent 1.0\r\nTips\r\n{RULE}\r\n> \r\n{RULE}\r\nready\x1b[2A\x1b[3G"
    steps: list[tuple[bytes, float]] = [
        (b"\x1b[?2004h$ ", 1.0),
        (b"agent", 1.0),
        (b"\r\n\x1b[?2004l\r", 0.01),
        (b"\x1b[?25l\x1b[?2004h" + screen.encode(), 5.0),
        (b"/exit\x1b[10;1H\x1b[3;1H", 1.0),
        (b"\x1b[3;1H\x1b[J\x1b[?2004l\x1b[?25h", 0.01),
        (b"\x1b[?2004h$ ", 1.0),
        (b"echo two", 1.0),
        (b"\r\n\x1b[?2004l\rtwo\r\n\x1b[?2004h$ ", 20.0),
    ]
    now = 0.0
    for data, rest in steps:
        events.extend(stream.apply(Output(now, "", data)))
        now += rest
        events.extend(stream.apply(Waited(now, "")))
    said = [(event.origin, event.text) for event in events if isinstance(event, Text)]
    assert said == [("typed", "agent"), ("typed", "echo two"), ("program", "two")]
