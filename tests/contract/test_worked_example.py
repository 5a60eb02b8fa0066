"""The worked example of docs/contributing.md: three files add a call to HTTP, client, tools and commands.

The example is read from the page, written into a copy of the project, and used there.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.tracked_files import ROOT, tracked_files

FILES = {
    "streamrelay/service/calls/uptime.py",
    "cli/streamrelay_cli/uptime.py",
    "tests/mcp/test_uptime.py",
}
GENERATED = {"streamrelay/service/interface.py", "cli/streamrelay_cli/commands.py", "docs/streamrelay.1"}
COPIED = ("streamrelay/", "cli/", "scripts/", "tests/", "docs/", "README.md", "pyproject.toml")
LEFT_OUT = "tests/corpus/"
"""Megabytes of recordings; no test of the example reads them."""


def example() -> dict[str, str]:
    """The files of the example by their paths, as the page has them."""
    page = (ROOT / "docs" / "contributing.md").read_text()
    section = page[page.index("## A service call: three files") :]
    return dict(re.findall(r"Put \*\*(\S+)\*\*:\n\n```python\n(.*?)```", section, re.DOTALL))


def run(copy: Path, *words: str) -> str:
    paths = os.pathsep.join([str(copy / "cli"), str(copy)])
    done = subprocess.run(
        [sys.executable, *words], cwd=copy, env={**os.environ, "PYTHONPATH": paths}, capture_output=True, text=True,
        timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """A copy of the project with the three files, and nothing else changed."""
    copy = tmp_path / "project"
    for name in tracked_files():
        if name.startswith(COPIED) and not name.startswith(LEFT_OUT) and (ROOT / name).is_file():
            (copy / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, copy / name)
    for name, text in example().items():
        assert not (copy / name).exists()
        (copy / name).write_text(text)
    return copy


def test_three_files_are_enough(copy: Path) -> None:
    assert example().keys() == FILES
    written = run(copy, "scripts/generate.py").splitlines()
    assert {line.removeprefix("written: ") for line in written} == GENERATED
    changed = {
        str(path.relative_to(copy))
        for path in copy.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
        and not ((ROOT / path.relative_to(copy)).is_file()
                 and (ROOT / path.relative_to(copy)).read_bytes() == path.read_bytes())
    }  # fmt: skip
    assert changed == FILES | GENERATED
    shown = run(copy, "-m", "streamrelay_cli", "--help")
    assert re.search(r"(?m)^  uptime +Show how long the daemon has run\.$", shown), shown
    served = "from streamrelay.service.operations import operations; print(*(one.path for one in operations()))"
    assert "/v1/uptime" in run(copy, "-c", served).split()
    tools = "from streamrelay.mcp.tools import TOOLS; print(*(tool.name for tool in TOOLS))"
    assert run(copy, "-c", tools).split()[-1] == "uptime"


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.tmux
def test_the_example_works_and_no_test_misses_a_file(copy: Path) -> None:
    run(copy, "scripts/generate.py")
    run(copy, "-m", "ruff", "check", *FILES)
    run(copy, "-m", "ruff", "format", "--check", *FILES)
    run(
        copy, "-m", "pytest", "-q", "-m", "not slow", "tests/mcp/test_uptime.py", "tests/mcp/test_mcp_tools.py",
        "tests/contract/test_service_calls.py", "tests/contract/test_class_names.py", "tests/cli/test_command_line.py",
        "tests/daemon/test_daemon_calls.py", "tests/daemon/test_daemon_document.py", "tests/docs/test_man_page.py",
    )  # fmt: skip
