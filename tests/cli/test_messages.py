"""What commands print, without a tmux server: counts, the order of participants, what comes first, binary files."""

import gzip
import json
from pathlib import Path
from types import SimpleNamespace

import pytest
import typer
from streamrelay_cli.command_group import TYPED, Command
from streamrelay_cli.daemon_commands import extended_by
from streamrelay_cli.gather import invited, start
from streamrelay_cli.live_view import LiveView, notes_on
from streamrelay_cli.output import CommandOutput
from streamrelay_cli.render import render
from typer.main import get_command

from streamrelay.counts import counted, deliveries
from streamrelay.delta.inputs import Output as Printed
from streamrelay.errors import RecordingError
from streamrelay.events import LinkExtended, LinkSpent, RelayOpened
from streamrelay.learning import learn


def test_one_thing_is_in_the_singular() -> None:
    assert [counted(number, "session") for number in (0, 1, 2, 1204)] == [
        "0 sessions", "1 session", "2 sessions", "1,204 sessions",
    ]  # fmt: skip
    assert deliveries(1) == "1 delivery"
    assert list(notes_on(LinkSpent(link="l", deliveries=1))) == ["the link is spent after 1 delivery"]
    assert list(notes_on(LinkExtended(link="l", deliveries=1, budget=2))) == ["the link is open for 1 more delivery"]


@pytest.mark.parametrize(
    ("added", "before", "after", "words"),
    [
        (2, 0, 2, "2 deliveries added, 2 left"),
        (2, 0, 0, "2 deliveries added, 2 used at once, 0 left"),
        (1, -3, -2, "1 delivery added, 1 used at once, 0 left"),
        (2, None, None, "the link has no limit"),
    ],
)
def test_what_becomes_of_an_extended_budget_is_said(added, before, after, words) -> None:
    assert extended_by(added, before, after) == words


def test_participants_are_numbered_as_typed_over_all_options() -> None:
    typed_app = typer.Typer()
    typed_app.command(cls=Command)(start)
    command = get_command(typed_app)
    words = ["--human", "You", "--harvester", "Old=x", "--speaker", "Sage=claude", "--harvester", "Ada=codex",
             "--human=Eve", "--speaker", "9:Rex=codex"]  # fmt: skip
    context = command.make_context("start", words)
    given = {name: context.params[name] for name in ("speaker", "human", "harvester")}
    order = [name for name in context.meta[TYPED] if name in given]
    found = invited(given["speaker"], given["human"], given["harvester"], order)
    assert [(one.number, one.name) for one in found] == [(1, "You"), (2, "Sage"), (3, "Ada"), (4, "Eve"), (9, "Rex")]
    assert [one.name for one in invited(["Sage=x"], ["You"], "Ada=y")] == ["Sage", "You", "Ada"]
    assert [(one.session, one.is_human) for one in invited([], ["Eva=@@beta"], "")] == [("@beta", True)]


def test_who_hears_whom_is_said_before_the_keys(capsys) -> None:
    view = LiveView(CommandOutput(), SimpleNamespace(traffic={}))
    view._takes_keys = True
    view.publish(RelayOpened(relay="r", participants=("Ann (1)", "Bob (2)")))
    told = capsys.readouterr().err.splitlines()
    assert told == ["Ann (1) and Bob (2) hear each other; Ctrl-C ends", "keys: p pauses, m and a number mutes, q stops"]


@pytest.mark.parametrize("as_json", [False, True])
def test_a_recording_is_rendered_and_no_binary_is_printed(tmp_path: Path, capsys, as_json: bool) -> None:
    file = tmp_path / "talk.jsonl.gz"
    line = json.dumps({"t": 0.0, "dir": "out", "line": "%output %0 one\\015\\012two"})
    file.write_bytes(gzip.compress(f"{line}\n".encode()))
    render(file, as_json=as_json)
    printed = capsys.readouterr().out
    rows = json.loads(printed)["screen"] if as_json else printed.splitlines()
    assert [row for row in rows if row] == ["one", "two"]


def test_the_hint_of_learn_applies_to_what_record_made() -> None:
    made = SimpleNamespace(columns=80, lines=24, entries=lambda: iter([Printed(0.0, "%0", b"hello\r\n")]))
    with pytest.raises(RecordingError) as raised:
        learn(made, name="x", source="x")
    assert "--command NAME" in raised.value.hint
    assert "notes the command" not in raised.value.hint
