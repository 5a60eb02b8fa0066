"""The scorer's figures, one by one, on sessions small enough to count by hand."""

from typing import Any

import msgspec
import pytest

from benchmarks.fidelity.scoring import Score, Truth, score
from streamrelay.events import Event, Gap, Text, TurnEnded

FIVE_AND_ONE = "please count slowly up to three"
"""Six words, two 5-grams."""

GOOD = Score(recall=1.0, lines=1.0, truth_words=6, output_words=6)


def said(*texts: str, origin: Any = "program") -> list[Event]:
    return [Text(text=text, origin=origin) for text in texts]


def ended(*times: float) -> list[Event]:
    return [TurnEnded(t=t, reason="quiet", certain=False) for t in times]


def truth(*answers: str | dict[str, Any], program: str = "cat", **more: Any) -> Truth:
    told = [{"text": answer} if isinstance(answer, str) else answer for answer in answers]
    meta = {"program": program, "truth": told, "injected": [{"text": FIVE_AND_ONE, "mode": "paste"}], **more}
    return msgspec.convert(meta, Truth)


def answer(t0: float | None, t1: float | None, text: str = "one two three\nfour five six") -> dict[str, Any]:
    return {"text": text, "t0": t0, "t1": t1}


TWO_LINES = truth("one two three\nfour five six\n")
ONE_LINE = truth("one two three four five six")

TEXT_CASES = {
    "all of it, and nothing else": (TWO_LINES, said("one two three", "four five six"), GOOD),
    "nothing": (TWO_LINES, [], Score(truth_words=6)),
    "other origins are not counted": (
        TWO_LINES,
        [*said("one two three", "four five six"), *said("seven", origin="typed"), *said("eight", origin="injected")],
        GOOD,
    ),
    "half of it": (TWO_LINES, said("one two three"), Score(recall=0.5, lines=0.5, truth_words=6, output_words=3)),
    "a line cut in two has its words and is no line": (
        TWO_LINES,
        said("one two", "three", "four five six"),
        Score(recall=1.0, lines=0.5, truth_words=6, output_words=6),
    ),
    "two lines in one text are two": (TWO_LINES, said("one two three\nfour five six"), GOOD),
    "two lines run together are none": (
        TWO_LINES,
        said("one two three four five six"),
        Score(recall=1.0, lines=0.0, truth_words=6, output_words=6),
    ),
    "words besides": (
        TWO_LINES,
        said("one two three", "Thinking... 12s", "four five six", "? for shortcuts"),
        Score(recall=1.0, noise=4, lines=1.0, truth_words=6, output_words=10),
    ),
    "out of order: the longest run that is in both counts, the rest is noise": (
        TWO_LINES,
        said("four five six", "one two three"),
        Score(recall=0.5, noise=3, lines=1.0, truth_words=6, output_words=6),
    ),
    "an echo leaks": (
        TWO_LINES,
        said(f"> {FIVE_AND_ONE}", "one two three", "four five six"),
        Score(recall=1.0, noise=6, leak=1.0, lines=1.0, truth_words=6, output_words=12),
    ),
    "half an echo leaks half, twice leaks all over again": (
        TWO_LINES,
        said("please count slowly up to", "please count slowly up to", "one two three", "four five six"),
        Score(recall=1.0, noise=10, leak=1.0, lines=1.0, truth_words=6, output_words=16),
    ),
    "four words in a row are no leak": (
        TWO_LINES,
        said("count slowly up to", "one two three", "four five six"),
        Score(recall=1.0, noise=4, lines=1.0, truth_words=6, output_words=10),
    ),
    "no leak reaches over what is truth": (
        truth("one"),
        said("please count", "one", "slowly up to three"),
        Score(recall=1.0, noise=6, lines=1.0, truth_words=1, output_words=7),
    ),
    "a short injection leaks as a whole": (
        truth("one two three", injected=[{"text": "go on", "mode": "paste"}]),
        said("go on", "one two three"),
        Score(recall=1.0, noise=2, leak=1.0, lines=1.0, truth_words=3, output_words=5),
    ),
    "what quotes the injection is truth": (
        truth(FIVE_AND_ONE),
        said(FIVE_AND_ONE),
        Score(recall=1.0, lines=1.0, truth_words=6, output_words=6),
    ),
    "where nothing was injected nothing leaks": (
        truth("one two three", injected=[{"text": None, "mode": "resize"}]),
        said("four", "one two three"),
        Score(recall=1.0, noise=1, lines=1.0, truth_words=3, output_words=4),
    ),
    "said twice: six words are two 5-grams": (
        ONE_LINE,
        said("one two three four five six", "one two three four five six"),
        Score(recall=1.0, noise=6, dup=2, lines=1.0, truth_words=6, output_words=12),
    ),
    "four words said twice are no duplicate": (
        ONE_LINE,
        said("one two three four five six", "one two three four"),
        Score(recall=1.0, noise=4, lines=1.0, truth_words=6, output_words=10),
    ),
    "a line that was printed twice has to come out twice": (
        truth("again\nagain\n"),
        said("again"),
        Score(recall=0.5, lines=0.5, truth_words=2, output_words=1),
    ),
    "every ideograph, kana and hangul is a word": (
        truth("漢字かな 한국 done"),
        said("漢字", "かな 한국 done"),
        Score(recall=1.0, lines=0.0, truth_words=7, output_words=7),
    ),
    "composed and decomposed letters are the same word, in words": (
        truth("caf\u00e9 au lait"),
        said("cafe\u0301 au lait"),
        Score(recall=1.0, lines=0.0, truth_words=3, output_words=3),
    ),
    "decoration, list markers and blanks are no part of a line": (
        truth("- first item\n2. second  item\n> quoted\n"),
        said("  ● first item", "• 2) second item", "│ quoted"),
        Score(recall=1.0, lines=1.0, truth_words=6, output_words=6),
    ),
    "what was never painted needn't come out, but a gap must": (
        truth("one two three\nfour five six", unpainted=["four five six"]),
        said("one two three"),
        Score(recall=1.0, lines=1.0, truth_words=3, output_words=3, gap_missing=True),
    ),
    "what was never painted of an answer from before the attach needs no gap": (
        truth(answer(-3, -2, "four five six"), "one two three", unpainted=["four five six"]),
        said("one two three"),
        Score(recall=1.0, lines=1.0, truth_words=3, output_words=3),
    ),
    "what stood on the screen at the attach needn't come out, but what was painted later must": (
        truth("one two three\nfour five six\nseven", stood={"one two three": "", "four five six": "six"}),
        said("five six"),
        Score(recall=0.5, lines=0.0, truth_words=2, output_words=2),
    ),
    "what stood on the screen at the attach is no noise": (
        truth("one two three\nfour five six\nseven", stood={"one two three": "", "four five six": "six"}),
        said("one two three", "four five six", "seven"),
        Score(recall=1.0, lines=1.0, truth_words=2, output_words=7),
    ),
    "a gap that is told": (
        truth("one two three\nfour five six", unpainted=["four five six"]),
        [*said("one two three"), Gap(reason="jump")],
        Score(recall=1.0, lines=1.0, truth_words=3, output_words=3, gaps=1),
    ),
}

MARKDOWN = "## The **plan**\n\n```python\nrun(`x`)\n```\n\n| a | b |\n|:--|--:|\n| c | d |\n"

MARKDOWN_CASES = {
    "a model's markers are no words and no lines": (
        truth(MARKDOWN, program="claude"),
        said("● The plan", "  run(x)", "a   b", "c   d"),
        Score(recall=1.0, lines=1.0, truth_words=8, output_words=8),
    ),
    "those of other programs are what they printed": (
        truth(MARKDOWN),
        said("The plan", "run(x)", "a   b", "c   d"),
        # "python", the language of the fence, is a word; the fences and the rule of the table are lines.
        Score(recall=8 / 9, lines=2 / 6, truth_words=9, output_words=8),
    ),
}

TURN_CASES = {
    "after the answer": ([answer(1.0, 5.0)], ended(5.25), {"end_lag": 0.25}),
    "a twentieth of a second is no difference": ([answer(1.0, 5.0)], ended(4.96875), {"end_lag": -0.03125}),
    "the first after the answer counts": ([answer(1.0, 5.0)], ended(9.0, 5.5, 7.0), {"end_lag": 0.5}),
    "never": ([answer(1.0, 5.0)], [], {"end_lag": None, "ends_missing": 1}),
    "while it was coming": (
        [answer(1.0, 5.0)],
        ended(0.5, 2.0, 3.0, 5.5),
        {"end_lag": 0.5, "early_ends": 2},
    ),
    "the median of the turns; one end may serve two": (
        [answer(1.0, 5.0), answer(6.0, 8.0), answer(9.0, 10.0)],
        ended(5.25, 11.0),
        {"end_lag": 1.0, "ends_missing": 0},
    ),
    "an answer that was aborted is none": (
        [answer(1.0, None, "half an ans"), answer(6.0, 8.0)],
        ended(2.0, 8.5),
        {"end_lag": 0.5},
    ),
    "an answer without times is judged by its words": ([answer(None, None)], [], {"end_lag": None}),
}


@pytest.mark.requirement("BEN-05")
@pytest.mark.parametrize(
    ("told", "events", "expected"), (TEXT_CASES | MARKDOWN_CASES).values(), ids=(TEXT_CASES | MARKDOWN_CASES).keys()
)
def test_the_words_and_lines_of_a_recording(told: Truth, events: list[Event], expected: Score) -> None:
    judged = score(told, events)
    assert msgspec.structs.replace(judged, source_lines=0, truth_lines=0) == expected


@pytest.mark.requirement("BEN-05")
def test_what_was_said_of_a_broken_off_answer_is_neither_due_nor_noise() -> None:
    told = truth(answer(1.0, None, "seven eight nine ten"), answer(6.0, 8.0), program="claude")
    expected = {"recall": 1.0, "noise": 0, "truth_words": 6}
    for broken_off in ([], ["seven eight"], ["seven eight nine ten"]):
        judged = score(told, said(*broken_off, "one two three", "four five six"))
        assert {name: getattr(judged, name) for name in expected} == expected
    assert score(told, said("seven eight")).recall == 0.0
    assert score(told, said("seven", "eleven", "one two three", "four five six")).noise == 1


@pytest.mark.requirement("BEN-05")
def test_a_line_is_its_source_with_its_markdown_or_not_at_all() -> None:
    told = truth("**Plan**\n\n- read\n- read\n", program="claude")
    judged = score(told, said("Plan", "- read", "", "- stop"))
    assert (judged.source_lines, judged.truth_lines) == (1, 3)
    assert score(told, said("**Plan**", "- read", "- read  ")).source_lines == 3


@pytest.mark.requirement("BEN-05")
def test_what_was_over_before_the_listening_began_is_not_to_be_heard() -> None:
    told = truth({"text": "early", "t0": -3.0, "t1": -2.0}, {"text": "amid", "t0": -1.0, "t1": 7.0})
    assert [one.text for one in told.answers] == ["amid"]


@pytest.mark.requirement("BEN-05")
@pytest.mark.parametrize(("answers", "ends", "expected"), TURN_CASES.values(), ids=TURN_CASES.keys())
def test_the_ends_of_turns(answers: list[dict[str, Any]], ends: list[Event], expected: dict[str, Any]) -> None:
    got = score(truth(*answers, program="codex"), [*said("one two three", "four five six"), *ends])
    assert {name: getattr(got, name) for name in ("end_lag", "ends_missing", "early_ends")} == {
        "ends_missing": 0,
        "early_ends": 0,
        **expected,
    }


def test_programs_without_a_model_need_no_ends_of_turns() -> None:
    got = score(truth(answer(1.0, 5.0)), ended(2.0))
    assert (got.end_lag, got.ends_missing, got.early_ends) == (None, 0, 0)


def test_a_truth_without_text_cannot_be_checked() -> None:
    assert not truth({"text": None}, {"text": ""}).checkable
    assert truth({"text": None}, "one").checkable
