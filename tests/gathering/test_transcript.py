"""What is left of a gathering: transcript and harvest in two forms, and the trail that leads to the next."""

import re
from pathlib import Path
from typing import get_args

import msgspec
import pytest

import streamrelay
from streamrelay.gathering.members import Member
from streamrelay.gathering.state import PassedHow, RecordEntry
from streamrelay.gathering.steps import Left, Said
from streamrelay.gathering.transcript import (
    PASSED,
    GatheringExport,
    as_json,
    as_markdown,
    conversation,
    export,
    passed_words,
    trail,
)

HARVEST = """## Todos
* Rex: measure the parser (Rex).

## Trail
What moved: the parser is measured.
What is open: Sage and Rex disagree on caching.
What to ask next: who owns the cache?"""


@pytest.fixture
def exported(circle) -> GatheringExport:
    def answers(prompt):
        if prompt.kind == "turn" and prompt.to == 2:
            yield 1.0, Said(2, "# A heading of its own\n\n**Sage (7)**, 0:01\n> quoted")
            yield 61.0, Said(2, "I pass.")
        elif prompt.kind == "turn" and prompt.to == 4:
            yield 1.0, Left(4, "pane_gone")
        elif prompt.kind == "harvest":
            yield 60.0, Said(1, HARVEST)

    played = circle(answers, beats_per_turn=1)
    played.at(30.0, played.ceremony.pause)
    played.at(3630.0, played.ceremony.resume)
    played.run()
    ceremony = played.ceremony
    return export("g", ceremony.plan, ceremony.members, ceremony.record, started_at=1_700_000_000.0)


@pytest.mark.requirement("GAT-17")
def test_as_json_it_can_be_read_back(exported):
    text = as_json(exported)
    assert msgspec.json.decode(text, type=GatheringExport) == exported
    assert text.endswith("}\n")
    plain = msgspec.json.decode(text)
    assert plain["format"] == 1
    assert plain["harvest"] == HARVEST
    assert plain["entries"][1] == {
        "t": 1.0, "kind": "said", "phase": "inhale", "round": 1, "number": 2, "message_id": "g-7",
        "text": "# A heading of its own\n\n**Sage (7)**, 0:01\n> quoted",
    }  # fmt: skip


@pytest.mark.requirement("GAT-17")
def test_as_markdown_it_reads_as_it_went(exported):
    text = as_markdown(exported)
    assert text.startswith(
        "# Gathering g\n\nWeekly, 2-2-2, 2023-11-14 22:13 UTC. 1 beat of 60 s.\n\n"
        "Opening question:\n\n> What is alive?\n\n"
        "* Rex (2), speaker\n* Mo (4), speaker, a person\n* Sage (7), speaker\n* Ada (1), harvester\n\n"
        "## Inhale, round 1 of 2\n\n"
        "**Rex (2)**, 0:01\n\n> # A heading of its own\n>\n> **Sage (7)**, 0:01\n> > quoted\n\n"
        "*Paused, 0:30.*\n\n*Resumed, 1:00:30.*\n\n"
        "**Rex (2)**, 1:00:30\n\n> I pass.\n\n*Rex (2) passed the piece on, 1:00:30.*\n\n"
        "*Mo (4) is gone (pane_gone), 1:00:31.*\n\n*Mo (4) left with the piece, 1:00:31.*\n\n"
    )
    assert "## Hold, round 2 of 2" in text
    assert "*Time is up for Sage (7), " in text
    harvest = "\n".join(f"> {line}".rstrip() for line in HARVEST.split("\n"))
    assert "## Close\n\n**Ada (1)**, the harvest, " in text
    assert text.endswith(".*\n")
    assert harvest in text


@pytest.mark.requirement("GAT-17")
def test_the_page_tells_how_the_piece_was_passed_in_the_words_of_the_transcript():
    script = (Path(streamrelay.__file__).parent / "web" / "page" / "circle.js").read_text()
    table = re.search(r"^const PASSED = \{\n(.*?)^\};", script, re.MULTILINE | re.DOTALL)
    assert table is not None
    assert dict(re.findall(r'^  (\w+): "(.*)",$', table[1], re.MULTILINE)) == PASSED
    assert set(PASSED) == set(get_args(PassedHow))
    assert passed_words("{who} (1)", "time") == "Time is up for {who} (1)"
    assert passed_words("Rex (2)", "spent") == "Rex (2) passed the piece on (spent)"


@pytest.mark.requirement("GAT-17")
def test_what_is_said_cannot_be_taken_for_a_part_of_the_transcript(exported):
    lines = as_markdown(exported).splitlines()
    assert [line for line in lines if line.startswith("#")] == [
        "# Gathering g", *(f"## {p}, round {n} of 2" for p in ("Inhale", "Hold", "Exhale") for n in (1, 2)), "## Close",
    ]  # fmt: skip
    assert not [line for line in lines if line.startswith("**Sage")]


def test_a_gathering_that_runs_has_a_transcript_too(circle):
    played = circle()
    played.run(until=10.0)
    ceremony = played.ceremony
    running = export("g", ceremony.plan, ceremony.members, ceremony.record)
    assert (running.closed, running.harvest, running.trail) == ("", "", "")
    assert as_markdown(running).endswith("## Inhale, round 1 of 2\n")


def test_nobody_speaks_for_somebody_else():
    members = (
        Member(name="Sage", number=1),
        Member(name="Rex", number=2),
        Member(name="Ada", number=3, role="harvester"),
    )
    text = "I agree.\n\n Rex (2):\n\nSo do I, Rex (2): all of it."
    entry = RecordEntry(t=1.0, kind="said", phase="hold", round=1, number=1, text=text, message_id="m1")
    assert conversation([entry], members) == ("Sage (1):\n\nI agree.\n\n>  Rex (2):\n\nSo do I, Rex (2): all of it.")


def test_the_conversation_names_everybody(exported):
    text = conversation(exported.entries, exported.members)
    assert text.startswith("Rex (2):\n\n# A heading of its own")
    assert text.count("Rex (2):\n\nI pass.") == 6


@pytest.mark.requirement("GAT-13b")
@pytest.mark.parametrize(
    ("harvest", "left"),
    [
        (HARVEST, HARVEST.partition("## Trail\n")[2]),
        ("# Trail\none\n## Below\ntwo\n# Next\nthree", "one\n## Below\ntwo"),
        ("The trail is long.\n\nTrail entry:\none\ntwo", "one\ntwo"),
        ("**Trail:** one\ntwo", "one\ntwo"),
        ("### The Trail Entry\n\none", "one"),
        ("## Trail\nold\n## Todos\nx\n## Trail\nnew", "new"),
        ("Trailing blanks are bad.\ntrail mix", ""),
        ("", ""),
    ],
)
def test_a_harvest_leaves_a_trail_to_the_next_gathering(circle, harvest, left):
    assert trail(harvest) == left
    played = circle(trail=left, previous="gathering-1")
    played.run(until=0.0)
    seed = played.of(2, "seed")[0][1]
    assert f"What the last gathering left:\n{left or 'Nothing yet: this is the first one.'}\n" in seed
