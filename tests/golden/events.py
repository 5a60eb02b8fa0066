"""Every event of every recording, as lines of text: the judge of changes that are to change nothing."""

import difflib
import gzip
import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import NamedTuple

from streamrelay.agents import load_profiles
from streamrelay.events import encode
from streamrelay.recordings import is_recording, open_recording, replay

ROOT = Path(__file__).resolve().parents[2]
CORPUS = ROOT / "tests" / "corpus"
FILE = CORPUS / "golden.jsonl.gz"
_FOLDERS = ("agents", "dialogs", "lifecycle", "live")
_LEFT_OUT = {"seq", "at", "host", "session"}


class Change(NamedTuple):
    """How the events of one recording differ."""

    name: str
    gone: list[str]
    new: list[str]


def recordings() -> list[Path]:
    """Return every recording of the corpus: folders, and files of live panes."""
    found = {path.parent for path in CORPUS.glob("*/**/stream.jsonl.gz")}
    found |= {path for path in CORPUS.glob("live/**/*.gz") if path.name != "stream.jsonl.gz" and is_recording(path)}
    return sorted(path for path in found if path.relative_to(CORPUS).parts[0] in _FOLDERS)


def name_of(recording: Path) -> str:
    """Return a recording's name: its path in the corpus."""
    return recording.relative_to(CORPUS).as_posix()


def lines_of(recording: Path) -> list[str]:
    """Return the events that a replay of a recording gives, one line each; `live` ones are left out: they are many."""
    profiles = [profile.reading for profile in load_profiles()]
    lines = []
    for event in replay(open_recording(recording), profiles):
        fields = json.loads(encode(event))
        if fields["event"] != "live":
            lines.append(json.dumps({key: fields[key] for key in fields if key not in _LEFT_OUT}, ensure_ascii=False))
    return lines


def all_lines(jobs: int = 2) -> dict[str, list[str]]:
    """Return the events of all recordings."""
    found = recordings()
    with ProcessPoolExecutor(jobs) as pool:
        return dict(zip(map(name_of, found), pool.map(lines_of, found, chunksize=4), strict=True))


def read() -> dict[str, list[str]]:
    """Return the events as they were written down."""
    with gzip.open(FILE, "rt", encoding="utf-8") as file:
        return {kept["name"]: kept["events"] for kept in map(json.loads, file)}


def write(events: Mapping[str, list[str]]) -> None:
    """Write the events down; the same events give the same bytes."""
    text = "".join(json.dumps({"name": name, "events": events[name]}) + "\n" for name in sorted(events))
    FILE.write_bytes(gzip.compress(text.encode(), mtime=0))


def changes(before: Mapping[str, list[str]], after: Mapping[str, list[str]]) -> Iterator[Change]:
    """Yield what differs, recording by recording."""
    for name in sorted({*before, *after}):
        old, new = before.get(name, []), after.get(name, [])
        if old != new:
            diff = list(difflib.unified_diff(old, new, n=0, lineterm=""))[2:]
            gone = [line[1:] for line in diff if line.startswith("-")]
            yield Change(name, gone, [line[1:] for line in diff if line.startswith("+")])


def kinds(lines: Iterable[str]) -> Counter[str]:
    """Count events by kind, texts by origin as well."""
    counted: Counter[str] = Counter()
    for line in lines:
        fields = json.loads(line)
        counted[" ".join(filter(None, (fields["event"], fields.get("origin", ""))))] += 1
    return counted
