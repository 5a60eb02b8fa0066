"""The manual page is that of today's commands, and roff has nothing to complain of."""

import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "streamrelay.1"


def test_the_page_is_what_the_script_writes() -> None:
    written = subprocess.run(
        [sys.executable, ROOT / "scripts" / "man_page.py"], capture_output=True, text=True, check=True
    ).stdout
    assert PAGE.read_text() == written, "python scripts/man_page.py > docs/streamrelay.1"


def test_each_command_has_its_section_and_text_is_no_request() -> None:
    page = PAGE.read_text()
    sections = re.findall(r"^\.SS (.*)$", page, re.MULTILINE)
    assert {"watch", "link", "gather start", "council", "daemon stop", "doctor"} <= {*sections}
    assert {line.split()[0] for line in page.splitlines() if line.startswith((".", "'"))} == {
        ".TH", ".SH", ".SS", ".PP", ".TP",
    }  # fmt: skip


@pytest.mark.skipif(shutil.which("groff") is None, reason="groff is not installed")
def test_roff_formats_it_without_a_warning() -> None:
    done = subprocess.run(
        ["groff", "-man", "-ww", "-z", "-Tutf8", PAGE], capture_output=True, text=True, check=True
    )  # fmt: skip
    assert done.stderr == ""
