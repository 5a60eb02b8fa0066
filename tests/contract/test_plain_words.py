"""Names and prose use the plain word: these words stay only where they are data (plain_words.toml)."""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
ALLOWED = Path(__file__).with_name("plain_words.toml")
PARTS = ("streamrelay", "cli", "docs", "README.md")
_WORD = re.compile(
    r"(?<![a-z])(?:nobody|whoever|somebody|furniture|burial|deed|manners|politeness)|(?-i:\b_?(?:LONGEST|MOST|FEWEST)_)",
    re.IGNORECASE,
)
_TEXT = {".py", ".md", ".toml", ".js", ".css", ".html", ".txt", ".json", ".svg", ".tcss", ".sh"}

Line = tuple[str, int, str]


def found(files: Mapping[str, str]) -> list[Line]:
    """The places with such a word: path, line number, line."""
    return [
        (path, number, line)
        for path, text in files.items()
        for number, line in enumerate(text.splitlines(), 1)
        for _ in _WORD.findall(line)
    ]


def audit(places: Sequence[Line], allowed: Mapping[str, Any]) -> list[str]:
    """What is wrong, a line each: words outside the allow-list, counts that rose, entries without effect."""
    folders: Mapping[str, int] = allowed["folders"]
    counts = dict.fromkeys(folders, 0)
    used: set[int] = set()
    wrong = []
    for path, number, line in places:
        entries = [
            index
            for index, entry in enumerate(allowed["allowed"])
            if Path(path).match(entry["path"]) and entry["text"] in line
        ]
        used.update(entries)
        if entries:
            continue
        if folder := next((name for name in folders if path == name or path.startswith(f"{name}/")), None):
            counts[folder] += 1
        else:
            wrong.append(f"{path}:{number}: {line.strip()[:100]}")
    wrong += [f"{name}: {counts[name]} words, {most} allowed" for name, most in folders.items() if counts[name] > most]
    wrong += [
        f"no such place any more: {entry['path']}: {entry['text']}"
        for index, entry in enumerate(allowed["allowed"])
        if index not in used
    ]
    return wrong


def _files() -> Iterator[tuple[str, str]]:
    for part in PARTS:
        start = ROOT / part
        for path in sorted(start.rglob("*")) if start.is_dir() else [start]:
            if path.suffix in _TEXT and "__pycache__" not in path.parts:
                yield str(path.relative_to(ROOT)), path.read_text()


def test_no_word_of_the_old_style_is_in_names_or_prose() -> None:
    allowed = tomllib.loads(ALLOWED.read_text())
    assert all(entry["reason"] for entry in allowed["allowed"])
    assert audit(found(dict(_files())), allowed) == []


def test_the_audit_names_each_fault() -> None:
    files = {
        "streamrelay/a.py": "_SOMEBODY = 1\nMOST_ROWS = 2\nmost_rows = indeed\n",
        "streamrelay/b/c.py": "# whoever\n# Nobody's deed\n",
        "docs/d.md": "`nobody`\n",
    }
    allowed = {
        "folders": {"streamrelay/b": 2},
        "allowed": [{"path": "docs/*.md", "text": "`nobody`"}, {"path": "docs/*.md", "text": "gone"}],
    }
    assert audit(found(files), allowed) == [
        "streamrelay/a.py:1: _SOMEBODY = 1",
        "streamrelay/a.py:2: MOST_ROWS = 2",
        "streamrelay/b: 3 words, 2 allowed",
        "no such place any more: docs/*.md: gone",
    ]
