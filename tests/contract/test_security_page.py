"""docs/security.md names a test for each threat, and every test that it names exists."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]


def test_each_threat_names_a_test_that_exists() -> None:
    table = [line for line in (ROOT / "docs" / "security.md").read_text().splitlines() if line.startswith("| ")]
    rows = [line.strip("| ").split(" | ") for line in table[1:]]
    assert len(rows) > 10
    sources = "\n".join(path.read_text() for path in (ROOT / "tests").rglob("test_*.py"))
    defined = set(re.findall(r"def (test_\w+)\(", sources))
    named = [re.findall(r"`(test_\w+)`", row[-1]) for row in rows]
    assert all(named)
    assert not [name for names in named for name in names if name not in defined]
