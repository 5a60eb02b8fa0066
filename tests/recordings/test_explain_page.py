"""The page holds every cell over time with the bytes that painted it, and nothing that a pane printed runs in it."""

import json
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from streamrelay.delta.inputs import Began
from streamrelay.recordings import Output, RecordingWriter, open_recording
from streamrelay.recordings.explanation import explain
from streamrelay.recordings.page import page
from streamrelay.vt import TmuxScreen
from streamrelay.vt.engine import Cursor, Snapshot

CORPUS = Path(__file__).parents[1] / "corpus" / "agents"
BROWSER = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
ATTACK = "</script><script>document.title='owned'</script><img src=x onerror=\"document.title='owned'\">"
HOSTILE = f"{ATTACK} <!-- &lt; \u202eevil\u202c \u2066iso\u2069 zero\u200bwidth $title {{}} \\u003c"


def made(path: Path) -> str:
    return page(path.name, explain(open_recording(path)))


def data_of(text: str) -> Any:
    found = re.search(r'<script id="data" type="application/json">(.*?)</script>', text, re.DOTALL)
    assert found is not None
    return json.loads(found[1])


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    path = tmp_path / "hostile<b>\u202e.cast"
    header = {"version": 2, "width": 200, "height": 24}
    printed = f"{HOSTILE}\r\n日本 \x1b]0;{ATTACK}\x07ok\r\n"
    path.write_text(json.dumps(header) + "\n" + json.dumps([0.5, "o", printed]) + "\n")
    return path


def snapshots(pane: dict[str, Any]) -> list[tuple[float, list[str]]]:
    """Put the snapshots together as the page does."""
    told: list[tuple[float, list[str]]] = []
    rows: dict[int, str] = {}
    for t, height, changes in pane["snapshots"]:
        for y, row, state in changes:
            rows[y] = "" if row < 0 else pane["rows"][row][state][1]
        told.append((t, [rows.get(y, "") for y in range(height)]))
    return told


@pytest.mark.requirement("DEL-09c")
@pytest.mark.parametrize("name", ["claude/tool", "codex/short", "gemini/short", "opencode/short", "bash/short"])
def test_every_snapshot_is_the_screen_at_that_time(name: str) -> None:
    recording = open_recording(CORPUS / name)
    told = snapshots(data_of(page(name, explain(recording)))["panes"]["%0"])
    assert len(told) > 2
    screen = TmuxScreen(recording.columns, recording.lines)
    shown: dict[float, list[str]] = {}
    for entry in recording.entries():
        if isinstance(entry, Output):
            screen.feed(entry.data)
            shown[entry.t] = [row.rstrip() for row in screen.text()]
    for t, rows in told:
        assert rows == shown[t]
    assert told[-1][1] == [row.rstrip() for row in screen.text()]


@pytest.mark.requirement("DEL-09c")
@pytest.mark.parametrize("name", ["claude/tool", "codex/short", "opencode/short", "bash/short"])
def test_every_cell_has_the_bytes_that_painted_it(name: str) -> None:
    recording = open_recording(CORPUS / name)
    output = b"".join(entry.data for entry in recording.entries() if isinstance(entry, Output))
    times = {entry.t for entry in recording.entries() if isinstance(entry, Output)}
    pane = data_of(page(name, explain(recording)))["panes"]["%0"]
    cells = 0
    for states in pane["rows"]:
        for _, text, runs in states:
            at = 0
            for length, number in zip(runs[::2], runs[1::2], strict=True):
                t, start, stop, _ = pane["spans"][number]
                assert t in times
                painted = output[start:stop].decode(errors="replace")
                for glyph in text[at : at + length]:
                    assert glyph in painted or not glyph.isascii() or glyph == " "
                    cells += 1
                at += length
            assert at == len(text)
    assert cells > 50


@pytest.mark.requirement("DEL-09c")
def test_each_line_has_its_rule_its_turn_and_its_votes(tmp_path: Path) -> None:
    data = data_of(made(CORPUS / "claude" / "tool"))
    [line] = [line for line in data["lines"] if line["text"] == "I will run one command first."]
    assert (line["verdict"], line["rule"], line["turn"]) == ("program", "answer", 1)
    assert {vote[0] for vote in data["ends"][line["end"]]["votes"]} == {"title", "furniture", "quiet"}
    [row] = line["rows"]
    assert "I will run one command first." in data["panes"]["%0"]["rows"][row][-1][1]
    assert {kind for _, kind, _ in data["panes"]["%0"]["marks"]} >= {"pasted", "submitted", "turn ended"}


def test_the_page_loads_nothing_and_names_no_other_place() -> None:
    text = made(CORPUS / "claude" / "tool")
    shell = re.sub(r'<script id="data".*?</script>', "", text, flags=re.DOTALL)
    assert re.search(r"https?:|//[a-z]|@import|url\(|\bsrc=|\bhref=|fetch\(|innerHTML|eval\(", shell) is None
    assert "default-src 'none'" in shell


def test_nothing_that_a_pane_printed_is_markup(hostile: Path) -> None:
    text = made(hostile)
    assert text.count("<script") == 2
    assert text.count("</script>") == 2
    assert "<img" not in text
    assert "<b>" not in text
    assert text.isascii() or "\u202e" not in text
    data = data_of(text)
    said = [line["text"] for line in data["lines"] if line["verdict"] == "program"]
    assert ATTACK in said[0]
    assert all(character in said[0] for character in "\u202e\u2066$")


def in_browser(text: str, folder: Path) -> str:
    """Return the document as a browser has it when the page's script is done."""
    assert BROWSER is not None
    file = folder / "page.html"
    file.write_text(text)
    options = ["--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={folder / 'profile'}"]
    run = subprocess.run(
        [BROWSER, *options, "--virtual-time-budget=3000", "--dump-dom", file.as_uri()],
        capture_output=True,
        text=True,
        timeout=90,
        check=True,
    )
    return run.stdout


in_a_browser = pytest.mark.skipif(BROWSER is None, reason="no Chromium here")


@in_a_browser
@pytest.mark.requirement("DEL-09c")
def test_a_browser_shows_it_and_runs_nothing_of_the_pane(hostile: Path, tmp_path: Path) -> None:
    shown = in_browser(made(hostile), tmp_path)
    drawn = re.sub(r"<script.*?</script>", "", shown.partition("<body>")[2], flags=re.DOTALL)
    assert "<title>owned" not in shown
    assert "&lt;/script&gt;&lt;script&gt;" in drawn
    assert "<img" not in drawn
    assert "\u202e" not in drawn
    assert '<span class="odd">U+202E</span>' in drawn
    assert 'aria-selected="true"' in drawn
    assert '<div class="mine">' in drawn


ACTS = """
const press = (key, on = document.body) => on.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
const told = [];
const tell = () => told.push([chosen.line, chosen.snapshot, document.querySelectorAll("#screen .chosen").length > 0]);
tell();
press("j"); tell();
press("ArrowUp", list); tell();
press(","); tell();
at("time").value = 0; at("time").dispatchEvent(new Event("input")); tell();
press("ArrowDown", list); tell();
document.querySelector("#screen .cells").click(); tell();
document.querySelector("#bytes [aria-pressed=true]").click(); tell();
at("find").value = "no such line at all"; at("find").dispatchEvent(new Event("input"));
told.push([list.children.length, at("none").hidden]);
document.title = JSON.stringify(told);
"""


@pytest.mark.slow
@in_a_browser
@pytest.mark.requirement("DEL-09c")
def test_it_is_used_by_keyboard_and_by_touch(tmp_path: Path) -> None:
    text = re.sub(r"<meta http-equiv.*?>", "", made(CORPUS / "claude" / "tool"))
    shown = in_browser(text.replace("</body>", f"<script>{ACTS}</script></body>"), tmp_path)
    title = re.search(r"<title>(.*?)</title>", shown)
    assert title is not None
    began, down, up, earlier, first, again, cell, unchosen, found = json.loads(title[1].replace("&quot;", '"'))
    assert (down[0], up[0]) == (began[0] + 1, began[0])
    assert earlier == [up[0], up[1] - 1, False]
    assert first[1] == 0
    assert again[0] == began[0] + 1
    assert (cell[2], unchosen[2]) == (True, False)
    assert found == [0, False]


def test_rows_that_stood_there_before_have_no_bytes(tmp_path: Path) -> None:
    screen = Snapshot(20, 3, (b"old \x1b[1mrow\x1b[m", b"", b""), (False,) * 3, Cursor(0, 1))
    with RecordingWriter(tmp_path / "a.jsonl") as writer:
        writer.write([Began(0.0, "%3", "work", "sh", "", screen), Output(0.5, "%3", b"new row\r\n")])
    pane = data_of(made(tmp_path / "a.jsonl"))["panes"]["%3"]
    painted = {states[-1][1]: [pane["spans"][number] for number in states[-1][2][1::2]] for states in pane["rows"]}
    assert [(start, stop) for _, start, stop, _ in painted["old row"]] == [(0, 0)]
    assert [(start, stop) for _, start, stop, _ in painted["new row"]] == [(0, 9)]
    assert snapshots(pane)[-1][1] == ["old row", "new row", ""]


def test_a_pane_that_said_nothing_has_a_page(tmp_path: Path) -> None:
    screen = Snapshot(20, 3, (b"old row", b"", b""), (False,) * 3, Cursor(0, 1))
    with RecordingWriter(tmp_path / "a.jsonl") as writer:
        writer.write([Began(0.0, "%3", "work", "cat", "", screen)])
    pane = data_of(made(tmp_path / "a.jsonl"))["panes"]["%3"]
    assert [states[-1][1] for states in pane["rows"] if states] == ["old row"]
    assert [(span[0], span[1], span[2]) for span in pane["spans"]] == [(0.0, 0, 0)]
