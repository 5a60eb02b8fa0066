"""What is shipped is true: every rule is proven by a recording, does no harm, and meets only its own program."""

import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

from benchmarks.fidelity.scoring import Truth, score
from streamrelay.agents import AgentProfile, shipped_profiles
from streamrelay.delta.inputs import Resized
from streamrelay.delta.profiles import Recogniser, matches
from streamrelay.events import Activity, Event, NeedsHuman, Text, TurnEnded, encode
from streamrelay.recordings import Output, open_recording, replay
from streamrelay.vt import TmuxScreen

ROOT = Path(__file__).parents[2]
CORPUS = ROOT / "tests" / "corpus"
PROFILES = {profile.name: profile for profile in shipped_profiles()}
READING = [profile.reading for profile in PROFILES.values()]
AGENTS = [profile for profile in PROFILES.values() if profile.kind == "agent"]
RECORDED = {path.name for path in (CORPUS / "agents").iterdir()}


def by_name(value: Path | AgentProfile) -> str:
    return f"{value.parent.name}-{value.name}" if isinstance(value, Path) else value.name


def shown(folder: Path) -> Iterator[tuple[str, list[str]]]:
    """Yield all that a program shows: its titles and states, and its screen after each read."""
    recording = open_recording(folder)
    screen = TmuxScreen(recording.columns, recording.lines)
    for entry in recording.entries():
        if isinstance(entry, Output):
            screen.feed(entry.data)
            for event in screen.take().events:
                if event.kind in {"title", "agent_state"}:
                    yield event.kind, [event.payload]
            yield "screen", screen.text()
        elif isinstance(entry, Resized):
            screen.resize(entry.lines, entry.columns)


@pytest.mark.sampled(5)
@pytest.mark.requirement("AGT-02a")
@pytest.mark.parametrize("profile", PROFILES.values(), ids=by_name)
def test_every_pattern_is_proven_by_a_recording_or_quotes_the_row_it_is_from(profile: AgentProfile) -> None:
    """That a pattern matches the row it quotes is seen to when it is read."""
    assert all(pattern.source for pattern in profile.patterns if pattern.seen is not None)
    unproven = [pattern for pattern in profile.patterns if pattern.seen is None]
    for folder in sorted(CORPUS.glob(f"*/{profile.name}/*/")):
        for _, rows in shown(folder) if unproven else ():
            unproven = [pattern for pattern in unproven if not any(matches((pattern.compiled,), row) for row in rows)]
            if not unproven:
                break
    assert [(pattern.key, pattern.compiled.pattern) for pattern in unproven] == []


JUDGED = [
    meta.parent
    for profile in AGENTS
    for meta in sorted(CORPUS.glob(f"*/{profile.name}/*/meta.json"))
    if b'"truth"' in meta.read_bytes() and Truth.of(meta.parent).checkable
]


RESTS = {profile.name: profile.reading.rest or 0.0 for profile in AGENTS}
"""Seconds that profiles wait for what a screen paints late."""


@pytest.mark.sampled(16)
@pytest.mark.requirement("AGT-02a")
@pytest.mark.parametrize("folder", JUDGED, ids=by_name)
def test_nothing_gets_worse_with_a_profile(folder: Path) -> None:
    recording, truth = open_recording(folder), Truth.of(folder)
    before, after = [*replay(recording)], [*replay(recording, READING)]
    without, known = score(truth, before), score(truth, after)
    assert known.recall >= without.recall
    assert known.lines >= without.lines
    assert known.noise <= without.noise
    assert known.leak <= without.leak
    assert known.dup <= without.dup
    assert known.ends_missing <= without.ends_missing
    assert known.early_ends <= without.early_ends
    if known.early_ends == without.early_ends and known.recall == without.recall:
        assert (known.end_lag or 0) <= (without.end_lag or 0) + max(0.03, RESTS.get(folder.parent.name, 0.0))
        added = Counter(_deeds(after)) - Counter(_deeds(before))
        lost = Counter(_deeds(before)) - Counter(_deeds(after))
        assert not lost or lost.keys() <= set(_known_rows_shown(folder))
        assert not any(_is_answered(row, truth) for deed in added for row in deed.splitlines() if row.strip())


def _is_answered(row: str, truth: Truth) -> bool:
    """Tell whether a row is part of an answer: a profile that makes it an activity would take it out of the text."""
    return any(row.strip() in (answer.text or "") for answer in truth.answers)


def _known_rows_shown(folder: Path) -> Iterator[str]:
    """Yield the rows of a recording, without their indent, that the program's profile knows as footers or chrome."""
    known = PROFILES[folder.parent.name].reading
    for _, rows in shown(folder):
        yield from (row.strip() for row in rows if matches((*known.footers, *known.chrome), row))


CANCELLED = re.compile("Request cancelled")
"""A notice that may come when a title has ended the turn already, or behind the mark of answers."""


def _deeds(events: Iterable[Event]) -> list[str]:
    return [event.text.strip() for event in events if isinstance(event, Activity) and not CANCELLED.search(event.text)]


@pytest.mark.sampled(16)
@pytest.mark.requirement("AGT-02a")
@pytest.mark.parametrize("folder", sorted((CORPUS / "dialogs").glob("*/*/")), ids=by_name)
def test_a_profile_adds_dialogs_and_takes_none_away(folder: Path) -> None:
    recording = open_recording(folder)
    before, after = (
        [(event.kind, event.text) for event in replay(recording, known) if isinstance(event, NeedsHuman)]
        for known in ((), READING)
    )
    added = [question for question in after if question not in before]
    assert [question for question in after if question in before] == before
    if folder.parent.name != "opencode" or folder.name in {"drafts", "permission"}:
        assert added == []


@pytest.mark.requirement("AGT-02a")
def test_a_window_whose_choices_are_told_apart_by_colour_is_a_picker() -> None:
    events = replay(open_recording(CORPUS / "dialogs" / "opencode" / "pickers"), READING)
    asked = [(event.kind, event.text) for event in events if isinstance(event, NeedsHuman)]
    assert {("picker", "Select model"), ("picker", "Themes")} <= {*asked}


@pytest.mark.requirement("AGT-02a")
@pytest.mark.parametrize("name", ["gemini/long3k", "gemini/long3k_lines"])
def test_what_only_a_profile_can_know_is_left_out(name: str) -> None:
    """A hint below an answer, further left than any answer stands."""
    folder = CORPUS / "agents" / name
    known = score(Truth.of(folder), [*replay(open_recording(folder), READING)])
    assert (known.noise, known.recall, known.lines) == (0, 1.0, 1.0)


@pytest.mark.requirement("AGT-02a")
def test_a_title_that_only_a_profile_understands_votes() -> None:
    recording = open_recording(CORPUS / "agents" / "gemini" / "short")

    def witnesses(*, known: bool) -> set[str]:
        events = replay(recording, READING if known else ())
        return {vote.by for event in events if isinstance(event, TurnEnded) for vote in event.votes}

    assert witnesses(known=True) == witnesses(known=False) | {"title"}


@pytest.mark.parametrize("profile", [profile for profile in AGENTS if profile.name in RECORDED], ids=by_name)
def test_an_agent_is_recognised_by_its_signs_and_stays_recognised(profile: AgentProfile) -> None:
    """As where its foreground command tells nothing."""
    recogniser = Recogniser(READING)
    seen = set()
    for _, rows in shown(CORPUS / "agents" / profile.name / "short"):
        recogniser.see(rows)
        seen.add(recogniser.profile.name)
    assert seen <= {"generic", profile.name}
    assert recogniser.profile is profile.reading


@pytest.mark.parametrize("program", sorted(RECORDED - {profile.name for profile in AGENTS}))
def test_a_program_without_signs_is_heard_as_ever(program: str) -> None:
    folder = max((CORPUS / "agents" / program).iterdir())
    recording = open_recording(folder)
    assert [encode(event) for event in replay(recording, READING)] == [encode(event) for event in replay(recording)]


# How to deliver


def meta(profile: AgentProfile, scenario: str) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((CORPUS / "agents" / profile.name / scenario / "meta.json").read_text())
    return loaded


@pytest.mark.parametrize("profile", [profile for profile in AGENTS if profile.name in RECORDED], ids=by_name)
def test_an_enter_after_the_delay_submits(profile: AgentProfile) -> None:
    results = meta(profile, "enterdelay")["enter_results"]
    late = [trial for trial in results if trial["mode"] == "paste" and trial["delay"] >= profile.delivery.submit_delay]
    assert late
    assert all(trial["submitted"] for trial in late)


@pytest.mark.parametrize("profile", [profile for profile in AGENTS if profile.delivery.paste_limit], ids=by_name)
def test_a_message_up_to_the_paste_limit_was_heard_whole(profile: AgentProfile) -> None:
    """By the program: the model answered it, so it was submitted as one message."""
    limit = profile.delivery.paste_limit
    facts = meta(profile, "long3k")
    assert limit is not None
    assert max(len(injection["text"]) for injection in facts["injected"]) >= limit
    assert [request for request in facts["requests"] if request["main"]]


@pytest.mark.parametrize("profile", [p for p in AGENTS if p.delivery.mid_turn == "queue"], ids=by_name)
def test_what_is_sent_in_mid_turn_waits_where_the_profile_says_so(profile: AgentProfile) -> None:
    """Both answers came to their end."""
    answers = [answer for answer in meta(profile, "two")["truth"] if answer.get("text")]
    assert len(answers) >= 2
    assert all(answer.get("t1") for answer in answers)


@pytest.mark.parametrize("profile", [p for p in PROFILES.values() if p.delivery.ready], ids=by_name)
def test_the_empty_composer_holds_no_draft(profile: AgentProfile) -> None:
    """Where it is ready, its composer is empty or shows a placeholder."""
    composer = profile.delivery.composer
    assert composer is not None
    rows = {row for row in _ready_rows(profile) if composer.search(row)}
    for row in rows:
        found = composer.search(row)
        assert found is not None
        assert not (found["draft"] or "").strip(), row


def _ready_rows(profile: AgentProfile) -> Iterator[str]:
    yield from (
        pattern.seen for pattern in profile.patterns if pattern.key.startswith("delivery.ready") and pattern.seen
    )
    folder = CORPUS / "agents" / profile.name / "short"
    if folder.is_dir():
        for kind, rows in shown(folder):
            if kind == "screen":
                yield from (row for row in rows if matches(profile.delivery.ready, row))


# The engine


@pytest.mark.requirement("AGT-02a")
def test_the_engine_has_no_agents_name_in_it() -> None:
    """All that is special about one is data; `agents` holds it."""
    names = {profile.name for profile in AGENTS} | {profile.title for profile in AGENTS} | {"Ink", "Textual"}
    named = re.compile(rf"(?i)(?<![a-z])(?:{'|'.join(map(re.escape, sorted(names)))})(?![a-z])")
    assert named.search("as Claude Code does, and aider")
    rooms = ("delta", "vt", "control", "panes", "recordings", "relay", "delivery")
    files = [file for room in rooms for file in (ROOT / "streamrelay" / room).rglob("*.py")]
    assert len(files) > 50
    found = [
        f"{file.relative_to(ROOT)}:{number}: {line.strip()}"
        for file in files
        for number, line in enumerate(file.read_text().splitlines(), 1)
        if named.search(line)
    ]
    assert found == []


def test_a_profile_makes_a_difference_to_what_is_said() -> None:
    """The tests above compare; this one shows that there is something to compare."""
    recording = open_recording(CORPUS / "agents" / "gemini" / "long3k")

    def said(*, known: bool) -> list[str]:
        events = replay(recording, READING if known else ())
        return [event.text for event in events if isinstance(event, Text) and event.origin == "program"]

    assert said(known=True) != said(known=False)
