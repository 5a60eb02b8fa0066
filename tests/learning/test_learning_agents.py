"""Agents whose profiles are taken away: what is learnt from one recording of each is true of the others."""

from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from benchmarks.fidelity.scoring import Truth, score
from streamrelay.agents import parse_profile
from streamrelay.delta.profiles import Recogniser
from streamrelay.events import TurnEnded
from streamrelay.learning import Proposal, learn, prove
from streamrelay.recordings import Output, Recording, open_recording, replay
from streamrelay.vt import TmuxScreen

CORPUS = Path(__file__).parents[1] / "corpus" / "agents"
FROM = {"claude": "two", "codex": "two", "gemini": "short", "opencode": "two", "aider": "two"}
QUICK = {"short", "tool", "quote"}


@cache
def learnt(agent: str) -> Proposal:
    """Learn with no profile known at all: `learn` asks for none."""
    scenario = FROM[agent]
    return learn(open_recording(CORPUS / agent / scenario), name=agent, source=f"{agent}/{scenario}")


OTHERS = [
    pytest.param(folder, id=f"{agent}-{folder.name}", marks=[] if folder.name in QUICK else [pytest.mark.slow])
    for agent, scenario in FROM.items()
    for folder in sorted((CORPUS / agent).iterdir())
    if folder.name not in {scenario, "enterdelay"} and Truth.of(folder).checkable
]


@pytest.mark.sampled(4)
@pytest.mark.requirement("AGT-02c")
@pytest.mark.parametrize("folder", OTHERS)
def test_no_other_recording_is_heard_worse_with_what_was_learnt(folder: Path) -> None:
    recording, truth = open_recording(folder), Truth.of(folder)
    profile = learnt(folder.parent.name).profile.reading
    without, known = score(truth, [*replay(recording)]), score(truth, [*replay(recording, [profile])])
    assert known.recall >= without.recall
    assert known.leak <= without.leak
    assert known.noise <= without.noise
    assert known.dup <= without.dup
    assert known.lines >= without.lines
    assert known.ends_missing <= without.ends_missing
    assert known.early_ends <= without.early_ends
    assert (known.end_lag or 0) <= (without.end_lag or 0) + 0.001


@pytest.mark.requirement("AGT-02c")
@pytest.mark.parametrize("agent", FROM)
def test_the_program_is_recognised_in_other_recordings_and_no_other_program_is(agent: str) -> None:
    for other in FROM:
        recogniser = Recogniser([learnt(agent).profile.reading])
        recording = open_recording(CORPUS / other / "short")
        shown: set[str] = set()
        for event in _titles_and_rows(recording):
            recogniser.see(event)
            shown.add(recogniser.profile.name)
        assert shown == ({"generic", agent} if other == agent else {"generic"}), other


def _titles_and_rows(recording: Recording) -> Iterator[list[str]]:
    screen = TmuxScreen(recording.columns, recording.lines)
    yield [""]
    for entry in recording.entries():
        if isinstance(entry, Output):
            screen.feed(entry.data)
            yield from ([event.payload] for event in screen.take().events if event.kind in {"title", "agent_state"})
            yield screen.text()


@pytest.mark.requirement("AGT-02c")
@pytest.mark.parametrize("agent", FROM)
def test_what_is_proposed_is_a_profile_that_holds_its_proof(agent: str) -> None:
    proposal = learnt(agent)
    again = parse_profile(agent, proposal.text, source="again")
    assert again.reading == proposal.profile.reading
    assert all(pattern.seen and pattern.source for pattern in proposal.profile.patterns)
    recording = open_recording(CORPUS / agent / FROM[agent])
    assert prove(again, proposal.proof, recording) == []
    assert proposal.proof.with_profile.is_no_worse_than(proposal.proof.without)


@pytest.mark.requirement("AGT-02c")
@pytest.mark.parametrize(
    ("agent", "key", "row"),
    [
        ("claude", "screen.furniture[0]", "✶ Wibbling… (3s · ↓ 10 tokens)"),
        ("claude", "screen.footers[0]", "✻ Brewed for 12s"),
        ("claude", "delivery.ready[0]", "❯"),
        ("codex", "recognise.signs[0]", "state=done:app=codex"),
        ("codex", "screen.furniture[0]", "• Working (14s • esc to interrupt)"),
        ("codex", "delivery.ready[0]", "› Ask Codex to do anything"),
        ("gemini", "state.busy_titles[0]", "✦  Working… (elsewhere)"),
        ("gemini", "state.idle_titles[0]", "◇  Ready (elsewhere)"),
        ("gemini", "recognise.signs[1]", " ▝▜▄     Gemini CLI v1.2.3"),
        ("opencode", "recognise.signs[0]", "OpenCode"),
        ("opencode", "delivery.composer", "   ┃  a draft"),
        ("aider", "recognise.signs[0]", "Aider v1.0"),
        ("aider", "screen.footers[0]", "Tokens: 7 sent, 12 received."),
        ("aider", "delivery.ready[0]", "ask>"),
    ],
)
def test_what_was_learnt_knows_the_like_of_what_was_seen(agent: str, key: str, row: str) -> None:
    patterns = {pattern.key: pattern.compiled for pattern in learnt(agent).profile.patterns}
    assert patterns[key].search(row)


@pytest.mark.parametrize(
    ("agent", "row"),
    [
        ("claude", "❯ a draft"),
        ("codex", "› a draft"),
        ("gemini", " * a draft"),
        ("opencode", "   ┃  a draft"),
        ("aider", "ask> a draft"),
    ],
)
def test_the_draft_is_what_stands_in_the_composer(agent: str, row: str) -> None:
    composer = learnt(agent).profile.delivery.composer
    assert composer is not None
    found = composer.search(row)
    assert found is not None
    assert found["draft"].strip() == "a draft"


def test_a_title_that_was_learnt_votes_in_other_recordings() -> None:
    recording = open_recording(CORPUS / "gemini" / "quote")

    def witnesses(*profiles) -> set[str]:
        return {vote.by for e in replay(recording, profiles) if isinstance(e, TurnEnded) for vote in e.votes}

    assert witnesses(learnt("gemini").profile.reading) == witnesses() | {"title"}


def test_what_a_second_message_in_mid_answer_does_is_learnt() -> None:
    assert {agent: learnt(agent).profile.delivery.mid_turn for agent in ("claude", "opencode")} == {
        "claude": "queue",
        "opencode": "queue",
    }
    assert {agent: learnt(agent).profile.delivery.mid_turn for agent in ("codex", "aider")} == {
        "codex": "hold",
        "aider": "hold",
    }


def test_a_long_message_that_was_taken_is_a_limit() -> None:
    proposal = learn(open_recording(CORPUS / "claude" / "long3k"), name="claude", source="claude/long3k")
    assert proposal.profile.delivery.paste_limit == 3000
