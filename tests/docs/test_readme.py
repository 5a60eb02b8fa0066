"""The README's parts: a contents list that is complete, a comparison without holes, quick starts that run."""

import importlib
import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from streamrelay.testing.agent import PROFILE, read_got
from streamrelay.testing.waiting import wait_until

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text()
COMPARISON = (ROOT / "docs" / "comparison.md").read_text()
OTHERS = ("awslabs/cli-agent-orchestrator", "coder/agentapi", "asheshgoplani/agent-deck", "Claude Code", "herdr")
PATIENCE = 60.0


def slug(heading: str) -> str:
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def table(text: str, heading: str) -> list[list[str]]:
    """Return the cells of the first table behind a heading."""
    lines = text.partition(heading)[2].splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith("|"))
    rows = []
    for line in lines[start:]:
        if not line.startswith("|"):
            break
        rows.append([cell.strip() for cell in line.strip("|").split(" | ")] if "---" not in line else [])
    return [row for row in rows if row]


@pytest.mark.requirement("OPS-13a", "OPS-08a")
def test_it_begins_with_what_it_is_a_picture_and_its_contents() -> None:
    head, _, rest = README.partition("\n## ")
    assert head.startswith("# streamrelay\n\n**streamrelay lets")
    assert "](docs/pictures/demo.svg)" in head
    listed = re.findall(r"\]\(#([\w-]+)\)", head)
    headings = re.findall(r"^##+ (.*)$", f"## {rest}", re.MULTILINE)
    assert listed == [slug(heading) for heading in headings]


@pytest.mark.requirement("OPS-13a")
@pytest.mark.parametrize("text", [README, COMPARISON], ids=["README.md", "comparison.md"])
def test_every_cell_of_the_comparison_is_filled_and_dated(text: str) -> None:
    heading = "## Comparison" if text is README else "# Comparison"
    rows = table(text, heading)
    assert {len(row) for row in rows} == {len(OTHERS) + 2}
    assert all(cell for row in rows for cell in row[1:])
    assert re.search(r"[Aa]s of \w+ 20\d\d", text.partition(heading)[2])


@pytest.mark.requirement("OPS-13a")
def test_every_tool_of_the_comparison_has_its_sources() -> None:
    sources = {row[0]: row[1] for row in table(COMPARISON, "## Sources")}
    for tool in OTHERS:
        (read,) = [read for name, read in sources.items() if tool in name]
        assert re.search(r"`[\w/.-]+` at `[0-9a-f]{7}`|code\.claude\.com/", read), tool


@pytest.mark.requirement("OPS-08a")
def test_its_figures_are_those_of_the_benchmarks() -> None:
    benchmarks = (ROOT / "docs" / "benchmarks.md").read_text().replace("\n", " ")
    figures = {
        "99.1 %": "| stream          | 0.991 ",
        "94.0 %": "94.0 % | 69.0 % | 35.5 | 14 |",
    }
    shown = README.partition("## Figures")[2].partition("\n## ")[0]
    for figure, source in figures.items():
        assert figure in shown, figure
        assert source in benchmarks, figure


MEASURED = """<!-- bench: latency -->
2 cores (Linux), tmux 3.4, Python 3.11.2; medians of 5 runs, lowest and highest in brackets.
Through a relay, from the last line heard to the paste: 6.5 (6.1-7.0) ms, p99 8.0 (7.0-9.0) ms.
<!-- end of bench -->
<!-- bench: polling -->
Polling once a second with libtmux is 40 (30-50) times as late, for 11.3 (9.4-12.5) times the processor time.
| stream                      | 1.5 (1.2-1.9)       | 502.4 (500.0-503) | 16500 | 0    | 0 | 0 | 0.43 (0.4-0.5) | 0.4 |
| capture_pane, libtmux, 1 Hz | 510.2 (500.1-520.3) | 1003.3 (999-1010) | 16500 | 5755 | 0 | 5 | 4.86 (4.6-5.1) | 2.9 |
<!-- end of bench -->
"""


@pytest.mark.requirement("OPS-08a")
def test_its_measured_figures_follow_the_benchmarks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(ROOT / "scripts"))
    with_figures = importlib.import_module("readme_figures").with_figures
    assert with_figures(README, (ROOT / "docs" / "benchmarks.md").read_text()) == README, "run scripts/generate.py"
    shown = with_figures(README, MEASURED)
    for line in (
        "| delay of a line, 100 panes, median | 1.5 (1.2-1.9) ms | 510.2 (500.1-520.3) ms; 40 (30-50) times as long |",
        "| lines lost, five runs | 0 of 16,500 | 5,755 of 16,500 |",
        "| processor time, 30 s of it | 0.43 (0.4-0.5) s | 4.86 (4.6-5.1) s |",
        "A relay pastes 6.5 (6.1-7.0) ms after the last line that it received (median; 2 cores, tmux 3.4).",
    ):
        assert f"\n{line}\n" in shown
    with pytest.raises(SystemExit, match="polling"):
        with_figures(README, MEASURED.replace("<!-- bench: polling -->", ""))


@pytest.mark.requirement("OPS-08b")
def test_the_index_lists_every_document() -> None:
    listed = re.findall(r"^- \[([\w-]+\.md)\]\(\1\): \S", (ROOT / "docs" / "README.md").read_text(), re.MULTILINE)
    assert sorted(listed) == sorted(path.name for path in (ROOT / "docs").glob("*.md") if path.name != "README.md")


@pytest.mark.slow
@pytest.mark.timeout(400)
@pytest.mark.requirement("OPS-13a")
def test_the_quick_starts_run(private_tmux, tmp_path: Path) -> None:
    """Run both quick starts with scripted agents in the place of claude, codex, gemini and opencode."""
    private_tmux.new_session("work", ["cat"])
    profiles = tmp_path / "config" / "streamrelay" / "agents.d"
    profiles.mkdir(parents=True)
    logs = {agent: tmp_path / f"{agent}.log" for agent in ("claude", "codex", "gemini", "opencode")}
    for agent, log in logs.items():
        command = [sys.executable, "-m", "streamrelay.testing.agent", "--log", str(log), "--answer", "Fine."]
        text = PROFILE.replace("Sprite", agent) + f"[start]\ncommand = {json.dumps(command)}\n"
        (profiles / f"{agent}.toml").write_text(text)
    for folder in ("api", "web", "docs", "infra"):
        (tmp_path / folder).mkdir()
    environment = {
        **os.environ,
        "TMUX": f"{private_tmux.socket_path},{private_tmux.server_pid},0",
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "HOME": str(tmp_path),
        "XDG_CONFIG_HOME": str(tmp_path / "config"),
        "XDG_STATE_HOME": str(tmp_path / "state"),
        "XDG_RUNTIME_DIR": str(private_tmux.directory),
    }

    def run(line: str) -> str:
        done = subprocess.run(
            ["bash", "-c", line], cwd=tmp_path, env=environment, stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=PATIENCE, check=False,
        )  # fmt: skip
        assert done.returncode == 0, f"{line}: {done.stderr}"
        return done.stdout

    talk = README.partition("### Two agents talk")[2].partition("    streamrelay ls\n")[0]
    for line in re.findall(r"^    (.*)$", talk, re.MULTILINE):
        run(line)
    wait_until(lambda: any("[From Ann] Fine." in got.text for got in read_got(logs["codex"])), PATIENCE)
    run("streamrelay stop")
    for session in ("Ann", "Bob"):
        run(f"streamrelay end {session}")
    steer = README.partition("### You steer five agents")[2].partition("\nA message waits")[0]
    answers = {
        line: run(line)
        for line in re.findall(r"^    (.*)$", steer, re.MULTILINE)
        if not line.startswith(("streamrelay watch", "streamrelay daemon start")) and line.strip()
    }
    assert "Fine." in next(out for line, out in answers.items() if "--wait" in line)
    listed = next(out for line, out in answers.items() if line.startswith("streamrelay ls"))
    assert all(name in listed for name in ("Ann", "Bob", "Cyd", "Dan", "Eve"))
    run("streamrelay daemon stop")
