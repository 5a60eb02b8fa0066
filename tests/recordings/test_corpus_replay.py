"""Recorded sessions through the whole pipeline: what linear programs said comes out line by line, and nothing else."""

import gzip
import json
import random
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from streamrelay.events import Event, Text, encode
from streamrelay.recordings import Input, Output, open_recording, replay

CORPUS = Path(__file__).parents[1] / "corpus" / "agents"
FOLDERS = sorted(path.parent for path in CORPUS.glob("*/*/stream.jsonl.gz"))
LINEAR = {"cat", "cat_noecho", "bash", "python", "sqlite3"}


def name(folder: Path) -> str:
    return f"{folder.parent.name}-{folder.name}"


def meta(folder: Path) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((folder / "meta.json").read_text())
    return loaded


def truth(folder: Path) -> list[str]:
    """The lines that the program printed after it was first spoken to."""
    texts = [answer["text"] for answer in meta(folder)["truth"] if answer.get("text")]
    return [line.rstrip(" ") for text in texts for line in text.removesuffix("\n").split("\n")]


def answers(folder: Path, events: list[Event]) -> list[str]:
    """What came out as the program's after it was first spoken to: before that stands a banner, if any."""
    begin = meta(folder)["injected"][0]["t"]
    said = [event for event in events if isinstance(event, Text) and event.origin == "program" and event.t > begin]
    # git decorates what it prints on a terminal; the truth was taken without one.
    return [event.text.replace(" (HEAD -> master)", "") for event in said]


SCORED = [
    folder
    for folder in FOLDERS
    if (folder.parent.name in LINEAR or name(folder) == "git-log_color")
    and any(t.get("text") for t in meta(folder)["truth"])
]


def test_there_are_recordings() -> None:
    assert len(SCORED) > 25
    assert len(FOLDERS) > 100


@pytest.mark.requirement("DEL-01", "DEL-02a", "DEL-02b")
@pytest.mark.parametrize("folder", SCORED, ids=name)
def test_a_linear_program_is_heard_line_by_line(folder: Path) -> None:
    assert answers(folder, [*replay(open_recording(folder))]) == truth(folder)


@pytest.mark.requirement("DEL-02a")
@pytest.mark.parametrize(
    "folder", [folder for folder in FOLDERS if folder.parent.name in LINEAR - {"cat_noecho"}], ids=name
)
def test_what_was_injected_comes_out_as_that(folder: Path) -> None:
    """Every line, with the message's id; an editor that takes several at once shows one text."""
    injections = [i["text"] for i in meta(folder)["injected"] if i["mode"] in {"paste", "keys"}]
    lines = [line.rstrip() for text in injections for line in text.split("\n") if line.strip()]
    shown = [
        event for event in replay(open_recording(folder)) if isinstance(event, Text) and event.origin == "injected"
    ]
    rows = [row for event in shown for row in event.text.split("\n")]
    assert [re.sub(r"\s", "", row) for row in rows] == [re.sub(r"\s", "", line) for line in lines]
    assert all(event.message_id is not None and event.message_id.startswith("recorded-") for event in shown)


@pytest.mark.sampled(40)
@pytest.mark.parametrize("folder", FOLDERS, ids=name)
def test_every_recording_replays_to_its_end(folder: Path) -> None:
    events = [*replay(open_recording(folder))]
    assert [event.seq for event in events] == [*range(1, len(events) + 1)]
    assert events[0].__struct_config__.tag == "pane_opened"
    assert events[-1].__struct_config__.tag == "pane_closed"
    times = [event.t for event in events]
    assert times == sorted(times)


# One of each program: replay is the same code for all of them.
@pytest.mark.parametrize("folder", {folder.parent: folder for folder in FOLDERS}.values(), ids=name)
def test_replay_is_deterministic(folder: Path) -> None:
    recording = open_recording(folder)
    first = [encode(event) for event in replay(recording)]
    assert [encode(event) for event in replay(recording)] == first
    assert [encode(event) for event in replay(open_recording(folder))] == first


class Cut:
    """A recording whose every output is cut into single bytes that come at the same time."""

    def __init__(self, folder: Path) -> None:
        self._recording = open_recording(folder)
        self.columns, self.lines = self._recording.columns, self._recording.lines

    def entries(self) -> Iterator[Input]:
        for entry in self._recording.entries():
            if isinstance(entry, Output):
                for byte in entry.data:
                    yield Output(entry.t, entry.pane, bytes([byte]))
            else:
                yield entry


@pytest.mark.requirement("DEL-01", "ENG-03b")
@pytest.mark.parametrize("folder", SCORED, ids=name)
def test_cutting_the_output_changes_no_event(folder: Path) -> None:
    assert [encode(event) for event in replay(Cut(folder))] == [
        encode(event) for event in replay(open_recording(folder))
    ]


@pytest.mark.requirement("DEL-02a")
@pytest.mark.parametrize("factor", [1.0, 3.0, 100.0])
def test_the_echo_of_a_slow_terminal_is_one_all_the_same(tmp_path: Path, factor: float) -> None:
    """`cat/multi`, where echo and output share a row, with every time stretched from the injection on."""
    folder = CORPUS / "cat" / "multi"
    facts = meta(folder)
    begin = facts["injected"][0]["t"]

    def stretched(time: float) -> float:
        return time if time < begin else begin + (time - begin) * factor

    for injection in facts["injected"]:
        injection |= {key: stretched(injection[key]) for key in ("t", "t_paste", "t_enter")}
    (tmp_path / "meta.json").write_text(json.dumps(facts))
    with gzip.open(folder / "stream.jsonl.gz", "rt") as lines, gzip.open(tmp_path / "stream.jsonl.gz", "wt") as out:
        for line in lines:
            record = json.loads(line)
            out.write(json.dumps(record | {"t": stretched(record["t"])}) + "\n")
    assert answers(tmp_path, [*replay(open_recording(tmp_path))]) == ["line one", "line two", "", "line four"]


def test_reads_of_any_size_change_no_text() -> None:
    """What tmux happens to put into one line of `%output` is nothing the program said."""
    folder = CORPUS / "bash" / "seq300"
    whole = [event.text for event in replay(open_recording(folder)) if isinstance(event, Text)]
    randomness = random.Random(7)

    class Shuffled(Cut):
        def entries(self) -> Iterator[Input]:
            held: list[Output] = []
            for entry in super().entries():
                if isinstance(entry, Output) and (not held or held[0].t == entry.t) and randomness.random() < 0.9:
                    held.append(entry)
                    continue
                if held:
                    yield Output(held[0].t, held[0].pane, b"".join(output.data for output in held))
                    held.clear()
                yield entry
            if held:
                yield Output(held[0].t, held[0].pane, b"".join(output.data for output in held))

    assert [event.text for event in replay(Shuffled(folder)) if isinstance(event, Text)] == whole
