"""Recordings painted differently: what a mutation replaces, and that programs are heard alike all the same."""

from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

import pytest

from benchmarks.fidelity.mutated import UNMUTATED, judge, measure, options, sampled
from streamrelay.delta.inputs import Input, Reseeded
from streamrelay.events import Text
from streamrelay.recordings import Output, Pasted, Submitted, open_recording, replay
from streamrelay.testing.mutations import MUTATIONS, Mutated, Mutation
from streamrelay.vt import TmuxScreen
from streamrelay.vt.engine import Cursor, Snapshot

CORPUS = Path(__file__).parents[1] / "corpus" / "agents"
HEARD_ALIKE = [
    name for name in MUTATIONS
    # A program that no longer says where it hides its cursor, or shows no border at all, is another kind of program.
    if name not in {"cursor: never hidden", "synchronisation: none", "boxes: blank", "boxes: dots"}
]  # fmt: skip


class _Said:
    """A recording of one program's bytes."""

    columns, lines = 40, 5

    def __init__(self, *reads: bytes) -> None:
        self._reads = reads

    def entries(self) -> Iterator[Input]:
        printed = [Output(float(number), "%0", read) for number, read in enumerate(self._reads)]
        yield from (*printed, Pasted(9.0, "%0", "m1", "● hi"), Submitted(10.0, "%0", "m1"))


def painted(mutation: Mutation, *reads: bytes) -> bytes:
    return b"".join(entry.data for entry in Mutated(_Said(*reads), mutation).entries() if isinstance(entry, Output))


def test_glyphs_are_replaced_wherever_the_bytes_were_cut_and_control_strings_are_not() -> None:
    mutation = Mutation("x", {"●": "★", "m": "w", "a": "b"})
    data = "\x1b]0;a● m\x07\x1b[31m● ma\x1b[1;2Hm".encode()
    expected = "\x1b]0;a● m\x07\x1b[31m★ wb\x1b[1;2Hw"
    for cut in range(len(data)):
        assert painted(mutation, data[:cut], data[cut:]).decode() == expected


def test_titles_control_strings_messages_and_the_pace() -> None:
    mutation = Mutation("x", {"●": "★"}, titles={"⠋": "◐"}, pace=2.0) | MUTATIONS["colours: none"]
    assert painted(mutation, "\x1b]0;⠋ x\x07\x1b[31;1m⠋\x1b[2K".encode()).decode() == "\x1b]0;◐ x\x07⠋\x1b[2K"
    assert [*Mutated(_Said(b"", b""), mutation).entries()][1:] == [
        Output(2.0, "%0", b""), Pasted(18.0, "%0", "m1", "★ hi"), Submitted(20.0, "%0", "m1"),
    ]  # fmt: skip


def test_a_screen_that_was_there_is_painted_like_what_follows() -> None:
    screen = Snapshot(40, 2, ("\x1b[31m● a".encode(), b""), (False, False), Cursor(0, 1), history=("●".encode(),))
    recording = _Said()
    recording.entries = lambda: iter([Reseeded(0.0, "%0", screen)])  # type: ignore[method-assign]
    (entry,) = Mutated(recording, Mutation("x", {"●": "★"})).entries()
    assert isinstance(entry, Reseeded)
    assert (entry.screen.rows[0].decode(), entry.screen.history[0].decode()) == ("\x1b[31m★ a", "★")


def test_what_is_no_utf_8_stays() -> None:
    assert painted(Mutation("x", {"a": "b"}), b"a\xff a").startswith(b"b")


def test_glyphs_of_another_width_are_refused() -> None:
    with pytest.raises(ValueError, match="width"):
        Mutation("x", {"a": "語"})


def test_every_cell_keeps_its_place() -> None:
    folder = CORPUS / "gemini" / "multi"
    for mutation in MUTATIONS.values():
        screens = [TmuxScreen(120, 40), TmuxScreen(120, 40)]
        recordings = (open_recording(folder), Mutated(open_recording(folder), mutation))
        for screen, recording in zip(screens, recordings, strict=True):
            for entry in recording.entries():
                if isinstance(entry, Output):
                    screen.feed(entry.data)
        assert [mutation.text(row).rstrip() for row in screens[0].text()] == screens[1].text()


@pytest.mark.sampled(4)
@pytest.mark.requirement("DEL-01", "DEL-02b", "DEL-02c")
@pytest.mark.parametrize("mutation", HEARD_ALIKE)
def test_a_recording_is_heard_alike_whatever_it_looks_like(mutation: str) -> None:
    for recording in ("claude/quote", "codex/short_80", "gemini/parrot", "opencode/quote", "ink/parrot_multi"):
        before = judge(CORPUS / recording, UNMUTATED, profiles=False).score
        after = judge(CORPUS / recording, MUTATIONS[mutation], profiles=False).score
        assert (after.recall, after.leak, after.dup) == (before.recall, before.leak, before.dup)
        assert after.noise <= before.noise
        assert (after.ends_missing, after.early_ends) == (0, 0)


def test_a_sample_is_the_same_for_the_same_seed_and_takes_one_of_every_family() -> None:
    first, again, other = ([*sampled(seed, 2)] for seed in (1, 1, 2))
    assert first == again != other
    families = {family for family, _ in groupby(MUTATIONS, lambda name: name.split(":")[0])}
    assert len(families) > 10
    assert all(one.glyphs and one.name.startswith("all at once") for one in first)


def test_a_run_says_what_is_heard_worse() -> None:
    asked = "--only codex/short --mutations cursor --workers 1 --sample 1"
    report = measure(options().parse_args(asked.split()))
    assert [*report.figures] == ["as recorded", "cursor: never hidden", "all at once, 1.1"]
    assert report.figures["as recorded"]["total"].recall == 1.0
    heard, worse = report.tables
    assert [row[0] for row in heard.rows] == [*report.figures]
    assert not [row for row in worse.rows if row[0] == "as recorded"]


def test_a_mutated_recording_can_be_replayed_twice() -> None:
    recording = Mutated(open_recording(CORPUS / "cat" / "unicode"), MUTATIONS["letters: greek"])
    first = [*replay(recording)]
    assert any(isinstance(event, Text) for event in first)
    assert [*replay(recording)] == first
