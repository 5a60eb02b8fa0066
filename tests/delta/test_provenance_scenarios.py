"""Who wrote what, told through whole panes: small scripts of bytes, injections and rests."""

import pytest

from streamrelay.delta.inputs import Missed
from streamrelay.events import TurnEnded, TurnStarted
from streamrelay.testing.scripted_pane import ScriptedPane

DELAYS = [0.0, 0.2, 2.5, 60.0]
BRACKETS_ON, BRACKETS_OFF = "\x1b[?2004h", "\x1b[?2004l"


@pytest.fixture
def pane() -> ScriptedPane:
    return ScriptedPane()


def origins(pane: ScriptedPane) -> list[tuple[str, str]]:
    return [(event.text, event.origin) for event in pane.texts()]


@pytest.mark.requirement("DEL-02a")
def test_kernel_echo_with_output_on_the_same_row(pane: ScriptedPane) -> None:
    """What `cat` prints when the Enter comes after the echo, as recorded with tmux."""
    pane.sends("line one\nline two\n\nline four", painted="line one\r\nline two\r\n\r\nline four")
    pane.prints("line one\r\nline two\r\n\r\n\r\nline four\r\n")
    pane.ends()
    assert pane.said() == ["line one", "line two", "", "line four"]
    assert pane.said("injected") == ["line one", "line two", "line four"]


@pytest.mark.requirement("DEL-02b")
def test_with_the_echo_off_the_copy_is_the_answer(pane: ScriptedPane) -> None:
    pane.sends("hello from the relay")
    pane.prints("hello from the relay\r\n")
    pane.ends()
    assert pane.said() == ["hello from the relay"]


@pytest.mark.requirement("DEL-02a")
@pytest.mark.parametrize("delay", DELAYS)
@pytest.mark.parametrize("answer", ["Hi there", "hello Ann", "> hell"])
def test_an_echo_painted_late_behind_a_mark(pane: ScriptedPane, delay: float, answer: str) -> None:
    pane.prints(BRACKETS_ON)
    pane.rests()
    pane.sends("hello")
    pane.rests(delay)
    pane.prints(f"> hello\r\n{answer}\r\n")
    pane.ends()
    assert pane.said() == [answer]
    assert pane.said("injected") == ["> hello"]


@pytest.mark.requirement("DEL-02a")
@pytest.mark.parametrize("delay", DELAYS)
def test_an_echo_of_several_lines_painted_late(pane: ScriptedPane, delay: float) -> None:
    pane.prints(BRACKETS_ON)
    pane.sends("Ann (1):\n\none\ntwo")
    pane.rests(delay)
    pane.prints("> Ann (1):\r\n  \r\n  one\r\n  two\r\n")
    pane.rests(delay)
    pane.prints("yes\r\n")
    pane.ends()
    assert pane.said() == ["yes"]


@pytest.mark.requirement("DEL-02a")
@pytest.mark.parametrize("mark", ["> ", ""])
@pytest.mark.parametrize("delay", DELAYS)
def test_two_injections_pending_at_once(pane: ScriptedPane, mark: str, delay: float) -> None:
    pane.sends("first")
    pane.sends("second")
    pane.rests(delay)
    pane.prints(f"{mark}first\r\nre first\r\n{mark}second\r\nre second\r\n")
    pane.ends()
    assert pane.said() == ["re first", "re second"]
    assert pane.said("injected") == [f"{mark}first", f"{mark}second"]
    assert [event.message_id for event in pane.texts() if event.origin == "injected"] == ["m1", "m2"]


@pytest.mark.requirement("DEL-02b")
@pytest.mark.parametrize("delay", DELAYS)
@pytest.mark.parametrize("quote", ["hello", "> hello", "You said: hello", "  hello"])
def test_a_quote_after_the_echo_is_the_programs(pane: ScriptedPane, quote: str, delay: float) -> None:
    pane.sends("hello")
    pane.rests(delay)
    pane.prints("> hello\r\n")
    pane.rests(delay)
    pane.prints(f"{quote}\r\nand more\r\n")
    pane.ends()
    assert pane.said() == [quote, "and more"]


@pytest.mark.requirement("DEL-02b")
@pytest.mark.parametrize("enter_takes", [0.1, 2.0, 20.0])
def test_an_echo_whose_enter_takes_longer_than_the_turn_that_was_open(pane: ScriptedPane, enter_takes: float) -> None:
    pane.sends("start", painted="start")
    pane.prints("\r\nmessage 20\r\n")
    pane.rests(0.1)
    pane.sends("Vic (19):\n\nmessage 19", painted="Vic (19):\r\n\r\nmessage 19")
    pane.rests(enter_takes)
    pane.prints("\r\nmessage 21\r\n")
    pane.ends()
    assert pane.said() == ["message 20", "message 21"]


def test_an_answer_equal_to_the_injection_after_an_echo_at_once(pane: ScriptedPane) -> None:
    pane.sends("hello", painted="hello")
    pane.prints("\r\nhello\r\n")
    pane.ends()
    assert origins(pane) == [("hello", "injected"), ("hello", "program")]


@pytest.mark.requirement("DEL-02b")
def test_a_quote_on_the_row_of_the_echo(pane: ScriptedPane) -> None:
    pane.sends("hello", painted="hello")
    pane.prints("hello\r\nhello\r\n\r\n")
    pane.ends()
    assert origins(pane) == [("hello", "injected"), ("hello", "program"), ("hello", "program")]


@pytest.mark.requirement("DEL-02a")
@pytest.mark.parametrize("times", [2, 5])
def test_the_same_message_again_and_again(pane: ScriptedPane, times: int) -> None:
    for number in range(times):
        pane.sends("hello", painted="hello\r\n")
        pane.prints(f"hello\r\n{number}\r\n")
    pane.ends()
    assert pane.said() == [line for number in range(times) for line in ("hello", str(number))]
    assert pane.said("injected") == ["hello"] * times


@pytest.mark.requirement("DEL-02a")
@pytest.mark.parametrize(
    ("text", "painted"),
    [
        ("a\tb", "a\tb"),
        ("tab at the end\t", "tab at the end\t"),
        ("bell\x07", "bell^G"),
        ("日本語の文章、句読点。", "日本語の文章、句読点。"),
        ("全角の空白　", "全角の空白　"),
        ("👩‍🚀 and 🇳🇱", "👩‍🚀 and 🇳🇱"),
        ("line feed at the end\n", "line feed at the end\r\n"),
        ("a\n\n\nb", "a\r\n\r\n\r\nb"),
        ("  indented", "  indented"),
        ("blanks at the end   ", "blanks at the end   "),
        ("wide" * 60, "wide" * 60),
    ],
)
@pytest.mark.parametrize("late", [False, True])
def test_every_kind_of_text_is_known_again(pane: ScriptedPane, text: str, painted: str, late: bool) -> None:
    pane.sends(text, painted="" if late else painted)
    if late:
        pane.rests(60)
        pane.prints(painted)
    pane.prints("\r\nanswer\r\n")
    pane.ends()
    assert [line for line in pane.said() if line] == ["answer"]


@pytest.mark.requirement("DEL-02a")
@pytest.mark.parametrize("prompt", [">>> ", "$ ", "user@host:~/src$ ", "> ", "(pdb) > "])
def test_an_echo_behind_a_prompt(pane: ScriptedPane, prompt: str) -> None:
    pane.prints(prompt)
    for _ in range(2):
        pane.rests()
        pane.sends("1+1", painted="1+1")
        pane.prints(f"\r\n2\r\n{prompt}")
    pane.ends()
    assert pane.said() == ["2", "2"]


def test_what_a_person_types_at_a_known_prompt_is_typed(pane: ScriptedPane) -> None:
    pane.prints(">>> ")
    pane.rests()
    pane.sends("1+1", painted="1+1")
    pane.prints("\r\n2\r\n>>> ")
    pane.rests()
    for key in "3*3":
        pane.prints(key)
        pane.rests(0.1)
    pane.prints("\r\n9\r\n>>> ")
    pane.ends()
    assert origins(pane) == [("1+1", "injected"), ("2", "program"), ("3*3", "typed"), ("9", "program")]


def test_what_a_person_types_into_a_line_editor_is_typed_however_often_it_is_redrawn(pane: ScriptedPane) -> None:
    pane.prints(f"{BRACKETS_ON}$ ")
    pane.rests()
    for step in ("l", "\b \b", "l", "s -", "\b\b\b\x1b[Kls -l", "\r\x1b[K$ ls -l"):
        pane.prints(step)
        pane.rests(0.1)
    pane.prints(f"\r\n{BRACKETS_OFF}\rfile\r\n{BRACKETS_ON}$ ")
    pane.ends()
    assert origins(pane) == [("ls -l", "typed"), ("file", "program")]


READLINE = (f"{BRACKETS_ON}$ ", "\r\n" + BRACKETS_OFF + "\r")
ZLE = (f"$ {BRACKETS_ON}", BRACKETS_OFF + "\r\r\n")


@pytest.mark.requirement("DEL-02a", "DEL-04a")
@pytest.mark.parametrize(("prompt", "submission"), [READLINE, ZLE], ids=["readline", "zle"])
@pytest.mark.parametrize("in_one_read", [True, False])
def test_a_line_editor_and_its_pairs(pane: ScriptedPane, prompt: str, submission: str, in_one_read: bool) -> None:
    pane.prints(prompt)
    for number in range(3):
        pane.rests()
        pane.sends(f"echo {number}", painted=f"\x1b[7mecho {number}\x1b[27m")
        output = submission + f"{number}\r\n" + prompt
        pane.prints(output, read_size=None if in_one_read else 1)
    pane.ends()
    assert pane.said() == ["0", "1", "2"]
    assert pane.said("injected") == ["echo 0", "echo 1", "echo 2"]
    assert pane.said("typed") == []
    starts = [event.message_id for event in pane.events if isinstance(event, TurnStarted)]
    ends = [(event.reason, event.certain) for event in pane.events if isinstance(event, TurnEnded)]
    assert starts == ["m1", "m2", "m3"]
    assert ends == [("composer", True)] * 3


@pytest.mark.requirement("DEL-02a")
def test_several_lines_in_a_line_editor_are_one_message(pane: ScriptedPane) -> None:
    """bash 5.2 as recorded: highlighted, then painted again from the top at the Enter."""
    pane.prints(f"{BRACKETS_ON}$ ")
    pane.rests()
    pane.sends("echo one\necho two", painted="\x1b[7mecho one\x1b[27m\r\n\r\x1b[7mecho two\x1b[27m")
    pane.prints(f"\x1b[A\r\x1b[C\x1b[Cecho one\r\n\recho two\r\n{BRACKETS_OFF}\rone\r\ntwo\r\n{BRACKETS_ON}$ ")
    pane.ends()
    assert pane.said() == ["one", "two"]
    assert {event.message_id for event in pane.texts() if event.origin != "program"} == {"m1"}
    assert [event.message_id for event in pane.events if isinstance(event, TurnStarted)] == ["m1"]


@pytest.mark.requirement("DEL-01")
def test_output_without_a_line_feed_before_a_line_editors_prompt(pane: ScriptedPane) -> None:
    prompt, submission = READLINE
    pane.prints(prompt)
    pane.rests()
    pane.sends("printf x", painted="printf x")
    pane.prints(f"{submission}x{prompt}")
    pane.rests()
    pane.sends("true", painted="true")
    pane.prints(f"{submission}{prompt}")
    pane.ends()
    assert origins(pane) == [("printf x", "injected"), ("x", "program"), ("true", "injected")]


@pytest.mark.requirement("DEL-01")
def test_output_without_a_line_feed_loses_the_mark_zsh_puts_behind_it(pane: ScriptedPane) -> None:
    """PROMPT_SP: a highlighted `%`, blanks to the edge, and a carriage return onto the next row if there was output."""
    prompt, submission = ZLE
    pane.prints(prompt)
    pane.rests()
    prompt = "\x1b[7m%\x1b[27m" + " " * 79 + "\r \r\r\x1b[J" + prompt
    pane.sends("printf x", painted="printf x")
    pane.prints(f"{submission}x{prompt}")
    pane.rests()
    pane.sends("true", painted="true")
    pane.prints(f"{submission}{prompt}")
    pane.ends()
    assert origins(pane) == [("printf x", "injected"), ("x", "program"), ("true", "injected")]


def test_output_without_a_line_feed_before_a_plain_prompt(pane: ScriptedPane) -> None:
    pane.prints(">>> ")
    pane.rests()
    pane.sends("print('x', end='')", painted="print('x', end='')")
    pane.prints("\r\nx>>> ")
    pane.rests()
    pane.sends("1", painted="1")
    pane.prints("\r\n1\r\n>>> ")
    pane.ends()
    assert pane.said() == ["x", "1"]


def test_a_withdrawal_that_nobody_asked_for_swallows_nothing(pane: ScriptedPane) -> None:
    pane.prints(f"one\r\ntwo{BRACKETS_OFF}\r\nthree\r\n")
    pane.ends()
    assert origins(pane) == [("one", "program"), ("two", "program"), ("three", "program")]
    assert [event.reason for event in pane.events if isinstance(event, TurnEnded)] == ["quiet"]


def test_what_a_program_says_in_leaving_is_its_own(pane: ScriptedPane) -> None:
    pane.prints(f"{BRACKETS_ON}Welcome\r\n")
    pane.rests()
    pane.prints(f"bye\r\n{BRACKETS_OFF}")
    pane.ends()
    assert pane.said() == ["Welcome", "bye"]


@pytest.mark.requirement("DEL-01")
def test_a_program_started_from_a_shell_is_heard_although_it_asks_for_bracketed_paste(pane: ScriptedPane) -> None:
    for command in ("true", "agent"):
        pane.prints(f"{BRACKETS_ON}$ ")
        pane.rests()
        pane.prints(command)
        pane.rests(0.1)
        pane.prints(f"\r\n{BRACKETS_OFF}\r")
    pane.prints(BRACKETS_ON)
    pane.rests()
    pane.sends("hello")
    pane.prints("> hello\r\nHi!\r\n")
    pane.rests()
    pane.sends("more")
    pane.prints("> more\r\nYes.\r\n")
    pane.rests()
    assert pane.said() == ["Hi!", "Yes."]


@pytest.mark.requirement("DEL-01")
def test_the_echo_of_a_message_that_is_pasted_anew_is_due_once(pane: ScriptedPane) -> None:
    """Seed 216 of tests/faults: the daemon that noted the first paste died before it; all later echoes were said."""
    pane.pastes("Wim (3):\n\nhello", "again")
    for number, text in enumerate(("Wim (3):\n\nhello", "Una (1):\n\nmore", "Wim (3):\n\nyes", "Una (1):\n\nand so")):
        message_id = pane.pastes(text, "again" if number == 0 else None)
        pane.prints(text.replace("\n", "\r\n"))
        pane.rests(0.1)
        pane.submits(message_id)
        pane.prints(f"\r\nanswer {number}\r\n")
        pane.rests(0.1)
    pane.ends()
    assert pane.said() == ["answer 0", "answer 1", "answer 2", "answer 3"]


@pytest.mark.requirement("DEL-02a", "DLV-07a")
@pytest.mark.parametrize("behind", ["", "re first"])
def test_an_echo_that_was_missed_may_have_output_behind_it(pane: ScriptedPane, behind: str) -> None:
    """What a dead daemon had pasted and submitted is echoed in the output that is recovered, all of it at once."""
    pane.prints("begun\r\n")
    for text in ("Vic (2):\n\nsecond", "Una (1):\n\nthird"):
        pane.submits(pane.pastes(text))
    pane.events += pane.stream.apply(Missed(pane.now, "%0", "detached", lost_lines=0))
    pane.prints(f"Vic (2):\r\n\r\nsecond{behind}\r\n\r\nUna (1):\r\n\r\nthird\r\nre second\r\n")
    pane.ends()
    assert [line for line in pane.said() if line] == ["begun", *filter(None, [behind]), "re second"]
    assert [line for line in pane.said("injected") if line] == ["Vic (2):", "second", "Una (1):", "third"]


@pytest.mark.requirement("DEL-02a", "DLV-07a")
@pytest.mark.parametrize("mark", ["> ", "", "    "])
def test_an_echo_that_was_missed_may_be_painted_late(pane: ScriptedPane, mark: str) -> None:
    pane.prints(BRACKETS_ON)
    pane.submits(pane.pastes("first"))
    pane.events += pane.stream.apply(Missed(pane.now, "%0", "detached", lost_lines=0))
    pane.prints(f"about something else\r\n{mark}first\r\nre first\r\n")
    pane.ends()
    assert pane.said() == ["about something else", "re first"]


@pytest.mark.requirement("DEL-02a", "DEL-02b")
def test_a_message_that_was_never_echoed_in_a_gap_takes_no_later_words(pane: ScriptedPane) -> None:
    pane.prints("begun\r\n")
    pane.submits(pane.pastes("first"))
    pane.events += pane.stream.apply(Missed(pane.now, "%0", "detached", lost_lines=0))
    pane.prints("re first\r\n")
    pane.rests(5.0)
    pane.sends("hello there", painted="hello there")
    pane.prints("\r\nfirst of all\r\n")
    pane.ends()
    assert [line for line in pane.said() if line] == ["begun", "re first", "first of all"]
    assert pane.said("injected") == ["hello there"]


@pytest.mark.requirement("DEL-02b")
@pytest.mark.parametrize("lost_lines", [None, 3])
def test_an_echo_that_is_lost_in_a_gap_is_not_looked_for_in_later_words(
    pane: ScriptedPane, lost_lines: int | None
) -> None:
    pane.submits(pane.pastes("y"))
    pane.events += pane.stream.apply(Missed(pane.now, "%0", "detached", lost_lines=lost_lines))
    pane.prints("your files are safe\r\n")
    pane.ends()
    assert pane.said() == ["your files are safe"]
