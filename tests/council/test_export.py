"""A session as Markdown and as JSON, and what a person types in one."""

import json
from pathlib import Path

import pytest

from streamrelay.council.commands import WORDS, completions
from streamrelay.council.config import parse_config
from streamrelay.council.console import Console
from streamrelay.council.context import Entry
from streamrelay.council.demo import DEMO, DemoClient
from streamrelay.council.events import AnswerEnded, AnswerGrew, MessageShown
from streamrelay.council.export import as_json_document, as_markdown, export
from streamrelay.council.lock import only_holder
from streamrelay.council.members import Member
from streamrelay.council.session import CouncilSession
from streamrelay.council.store import CouncilStore, SessionInfo, Spent
from streamrelay.council.template import TEMPLATE
from streamrelay.errors import UsageError

INFO = SessionInfo("council-1", 0.0, None, "Which one?", ("Ada", "Bob"), 3, 0.5)
ENTRIES = [
    (Entry("p1", "You", "person", "Which one?"), False),
    (Entry("t1", "Ada", "member", "The \x1b[31mfirst.", 1, "open"), False),
    (Entry("t2", "Bob", "member", "The se", 1, "open", partial=True), False),
    (Entry("t3", "Ada", "member", "none", 2, "dissent"), False),
    (Entry("p2", "You", "person", "And now?"), True),
]
SPENT = [Spent("Ada", 2, 1000, 500, 0.5), Spent("Bob", 1, 0, 0, None)]


@pytest.mark.requirement("COU-11")
def test_markdown_has_rounds_and_says_what_was_broken_off_or_waits() -> None:
    text = as_markdown(INFO, ENTRIES, SPENT)
    assert text.startswith("# Which one?\n\ncouncil-1 · 1970-01-01T00:00:00Z · Ada, Bob\n\n**You**\n\nWhich one?\n")
    assert "\n## Round 1\n\n**Ada**\n\nThe [31mfirst.\n\n**Bob** (broken off)\n\nThe se\n" in text
    assert "\n## Round 2: dissent\n" in text
    assert "\n**You** (queued)\n\nAnd now?\n" in text
    assert "* Ada: 2 answers, 1,000 tokens read, 500 written, $0.5000\n" in text
    assert "* Bob: 1 answer, no tokens told, no price known\n" in text


def test_json_has_every_message() -> None:
    document = json.loads(as_json_document(INFO, ENTRIES, SPENT))
    assert [message["id"] for message in document["messages"]] == ["p1", "t1", "t2", "t3", "p2"]
    assert document["messages"][-1]["queued"]
    assert document["spent"][0]["cost"] == 0.5


async def test_a_session_that_is_not_known_has_no_export(store: CouncilStore) -> None:
    with pytest.raises(UsageError, match="no session of the council is called council-2"):
        await export(store, "council-2", as_json=False)


async def test_the_demo_answers_each_kind_of_round_and_shows_every_word(store: CouncilStore, tmp_path: Path) -> None:
    written: dict[Path, str] = {}
    session = await CouncilSession.begin(store, DEMO, lambda member, _: DemoClient(member, pause=0.0))
    console = Console(session, store, written.__setitem__)
    grown: dict[str, str] = {}
    ended, tables = [], []
    async with session.watch() as events, session:
        for line in ("Where do we begin?", "/dissent", "/chair Ada"):
            assert await console.enter(line) == ""
        await session.wait_until_idle()
        assert "Ada: 3 answers" in await console.enter("/cost")
        assert "* Plan: The council plans." in await console.enter("/phase")
        assert "/bye" in await console.enter("/help")
        target = tmp_path / "out.json"
        assert await console.enter(f"/export {target}") == f"written: {target}"
        await console.enter("/bye")
        async for event in events:
            if isinstance(event, AnswerGrew):
                grown[event.id] = grown.get(event.id, "") + event.piece
            elif isinstance(event, AnswerEnded) and event.entry is not None:
                ended.append(event.entry)
            elif isinstance(event, MessageShown) and event.entry.author == "Dissent":
                tables.append(event.entry.text)
    assert len(ended) == 7
    assert {entry.id: entry.text for entry in ended} == {answer: text.strip() for answer, text in grown.items()}
    assert "| Three modules from the start | Ada | Grace | no user has asked for them |" in tables[0]
    assert "**Agreed:**" in ended[-1].text
    assert len(json.loads(written[target])["messages"]) == 9


def test_completion_knows_commands_names_and_phases() -> None:
    members, phases = ["Claude", "Gemini"], ["Plan", "Critique"]
    assert completions("/ch", members, phases) == ["/chair"]
    assert completions("/chair g", members, phases) == ["/chair Gemini"]
    assert completions("/phase ", members, phases) == ["/phase Plan", "/phase Critique"]
    assert completions("What says cl", members, phases) == ["What says Claude"]
    assert completions("What says @cl", members, phases) == ["What says Claude"]
    assert completions("What ", members, phases) == []
    assert {"/phase", "/blind", "/dissent", "/chair", "/retry", "/yes", "/no", "/cost", "/export", "/bye", "/help"} == (
        set(WORDS)
    )


def test_the_template_is_correct_as_it_is_and_with_every_key_set() -> None:
    assert [member.name for member in parse_config(TEMPLATE, "council.toml").members] == ["Echo"]
    every = "\n".join(
        line.removeprefix("#") if line.startswith("#") and not line.startswith("# ") else line
        for line in TEMPLATE.splitlines()
    )
    config = parse_config(every, "council.toml")
    assert [member.name for member in config.members] == ["Claude", "Gemini", "Local", "Echo"]
    named = {line.removeprefix("#").split(" =")[0] for line in TEMPLATE.splitlines() if " = " in line}
    assert named >= set(Member.__struct_fields__)
    assert named >= set(type(config).__struct_fields__) - {"member", "phases"}


def test_a_session_is_held_by_one_process_at_a_time(tmp_path: Path) -> None:
    with (
        only_holder(tmp_path, "council-1"),
        only_holder(tmp_path, "council-2"),
        pytest.raises(UsageError, match="council-1 is open in another process"),
        only_holder(tmp_path, "council-1"),
    ):
        pass
    with only_holder(tmp_path, "council-1"):
        assert (tmp_path / "council-1.lock").stat().st_mode & 0o777 == 0o600
