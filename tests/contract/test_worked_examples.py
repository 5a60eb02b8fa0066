"""The worked examples of docs/contributing.md: what one takes to add a profile, a rule, an event and a service call.

Each example is read from the page, carried out in a copy of the project, and used there. The page says what to do in
one form: `Put **FILE**`, `Change **FILE**` or `Append to **FILE**`, then a block with the text, or blocks with diffs.
"""

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import pytest

from tests.tracked_files import ROOT, tracked_files

CORPUS = "tests/corpus/"
"""Megabytes of recordings, which a copy shares with the project."""
INSTRUCTION = re.compile(
    r"(?P<verb>Put|Change|Append to)\s+\*\*(?P<file>\S+?)\*\*[^:]*:\n\n(?P<blocks>(?:```\w+\n.*?```\n+)+)", re.DOTALL
)
BLOCK = re.compile(r"```\w+\n(.*?)```", re.DOTALL)


@dataclass(frozen=True)
class Step:
    """One thing that an example tells the reader to do with a file."""

    verb: Literal["Put", "Change", "Append to"]
    file: str
    blocks: tuple[str, ...]

    def carry_out(self, copy: Path) -> None:
        """Write the file of the copy as the example says."""
        path = copy / self.file
        match self.verb:
            case "Put":
                assert not path.exists()
                path.write_text(*self.blocks)
            case "Append to":
                path.write_text(path.read_text() + "".join(self.blocks))
            case "Change":
                for block in self.blocks:
                    path.write_text(changed(path.read_text(), block))


def changed(text: str, diff: str) -> str:
    """Return the text after a diff whose lines begin with a blank, a minus or a plus; its place has to be unique."""
    lines = [(line[:1], line[1:]) for line in diff.splitlines(keepends=True)]
    before, after = ("".join(line for sign, line in lines if sign in signs) for signs in (" -", " +"))
    assert text.count(f"\n{before}") == 1, f"no longer fits its file, or more than once:\n{diff}"
    return text.replace(f"\n{before}", f"\n{after}")


def steps(heading: str) -> list[Step]:
    """The steps of the example under a heading of the page."""
    page = (ROOT / "docs" / "contributing.md").read_text()
    section = page.partition(f"\n## {heading}\n")[2].partition("\n## ")[0]
    return [
        Step(found["verb"], found["file"], tuple(BLOCK.findall(found["blocks"])))  # type: ignore[arg-type]
        for found in INSTRUCTION.finditer(section)
    ]


def run(copy: Path, *words: str) -> str:
    paths = os.pathsep.join([str(copy / "cli"), str(copy)])
    done = subprocess.run(
        [sys.executable, *words], cwd=copy, env={**os.environ, "PYTHONPATH": paths}, capture_output=True, text=True,
        timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def differences(copy: Path) -> set[str]:
    """The files in which a copy differs from the project."""
    found = set()
    for path in copy.rglob("*"):
        name = str(path.relative_to(copy))
        if path.is_file() and not {"__pycache__", ".ruff_cache", ".mypy_cache", ".pytest_cache"} & {*path.parts}:
            same = (ROOT / name).is_file() and path.read_bytes() == (ROOT / name).read_bytes()
            found |= set() if same else {name}
    return found


@pytest.fixture
def copy(tmp_path: Path) -> Iterator[Path]:
    """A copy of the project."""
    copy = tmp_path / "project"
    for name in tracked_files():
        if not name.startswith(CORPUS) and (ROOT / name).is_file():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, copy / name)
    (copy / CORPUS).symlink_to(ROOT / CORPUS)
    yield copy
    (copy / CORPUS).unlink()


def carried_out(copy: Path, heading: str, *files: str) -> None:
    """Carry out an example, which takes these files in this order and no others; their style is the project's."""
    example = steps(heading)
    assert [step.file for step in example] == [*files]
    for step in example:
        step.carry_out(copy)
    sources = [file for file in files if file.endswith(".py")]
    if sources:
        run(copy, "-m", "ruff", "check", *sources)
        run(copy, "-m", "ruff", "format", "--check", *sources)
    assert differences(copy) == {*files}


# A program: one file

PROFILE = ("A program: one file", "streamrelay/agents/profiles/lynx.toml")
ASKING = """
from streamrelay.agents import shipped_profiles
from streamrelay.delta.inputs import Output, Ran, Waited
from streamrelay.delta.stream import DeltaStream
from streamrelay.vt import TmuxScreen

for profiles in (shipped_profiles(), ()):
    stream = DeltaStream(TmuxScreen(80, 24), profiles=[profile.reading for profile in profiles])
    stream.apply(Ran(0.0, "%0", "lynx"))
    stream.apply(Output(1.0, "%0", b"\\x1b[HA page.\\x1b[22HAre you sure you want to quit? (y)"))
    stream.apply(Waited(3.0, "%0"))
    print(stream.profile, stream.needs_human)
"""


def test_one_file_is_a_profile(copy: Path) -> None:
    carried_out(copy, *PROFILE)
    assert re.search(
        r"(?m)^lynx +agent +Lynx +lynx +dialogs +built in$", run(copy, "-m", "streamrelay_cli", "profiles")
    )
    assert run(copy, "-c", ASKING).splitlines() == ["lynx confirmation", "generic None"]


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_no_test_misses_a_file_of_the_profile(copy: Path) -> None:
    carried_out(copy, *PROFILE)
    run(copy, "-m", "pytest", "-q", "-m", "not slow", "tests/agents", "tests/cli/test_profiles_command.py")


# A rule of the delta stream: one file

RULE = (
    "A rule of the delta stream: one file",
    "streamrelay/delta/prompt_detection.py",
    "tests/delta/test_one_time_code.py",
)


def test_one_file_is_a_rule_and_its_test_fails_without_it(copy: Path) -> None:
    carried_out(copy, *RULE)
    tests = ("-m", "pytest", "-q", "-p", "no:cacheprovider", RULE[2])
    assert "2 passed" in run(copy, *tests)
    shutil.copy(ROOT / RULE[1], copy / RULE[1])
    with pytest.raises(AssertionError, match="1 failed, 1 passed"):
        run(copy, *tests)


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_the_rule_changes_no_event_of_a_recording(copy: Path) -> None:
    carried_out(copy, *RULE)
    run(copy, "-m", "pytest", "-q", "-m", "not slow", "tests/delta/test_prompt_detection.py", "tests/golden")


# An event: two files

EVENT = (
    "An event: two files",
    "streamrelay/events.py",
    "streamrelay/delta/stream.py",
    "tests/delta/test_bell.py",
    "tests/events/golden.jsonl",
)


def test_two_files_are_an_event_and_its_page_is_generated(copy: Path, tmp_path: Path) -> None:
    carried_out(copy, *EVENT)
    assert run(copy, "scripts/generate.py") == "written: docs/events.md\n"
    assert run(copy, "scripts/generate.py", "--check") == ""
    page = (copy / "docs" / "events.md").read_text()
    section = page.partition("### `bell_rang`\n")[2].partition("\n#")[0]
    assert section == (
        "\nThe program rang the terminal's bell; several rings in a row are one event.\n\n"
        "| field | type | meaning |\n|---|---|---|\n"
        "| `answering` | boolean | Whether the program was answering a message |\n"
    )
    recording = tmp_path / "bell.cast"
    recording.write_text('{"version": 2, "width": 80, "height": 24}\n[0.5, "o", "done\\u0007\\r\\n"]\n')
    lines = run(copy, "-m", "streamrelay_cli", "replay", str(recording), "--json").splitlines()
    bells = [event for event in map(json.loads, lines) if event["event"] == "bell_rang"]
    assert [(event["answering"], event["pane"]) for event in bells] == [(False, "%0")]


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_no_test_misses_a_file_of_the_event(copy: Path) -> None:
    carried_out(copy, *EVENT)
    run(copy, "scripts/generate.py")
    run(copy, "-m", "mypy", "streamrelay")
    run(
        copy, "-m", "pytest", "-q", "-m", "not slow", "tests/events", "tests/delta/test_bell.py",
        "tests/delta/test_stream.py", "tests/contract/test_service_calls.py", "tests/contract/test_class_names.py",
        "tests/daemon/test_daemon_document.py", "tests/docs/test_document_examples.py", "tests/history",
    )  # fmt: skip


# A service call: three files

CALL = (
    "A service call: three files",
    "streamrelay/service/calls/uptime.py",
    "cli/streamrelay_cli/uptime.py",
    "tests/mcp/test_uptime.py",
)
GENERATED = {
    "streamrelay/service/interface.py", "cli/streamrelay_cli/commands.py", "docs/daemon.md", "docs/streamrelay.1",
}  # fmt: skip


def test_three_files_are_a_service_call(copy: Path) -> None:
    carried_out(copy, *CALL)
    written = run(copy, "scripts/generate.py").splitlines()
    assert {line.removeprefix("written: ") for line in written} == GENERATED
    assert differences(copy) == {*CALL[1:]} | GENERATED
    shown = run(copy, "-m", "streamrelay_cli", "--help")
    assert re.search(r"(?m)^  uptime +Show how long the daemon has run\.$", shown), shown
    served = "from streamrelay.service.operations import operations; print(*(one.path for one in operations()))"
    assert "/v1/uptime" in run(copy, "-c", served).split()
    tools = "from streamrelay.mcp.tools import TOOLS; print(*(tool.name for tool in TOOLS))"
    assert run(copy, "-c", tools).split()[-1] == "uptime"
    row = "| `GET /v1/uptime` | `uptime` | Return how long the service has run |"
    assert row in (copy / "docs" / "daemon.md").read_text().splitlines()


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.tmux
def test_the_call_works_and_no_test_misses_a_file(copy: Path) -> None:
    carried_out(copy, *CALL)
    run(copy, "scripts/generate.py")
    run(
        copy, "-m", "pytest", "-q", "-m", "not slow", "tests/mcp/test_uptime.py", "tests/mcp/test_mcp_tools.py",
        "tests/contract/test_service_calls.py", "tests/contract/test_class_names.py", "tests/cli/test_command_line.py",
        "tests/daemon/test_daemon_calls.py", "tests/daemon/test_daemon_document.py", "tests/docs/test_man_page.py",
    )  # fmt: skip
