"""`explain`: every line in one row, one line in full, as JSON; nothing hostile reaches the terminal."""

import json
import stat
from pathlib import Path

import pytest
from streamrelay_cli.explain import LEAST, _fitted

from streamrelay import errors
from streamrelay.vt.widths import unicode14

CORPUS = Path(__file__).parents[1] / "corpus" / "agents"
TOOL = str(CORPUS / "claude" / "tool")


@pytest.mark.requirement("OPS-02b", "DEL-09b")
def test_every_line_of_a_recording_has_its_row(cli):
    heading, *rows = cli.run("explain", TOOL, server=False).stdout.splitlines()
    assert heading.split() == ["TIME", "TURN", "SAID", "AS", "RULE", "LINE"]
    listed = {tuple(row.split(maxsplit=4)[1:4]) for row in rows}
    assert {("1", "program", "answer"), ("1", "activity", "corner"), ("1", "-", "composer")} <= listed


@pytest.mark.requirement("DEL-09b")
def test_a_line_is_explained_in_full(cli):
    shown = cli.run("explain", TOOL, "printed three lines", server=False).stdout
    assert "said as the program's at" in shown
    assert "rule      answer: " in shown
    assert "by signal, certain; votes: title idle since" in shown
    assert r"\e[8AThe\e[7Gtool" in shown
    assert cli.run("explain", TOOL, "tool-out-2", server=False).stdout.count("reported as activity") == 1


@pytest.mark.sampled(2)
@pytest.mark.parametrize("arguments", [(), ("e",)])
@pytest.mark.parametrize("name", ["claude/tool", "gemini/unicode", "codex/long3k_lines"])
def test_it_fits_a_hundred_columns(cli, name, arguments):
    shown = cli.run("explain", str(CORPUS / name), *arguments, server=False).stdout
    assert max(len(unicode14().cells(line)) for line in shown.splitlines()) <= 100


@pytest.mark.parametrize("columns", [100, 10, 1, -200])
@pytest.mark.parametrize("text", ["x" * 500, "漢" * 500])
def test_a_text_is_fitted_where_hardly_a_column_is_left(text, columns):
    assert len(unicode14().cells(_fitted(text, columns))) <= max(columns, LEAST)


def test_json_has_all_of_it(cli):
    lines = cli.run("explain", TOOL, "--json", server=False).stdout.splitlines()
    explained = [json.loads(line) for line in lines]
    said = [line for line in explained if line["verdict"] == "program"]
    events = map(json.loads, cli.run("replay", TOOL, "--json", server=False).stdout.splitlines())
    assert [(line["seq"], line["text"]) for line in said] == [
        (event["seq"], event["text"]) for event in events if event["event"] == "text" and event["origin"] == "program"
    ]
    assert all(line["turn_ended"]["votes"] for line in said)
    assert {"t", "start", "stop", "bytes"} == set(said[0]["rows"][0]["paintings"][0])


def test_only_one_turn_and_with_nothing_known_of_the_program(cli):
    two = str(CORPUS / "aider" / "two")
    first = cli.run("explain", two, "--turn", "2", "--no-profiles", server=False).stdout
    assert {row.split()[1] for row in first.splitlines()[1:]} == {"2"}


def test_a_turn_that_does_not_exist_is_an_error_that_names_the_turns(cli):
    explained = cli.run("explain", TOOL, "--turn", "99", server=False)
    turns = sorted(
        {line["turn"] for line in map(json.loads, cli.run("explain", TOOL, "--json", server=False).stdout.splitlines())}
    )
    assert (explained.returncode, explained.stdout) == (errors.UsageError.exit_code, "")
    assert turns == [*range(turns[0], turns[-1] + 1)]
    shown = f"{turns[0]} to {turns[-1]}" if len(turns) > 1 else str(turns[0])
    assert explained.stderr == f"error: no line of this recording belongs to turn 99\nhint: its turns: {shown}\n"


def test_a_text_that_never_stood_there_is_an_error(cli):
    explained = cli.run("explain", TOOL, "never\x1b[2Jpainted", server=False)
    assert (explained.returncode, explained.stdout) == (errors.UsageError.exit_code, "")
    assert explained.stderr.startswith("error: no line of this recording contains")
    assert "\x1b" not in explained.stderr


def test_a_recording_that_is_not_there(cli, tmp_path):
    explained = cli.run("explain", str(tmp_path / "nothing"), server=False)
    assert explained.returncode == errors.RecordingError.exit_code


def test_hostile_output_is_explained_harmlessly(cli, tmp_path):
    file = tmp_path / "hostile.cast"
    header = {"version": 2, "width": 20, "height": 5}
    output = "\x1b]0;title\x07ev\u202eil\r\n\x9b2Jback\\slash\x1b[999999;1Hfar\x1b[3J\x1bcreset\ud800\r\n"
    file.write_text(json.dumps(header) + "\n" + json.dumps([0.5, "o", output]) + "\n")
    shown = cli.run("explain", str(file), "e", server=False).stdout
    assert "reset" in shown
    assert not {"\x1b", "\u202e", "\x07", "\x9b"} & set(shown)


@pytest.mark.requirement("DEL-09c")
def test_a_page_is_written_for_its_owner_and_replaces_nothing_unasked(cli, tmp_path):
    page = tmp_path / "page.html"
    run = cli.run("explain", TOOL, "printed three", "--html", str(page), server=False)
    assert (run.returncode, run.stdout) == (0, "")
    assert "1 line is in" in run.stderr
    assert stat.S_IMODE(page.stat().st_mode) == 0o600
    assert page.read_text().startswith("<!doctype html>")

    again = cli.run("explain", TOOL, "--html", str(page), server=False)
    assert again.returncode == 2
    assert "--force" in again.stderr
    assert cli.run("explain", TOOL, "--html", str(page), "--force", server=False).returncode == 0
