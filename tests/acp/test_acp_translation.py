"""What a pane's events and dialogs are to a client, and what its prompts are to a pane: no tmux here."""

import pytest
from acp import resource_link_block, text_block
from acp.schema import AgentThoughtChunk, EmbeddedResourceContentBlock, ImageContentBlock, TextResourceContents

from streamrelay.acp.host import printable
from streamrelay.acp.permissions import option_kind, permission_options
from streamrelay.acp.prompts import prompt_text
from streamrelay.acp.terminal_input import TerminalInput
from streamrelay.acp.updates import LiveThoughts, PaneUpdates
from streamrelay.delta.layout.dialogs import Dialog, DialogChoice, find_dialog
from streamrelay.delta.prompt_detection import open_dialog
from streamrelay.errors import UsageError
from streamrelay.events import Activity, Gap, Injected, Text, TurnEnded, TurnStarted
from streamrelay.service.api import OpenDialog
from streamrelay.service.dialogs import dialog_id, dialog_keys
from streamrelay.service.interrupts import is_restored
from tests.acp.client import heard, said, tool_calls


def program(text: str) -> Text:
    return Text(text=text, origin="program")


def updates(*events, own=()):
    translation = PaneUpdates(own)
    return [update for event in events for update in translation.take(event)]


def test_the_chunks_of_a_turn_join_to_its_text():
    told = updates(
        TurnStarted(), program("one"), program(""), program("three"), TurnEnded(reason="quiet", certain=True)
    )
    assert said(told) == "one\n\nthree"


def test_a_turn_or_a_tool_call_begins_another_message():
    told = updates(
        program("one"), Activity(text="Read(file)\n3 lines", seq=7), program("two"), TurnStarted(), program("3")
    )
    assert [said([update]) for update in told] == ["one", "", "two", "3"]
    assert tool_calls(told) == ["Read(file)"]
    assert (told[1].tool_call_id, told[1].content[0].content.text) == ("activity-7", "3 lines")


def test_what_others_send_is_a_user_message_once_and_what_the_client_sends_is_none():
    pasting = [Injected(message_id=one, state="pasting", text=f"text of {one}") for one in ("mine", "theirs")]
    entering = [Injected(message_id=one, state="entering") for one in ("mine", "theirs")]
    echo = Text(text="text of theirs", origin="injected", message_id="theirs")
    typed = Text(text="by hand", origin="typed")
    told = updates(*pasting, *entering, echo, typed, own={"mine"})
    assert heard(told) == "text of theirsby hand"


def test_a_gap_is_told_and_is_no_text():
    told = updates(program("one"), Gap(reason="unreadable"))
    assert said(told) == "one"
    assert "unreadable" in said(told, AgentThoughtChunk)


def test_a_live_line_is_appended_as_it_grows():
    thoughts = LiveThoughts()
    assert [thoughts.take(line) for line in ("Hel", "Hello", "Hello", "", "Bye")] == ["Hel", "lo", "", "", "Bye"]
    assert thoughts.take("Again") == "\nAgain"


def test_a_prompt_is_its_text_and_the_addresses_of_its_resources():
    resource = TextResourceContents(uri="file:///project/a.py", text="x = 1")
    blocks = [
        text_block("Look at "), resource_link_block("b", "file:///project/b.py"),
        EmbeddedResourceContentBlock(type="resource", resource=resource),
    ]  # fmt: skip
    assert prompt_text(blocks) == "Look at /project/b.py\n/project/a.py:\nx = 1\n"


@pytest.mark.parametrize("blocks", [[], [text_block(" ")], [ImageContentBlock(type="image", data="", mime_type="a/b")]])
def test_a_prompt_without_text_or_with_an_image_is_refused(blocks):
    with pytest.raises(UsageError):
        prompt_text(blocks)


@pytest.mark.parametrize(
    ("choice", "kind"),
    [
        ("Yes", "allow_once"),
        ("Yes, and don't ask again for touch commands", "allow_always"),
        ("Yes, allow all edits during this session (shift+tab)", "allow_always"),
        ("No, and tell Claude what to do differently (esc)", "reject_once"),
        ("No, never", "reject_always"),
        ("No, exit", "reject_once"),
        ("medium", "allow_once"),
    ],
)
def test_the_words_of_a_choice_say_its_kind(choice, kind):
    assert option_kind(choice) == kind


def test_an_option_is_known_by_its_place():
    dialog = OpenDialog(session="s", pane="%1", dialog="d", kind="permission", question="?", choices=["Yes", "No"])
    assert [(option.option_id, option.name) for option in permission_options(dialog)] == [("0", "Yes"), ("1", "No")]


PERMISSION = [
    "● I make a file.", "",
    "─" * 40, " Bash command", "", "   touch made.txt", "   Make a file", "",
    " Do you want to proceed?", " ❯ 1. Yes", "   2. Yes, and don't ask again", "   3. No", "", " Esc to cancel",
]  # fmt: skip


def permission(pointed: int = 0) -> Dialog:
    rows = [row.replace("❯", " ") for row in PERMISSION]
    rows[9 + pointed] = f" ❯{rows[9 + pointed][2:]}"
    found = find_dialog(rows, (0, 13), cursor_visible=False)
    assert found is not None
    return found


def test_the_choices_of_a_dialog_are_read_with_their_keys_and_what_they_are_about():
    dialog = permission()
    assert dialog.choices == (
        DialogChoice("Yes", "1"),
        DialogChoice("Yes, and don't ask again", "2"),
        DialogChoice("No", "3"),
    )
    assert dialog.pointed == 0
    assert dialog.context == ("Bash command", "touch made.txt", "Make a file", "Do you want to proceed?")


def test_a_dialog_is_the_same_wherever_it_points_and_another_for_another_command():
    assert dialog_id(permission(0)) == dialog_id(permission(2))
    other = permission()._replace(context=("Bash command", "rm -r ."))
    assert dialog_id(other) != dialog_id(permission())


def test_the_number_of_a_choice_is_pressed_first_then_the_pointer_is_moved():
    assert dialog_keys(permission(), 2, is_first=True) == ("3",)
    assert dialog_keys(permission(), 2, is_first=False) == ("Down", "Down")
    assert dialog_keys(permission(2), 2, is_first=False) == ("Enter",)
    assert dialog_keys(permission(2), 1, is_first=False) == ("Up",)


def test_a_question_at_the_cursor_offers_its_letters_and_one_for_a_secret_nothing():
    dialog = open_dialog("Overwrite it? [y/N] ")
    assert dialog is not None
    assert dialog_keys(dialog, 1, is_first=True) == ("n", "Enter")
    assert open_dialog("Password: ") is None


@pytest.mark.parametrize(
    ("shown", "restored"),
    [("how are", True), ("[Pasted text #1 +5 lines]", True), ("", False), ("my own words", False)],
)
def test_an_interrupted_message_is_told_from_a_draft(shown, restored):
    assert is_restored(shown, "how  are\nyou?") is restored


def test_a_terminal_of_an_agent_prints_no_control_character_and_keeps_joiners():
    assert printable("a\x1b[31mb\r\nc\td\u009b 👩\u200d💻") == "a[31mb\nc\td 👩\u200d💻"


def test_what_is_typed_into_it_is_read_however_the_bytes_are_cut():
    data = "é\x1b[200~one\r\ntwo\x03\x1b[201~\r\x7f\x1b[A\x03".encode()
    whole = TerminalInput().feed(data)
    cut = TerminalInput()
    pieces = [typed for at in range(len(data)) for typed in cut.feed(data[at : at + 1])]
    for read in (whole, pieces):
        assert "".join(typed.text for typed in read) == "éone\ntwo"
        assert [typed.kind for typed in read if typed.kind != "text"] == ["enter", "erase", "interrupt"]


def test_an_escape_alone_is_a_key():
    typing = TerminalInput()
    assert typing.feed(b"\x1b") == []
    assert [typed.kind for typed in typing.flush()] == ["escape"]
    assert typing.flush() == []
