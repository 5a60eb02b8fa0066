"""One search over journal and transcripts: files as the agents wrote them, and files as nobody should."""

import asyncio
import json
import os
import shutil
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from streamrelay.agents import shipped_profiles
from streamrelay.errors import TargetNotFound
from streamrelay.events import PaneOpened, Text
from streamrelay.history import FoundText, History, HistorySearch, Journal, SearchHistory
from streamrelay.history import search as search_module
from tests.agents.transcript_samples import PLACES

CORPUS = Path(__file__).parents[1] / "corpus" / "transcripts" / "home"
CODEX = "01a200fa-6511-75d3-b103-9e3c71e113ab"


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("HOME", str(home))
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME"):
        monkeypatch.delenv(name, raising=False)
    return home


@pytest.fixture
def recorded(home: Path) -> Path:
    shutil.copytree(CORPUS, home, dirs_exist_ok=True)
    return home


@pytest.fixture
def sampled(home: Path) -> Path:
    for place, lines in PLACES.items():
        file = home / place
        file.parent.mkdir(parents=True)
        file.write_text("".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines))
    return home


async def search(words: str, journal: Journal | None = None, **asked: Any) -> History:
    return await HistorySearch(journal, shipped_profiles).search(SearchHistory(words=words, **asked))


async def found(words: str, journal: Journal | None = None, **asked: Any) -> list[FoundText]:
    history = await search(words, journal, **asked)
    assert history.left_out == ()
    return history.found


def write(file: Path, *texts: str, at: str = "2026-11-22T05:00:00Z") -> None:
    """Write a transcript of Claude Code's form in which it says those texts."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("a") as lines:
        for text in texts:
            said = {"type": "assistant", "timestamp": at, "message": {"content": [{"type": "text", "text": text}]}}
            lines.write(json.dumps(said, ensure_ascii=False) + "\n")


@pytest.mark.requirement("HIS-02a")
async def test_what_claude_codex_and_gemini_wrote_themselves_is_found(recorded: Path) -> None:
    everywhere = await found("control client")
    assert {one.agent for one in everywhere} == {"claude", "codex", "gemini"}
    assert {one.origin for one in await found("topic:prose")} == {"typed"}
    for agent in ("claude", "codex", "gemini"):
        (path,) = {Path(one.file).relative_to(recorded).parts[0] for one in await found("relay", agent=agent)}
        assert path == f".{agent}"
    assert {one.agent for one in await found("关键 OR 日本語", agent="all")} == set()
    assert {one.agent for one in await found("日本語")} == {"claude", "gemini"}
    snippet = (await found('"patient listener"'))[0]
    assert [snippet.snippet[start:stop] for start, stop in snippet.matches] == ["patient listener"]


@pytest.mark.requirement("HIS-02a")
async def test_session_and_time_filters(recorded: Path) -> None:
    of_codex = await found("topic", session=CODEX)
    assert {one.session for one in of_codex} == {CODEX}
    # Gemini CLI names its files by the beginning of the id alone.
    assert {one.agent for one in await found("topic", session="7e03971e-7d02-4694-9ccf-cfeecd712c5e")} == {"gemini"}
    with pytest.raises(TargetNotFound):
        await search("topic", session="nobody")
    every = sorted(await found("topic"), key=lambda one: one.at)
    middle = every[len(every) // 2].at
    for asked in ({"since": middle}, {"until": middle}):
        assert {(one.at, one.text) for one in await found("topic", **asked)} == {
            (one.at, one.text) for one in every if (one.at >= middle if "since" in asked else one.at <= middle)
        }
    assert len(await found("topic", limit=2)) == 2
    assert await found("topic", transcripts=False) == []


async def test_nothing_but_what_was_said_is_found(sampled: Path) -> None:
    assert {(one.agent, one.origin, one.text) for one in await found("KEY")} == {
        ("gemini", "program", "Here is the key."),
        ("gemini", "typed", "the gemini key?"),
        ("codex", "program", "No key."),
        ("codex", "typed", "the codex key?"),
        ("claude", "typed", "[Ann] key"),
        ("claude", "program", "The key is é under the mat."),
        ("claude", "typed", "Where is the Key?"),
    }
    assert await found("") == await found("nobody said that") == await found("ey") == []


@pytest.mark.parametrize(
    "words",
    ["gerat", "GERÄT", "häuser 端末", '"für größere"', "foo bar", '"foo bar"', "foo_bar", "zwei 端末", "ger", "x"],
)  # fmt: skip
@pytest.mark.parametrize("any_word", [False, True])
async def test_the_same_words_find_the_same_in_journal_and_transcripts(
    home: Path, tmp_path: Path, words: str, any_word: bool
) -> None:
    texts = ["Ein Gerät für\ngrößere Häuser 端末の中で動く", "foo_bar() is called", "bar foo", "GERÄT?", "plain x"]
    write(home / ".claude/projects/p/1.jsonl", *texts)
    async with Journal(tmp_path / "journal.db") as journal:
        for turn, text in enumerate(texts):
            lines = text.split("\n")
            await journal.append([Text(text=line, origin="program", pane="%1", turn=turn) for line in lines])
        heard = await found(words, journal, any_word=any_word, transcripts=False)
        written = await found(words, any_word=any_word)
        assert [one.text for one in heard] == [one.text for one in written]
        assert [(one.snippet, one.matches) for one in heard] == [(one.snippet, one.matches) for one in written]


async def test_the_better_the_rarer_and_the_newer_go_first_wherever_they_stand(home: Path, tmp_path: Path) -> None:
    now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
    folder = home / ".claude" / "projects" / "p"
    write(folder / "1.jsonl", "the parser, the parser, the parser", "one parser in " + "many words " * 60, at=now)
    write(folder / "2.jsonl", "the parser, the parser and the parser", at="2020-01-01T00:00:00Z")
    async with Journal(tmp_path / "journal.db") as journal:
        await journal.append([Text(text="a parser", origin="program", pane="%1")])
        assert [one.text[:20] for one in await found("parser", journal)] == [
            "the parser, the pars", "a parser", "the parser, the pars", "one parser in many w",
        ]  # fmt: skip
    write(folder / "3.jsonl", *[f"the usual number {number}" for number in range(20)], "the unusual", at=now)
    assert (await found("usual unusual", any_word=True))[0].text == "the unusual"


async def test_what_was_heard_and_written_down_as_well_is_given_once(home: Path, tmp_path: Path) -> None:
    now = time.time()
    stamp = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(now))
    write(home / ".claude/projects/p/1.jsonl", "## The plan\n\n* it **works** well", "it works elsewhere", at=stamp)
    write(home / ".claude/projects/p/2.jsonl", "The plan: it works, well", at="2020-01-01T00:00:00Z")
    async with Journal(tmp_path / "journal.db") as journal:
        await journal.append([PaneOpened(columns=80, lines=24, command="claude", pane="%1", at=now)])
        lines = ["The plan", "", "• it works well"]
        await journal.append([Text(text=line, origin="program", pane="%1", at=now) for line in lines])
        given = await found("works", journal)
    assert sorted((bool(one.file), one.text.splitlines()[0]) for one in given) == [
        (False, "The plan"), (True, "The plan: it works, well"), (True, "it works elsewhere"),
    ]  # fmt: skip


@pytest.mark.requirement("HIS-02b")
async def test_hostile_files_harm_nothing(recorded: Path, tmp_path: Path) -> None:
    folder = recorded / ".claude" / "projects" / "hostile"
    write(folder / "deep.jsonl", "before needle")
    with (folder / "deep.jsonl").open("ab") as file:
        file.write(b"[" * 100_000 + b'"needle"\n{"type":"assistant","message":{"content":"\xff needle"}}\n{"needle\n')
        file.write(b"x needle " * 2**20 + b"\n")
    write(folder / "deep.jsonl", "behind needle \x1b[2J\x00")
    os.mkfifo(folder / "needle.jsonl")
    outside = tmp_path / "outside"
    write(outside / "1.jsonl", "a secret needle")
    (folder.parent / "link").symlink_to(outside)
    (folder / "link.jsonl").symlink_to(outside / "1.jsonl")
    assert {one.text for one in await found("needle")} == {"before needle", "behind needle \x1b[2J\x00"}


class Clock:
    """Time that passes with every look at it."""

    def __init__(self, step: float) -> None:
        self.now, self.step = 0.0, step

    def __call__(self) -> float:
        self.now += self.step
        return self.now


@pytest.mark.requirement("HIS-02b")
async def test_what_there_was_no_time_for_is_said_and_it_is_the_oldest(home: Path) -> None:
    folder = home / ".claude" / "projects" / "p"
    for number in range(3):
        write(folder / f"{number}.jsonl", *[f"needle {number} {line}" for line in range(100)])
        os.utime(folder / f"{number}.jsonl", (1_795_000_000 + number,) * 2)
    asked = SearchHistory(words="needle", seconds=1.5, limit=1000)
    history = await HistorySearch(None, shipped_profiles, clock=Clock(0.01)).search(asked)
    texts = {one.text for one in history.found}
    assert {f"needle 2 {line}" for line in range(100)} < texts
    assert f"needle 1 {99}" in texts
    assert not {f"needle 1 {0}", "needle 0 99"} & texts
    (unread,) = history.left_out
    assert unread.startswith("2 transcripts of 2026-11-18 and before (up to 0.0 MB) not read to the end in 1.5 s")


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(20):
        while not condition():
            await asyncio.sleep(0.01)


@pytest.mark.requirement("HIS-02b")
async def test_files_that_do_not_answer_keep_nobody_waiting(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write(home / ".claude/projects/p/1.jsonl", *[f"needle {line}" for line in range(50)])
    began, answered, looked = threading.Event(), threading.Event(), 0
    read = search_module.read_passages

    def hangs(line: bytes) -> Any:
        nonlocal looked
        looked += 1
        if looked == 11:
            began.set()
            assert answered.wait(60)
        return read(line)

    monkeypatch.setattr(search_module, "read_passages", hangs)
    history = HistorySearch(None, shipped_profiles)
    first = await history.search(SearchHistory(words="needle", seconds=2.0))
    assert began.is_set()
    assert first.left_out == ("transcripts: their files did not answer in 2 s",)
    assert len(first.found) == 10
    waiting = await history.search(SearchHistory(words="needle", seconds=0.01))
    assert waiting.left_out == ("transcripts: another search was reading them for 0.01 s",)
    answered.set()
    assert len((await history.search(SearchHistory(words="needle"))).found) == 50
    assert looked == 11 + 50, "the one that was given up read on"


async def test_a_search_that_is_given_up_ends_at_once_and_reads_no_more(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(home / ".claude/projects/p/1.jsonl", *[f"needle {line}" for line in range(50)])
    began, answered, looked = threading.Event(), threading.Event(), 0

    def hangs(_: bytes) -> Any:
        nonlocal looked
        looked += 1
        began.set()
        assert answered.wait(60)
        return []

    monkeypatch.setattr(search_module, "read_passages", hangs)
    history = HistorySearch(None, shipped_profiles)
    search = asyncio.ensure_future(history.search(SearchHistory(words="needle")))
    await until(began.is_set)
    search.cancel()
    with pytest.raises(asyncio.CancelledError):
        await search
    answered.set()
    await until(lambda: "transcripts" not in {thread.name for thread in threading.enumerate()})
    assert looked == 1
