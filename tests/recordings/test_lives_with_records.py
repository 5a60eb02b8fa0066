"""Whole lives of agents with the records that they wrote themselves (tests/corpus/lives), held to figures.

By the screen alone and with the record. What each exception lacks is in docs/decisions/0048.
"""

from pathlib import Path
from typing import NamedTuple

import pytest

from benchmarks.fidelity.judging import judge, name
from benchmarks.fidelity.scoring import Score, Truth
from benchmarks.fidelity.ways import WITH_WITNESSES
from streamrelay.events import WitnessCompared
from streamrelay.recordings import open_recording, replay
from tests.recordings.test_whole_lives import CLEARED_WITHIN, PROFILES, calls, meta_of

LIVES = Path(__file__).parents[1] / "corpus" / "lives"
FOLDERS = sorted(meta.parent for meta in LIVES.glob("*/*/meta.json"))


class Held(NamedTuple):
    """The least recall and exact lines, the most noise and repeated words, the longest median lag in seconds."""

    recall: float = 0.9985
    lines: float = 0.97
    noise: int = 0
    dup: int = 0
    lag: float = 0.5
    early: int = 0


# What stood on the screen at the attach is not due.
ATTACHED = Held(lag=1.1)
# The command that is asked about stays on the screen until the person answers.
ASKED = Held(lag=1.8)
# It paints the end of an answer long after its model has ended.
SLOW = Held(lag=1.5)
BOTH = {
    "claude/long400": Held(lag=0.7),
    "claude/edit": ASKED,
    "claude/mcp": ASKED,
    "claude/modes": Held(lag=0.7),
    "claude/permission": ASKED,
    "claude197/late_mid": Held(lag=0.7),
    "claude197/long400": Held(lag=0.9),
    "claude197/permission": ASKED,
    "claude_fullscreen/permission": ASKED,
    "codex/mcp": ASKED,
    "codex/permission": ASKED,
    "codex_inline/permission": ASKED,
    # The last word was cut off in the middle.
    "gemini/interrupt": Held(noise=1),
    "gemini/edit": ASKED,
    "gemini/mcp": ASKED,
    "gemini/permission": ASKED,
    # A page was skipped, and with it the beginning of a block of code, whose line numbers are said then.
    "gemini_alternate/long400": Held(recall=0.995, noise=6),
    "opencode/compact": SLOW,
    "opencode/drafts": SLOW,
    "opencode/interrupt": SLOW,
    "opencode/long400": Held(recall=0.996, lag=0.7),
    "opencode/mcp": ASKED,
    "opencode/modes": SLOW,
    # A refused command stands in its transcript like text; only its style differs.
    "opencode/permission": Held(noise=10, lag=2.0),
    "opencode/pickers": SLOW,
    "opencode/queued": SLOW,
    "opencode/turns20": SLOW,
    "qwen/compact": Held(lag=0.8),
    "qwen/mcp": ASKED,
    "qwen/permission": ASKED,
    # The rest of the line that had begun at the attach.
    "aider/late_mid": Held(recall=0.98),
}
ALONE = BOTH | {
    "claude/late_mid": ATTACHED,
    "claude197/late_mid": ATTACHED,
    "claude_fullscreen/late_mid": ATTACHED,
    "codex_inline/late_mid": ATTACHED,
    # Several messages are answered before it is idle.
    "claude/fed": Held(lag=1.0),
    "claude_fullscreen/fed": Held(lag=1.4),
    "gemini/fed": Held(early=3),
    "opencode/fed": SLOW,
    "codex/resizes": Held(lines=0.76),
    "gemini_alternate/late_mid": ATTACHED,
    "opencode/late_mid": ATTACHED,
    "opencode/resizes": Held(lines=0.47, lag=0.9),
    "qwen/late_mid": ATTACHED,
    "qwen/resizes": Held(lines=0.94),
}
WITNESSED = BOTH | {
    # The stream ends a turn while the model already streams the next answer, and the scorer calls such an end early.
    "claude/fed": Held(early=1),
    "claude_fullscreen/fed": Held(early=3),
    "gemini/fed": Held(early=4),
    "opencode/fed": Held(lag=1.1),
    "opencode/late_mid": Held(lag=1.1),
    "opencode/resizes": SLOW,
    "qwen/pickers": Held(lag=0.7),
}


def check(score: Score, held: Held) -> None:
    assert score.recall >= held.recall
    assert score.lines >= held.lines
    assert score.noise <= held.noise
    assert score.dup <= held.dup
    assert score.early_ends <= held.early
    assert (score.leak, score.ends_missing) == (0, 0)
    assert score.end_lag is not None
    assert score.end_lag <= held.lag


def test_every_exception_is_a_recording() -> None:
    assert {*ALONE, *WITNESSED} < {name(folder) for folder in FOLDERS}


@pytest.mark.sampled(8)
@pytest.mark.requirement("DEL-01", "DEL-02a", "DEL-04a")
@pytest.mark.parametrize("folder", FOLDERS, ids=name)
def test_a_life_is_heard_by_the_screen_alone(folder: Path) -> None:
    check(judge(folder, "stream").score, ALONE.get(name(folder), Held()))


@pytest.mark.sampled(8)
@pytest.mark.requirement("DEL-11")
@pytest.mark.parametrize("folder", [folder for folder in FOLDERS if Truth.of(folder).agent], ids=name)
def test_a_life_with_its_record_is_said_as_its_source(folder: Path) -> None:
    score = judge(folder, WITH_WITNESSES).score
    check(score, WITNESSED.get(name(folder), Held()))
    if WITNESSED.get(name(folder), Held()).recall == Held().recall:
        assert score.source_lines == score.truth_lines


@pytest.mark.sampled(8)
@pytest.mark.requirement("DEL-11")
@pytest.mark.parametrize(
    "folder", [folder for folder in FOLDERS if Truth.of(folder).agent and folder.name != "late_mid"], ids=name
)
def test_the_record_is_compared_with_each_answer(folder: Path) -> None:
    compared = [event for event in replay(open_recording(folder), PROFILES) if isinstance(event, WitnessCompared)]
    agreed = [event for event in compared if event.outcome in {"agrees", "repaired"}]
    answers = [answer for answer in Truth.of(folder).answers if not answer.tool_call]
    assert len(compared) >= 2
    assert len(agreed) >= len(answers) * 2 // 3


@pytest.mark.sampled(8)
@pytest.mark.parametrize("folder", FOLDERS, ids=name)
def test_a_person_is_called_for_each_dialog(folder: Path) -> None:
    called = list(calls(folder))
    for dialog in meta_of(folder)["dialogs"]:
        if dialog["kind"] is None:
            # It asks nothing, but a person has to close it.
            called = [call for call in called if not call.began < dialog["t_answered"] < call.ended]
            continue
        during = [call for call in called if call.began < dialog["t_answered"] and call.ended > dialog["t_shown"]]
        assert during, f"nobody was called for {dialog}"
        assert during[-1].ended < dialog["t_answered"] + CLEARED_WITHIN
        called = [call for call in called if call not in during]
    assert called == []
