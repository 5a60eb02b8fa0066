"""What the document of gatherings says is so: costs are counted, examples run, names and figures are the code's."""

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from streamrelay.gathering.ceremony import HARVEST_REST, Ceremony
from streamrelay.gathering.library import find_rhythm, load_rhythms, load_texts, parse_rhythm
from streamrelay.gathering.members import Member
from streamrelay.gathering.pass_detection import passes
from streamrelay.gathering.plan import STRUCTURES, Plan, plan_for
from streamrelay.gathering.prompts import PromptTexts
from streamrelay.gathering.steps import Announce, Contribute, Effect, Passed, Prompt, Reached, Said

ROOT = Path(__file__).parents[2]
DOCUMENT = (ROOT / "docs" / "gatherings.md").read_text()
MEMBERS = [
    *(Member(name=name, number=number) for number, name in enumerate(("Sage", "Rex", "Mo"), 1)),
    Member(name="Ada", number=9, role="harvester"),
]


def messages(plan: Plan, *, full: bool) -> Iterator[int]:
    """Yield who gets a message, for every message of a gathering in which all are prompt."""
    ceremony = Ceremony("g", plan, MEMBERS, load_texts())
    now = 0.0
    effects: list[Effect] = ceremony.begin(now)
    while True:
        following: list[Effect] = []
        for effect in effects:
            match effect:
                case Prompt(to=to, kind=kind, message_id=asked):
                    yield to
                    if kind != "seed":
                        following += ceremony.handle(Reached(to, asked), now)
                        following += ceremony.handle(Said(to, "A thought.", answers=asked), now)
                    if kind == "turn" and not full:
                        following += ceremony.handle(Passed(to), now)
                case Announce(to=to) | Contribute(to=to):
                    yield from to
        if not following:
            due = ceremony.deadline()
            if due is None:
                return
            now, following = due, ceremony.advance(due)
        effects = following


def row(rhythm: str, listening: str) -> str:
    cells: list[int] = []
    plan = plan_for(find_rhythm(rhythm), listening=listening)
    for full in (False, True):
        count = Counter(messages(plan, full=full))
        assert count[1] == count[2] == count[3]
        cells += [count[1], count[9], count.total()]
    return f"| `{rhythm}` | `{listening}` | " + " | ".join(map(str, cells)) + " |"


@pytest.mark.requirement("GAT-10", "OPS-08b")
def test_the_table_of_costs_is_what_the_machine_counts():
    rows = [row(rhythm, listening) for rhythm in ("daily", "weekly", "monthly") for listening in ("each", "digest")]
    assert re.findall(r"^\| `\w+` \| `(?:each|digest)` \|.*$", DOCUMENT, re.MULTILINE) == rows


def test_the_table_of_rhythms_is_that_of_the_procedure_files():
    table = re.findall(r"^\| `(\w+)` \| (\d+) of (\d+) s \| (\d-\d-\d) \|", DOCUMENT, re.MULTILINE)
    shipped = {
        (name, str(rhythm.beats_per_turn), f"{rhythm.beat_interval_seconds:g}", str(rhythm.breath))
        for name, rhythm in load_rhythms().items()
    }
    assert set(table) == shipped
    for name, structure in STRUCTURES.items():
        assert f"`{name}` ({structure}" in DOCUMENT


@pytest.mark.requirement("OPS-08b")
def test_the_example_of_a_rhythm_is_one():
    (example,) = re.findall(r"^```\n(\+\+\+.*?)^```", DOCUMENT, re.MULTILINE | re.DOTALL)
    rhythm = parse_rhythm("retro", example, source="docs/gatherings.md")
    assert str(plan_for(rhythm).breath) == "1-2-1"
    assert rhythm.about == "The look back: what happened, without blame."


@pytest.mark.requirement("OPS-08b")
def test_the_python_of_the_document_runs(capsys):
    (code,) = re.findall(r"^```python\n(.*?)^```", DOCUMENT, re.MULTILINE | re.DOTALL)
    exec(compile(code, "docs/gatherings.md", "exec"), {})  # noqa: S102  # it is ours
    printed = capsys.readouterr().out
    assert printed.startswith("# Gathering gathering-1\n")
    assert printed.count("> I am ") == 6
    assert "> We have met." in printed


def test_every_text_stands_in_the_document_with_its_fields():
    for name in PromptTexts.__struct_fields__:
        assert f"`{name.replace('_', '-')}.md`" in DOCUMENT
        for field in re.findall(r"\{\w+\}", getattr(load_texts(), name)):
            assert f"`{field}`" in DOCUMENT


def test_phrases_and_figures_are_those_of_the_code():
    passing = DOCUMENT.partition("### Passing")[2].partition("## ")[0]
    for phrase in ("I pass.", "I pass for now.", "I pass the piece", "I pass to Rex", "Passing to Rex"):
        assert f"`{phrase}`" in passing
        assert passes(phrase, ["Rex"])
    for phrase in ("All tests pass", "I pass the path to the parser", "passing to a function"):
        assert f'"{phrase}"' in " ".join(passing.split())
        assert not passes(phrase, ["Rex"])
    plan = plan_for(find_rhythm("weekly"))
    for figure in (
        f"{plan.most_contributions} contributions and {plan.longest_tenure:,} characters",
        f"the latest {plan.reach_seconds:g} s", f"{plan.last_words_seconds:g} s for it",
        f"rested for {HARVEST_REST:g} s", f"for at most {plan.harvest_seconds:g} s",
    ):  # fmt: skip
        assert figure in " ".join(DOCUMENT.split())
    faults = re.findall(
        r'"fault": (?:f?)"(\w+)"', "".join(p.read_text() for p in (ROOT / "streamrelay/gathering").glob("*.py"))
    )
    assert all(f"`{fault}`" in DOCUMENT for fault in faults)
