"""An agent's own record is found from its process, never guessed, and read within bounds, whatever is there.

The files in witness_files/ are what each agent wrote in three turns against a model on loopback, cut to what counts.
"""

import itertools
import json
import os
import sqlite3
import time
import tracemalloc
from collections.abc import Mapping, Sequence
from pathlib import Path

import pytest

from streamrelay.agents.witnesses import database, growing_file, readers
from streamrelay.agents.witnesses.growing_file import GrowingFile, NotTrusted
from streamrelay.agents.witnesses.lines import LineReader
from streamrelay.agents.witnesses.process import AgentProcess, foreground_processes
from streamrelay.agents.witnesses.reading import Reading

HERE = Path(__file__).parent / "witness_files"
SESSION = "864760d9-92c6-4ac1-b0c0-12c177dbae11"
OTHER = "111760d9-92c6-4ac1-b0c0-12c177dbae11"
TABLE = """The measurements:

| Program | Bytes | Ratio |
|---|---|---|
| cat | 120 | 1.0 |
| bash | 340 | 2.8 |
| ink | 9100 | 75.8 |

The last row is the interesting one."""
SAID = [
    ("person", "Please give me your view on topic:short in a few words."),
    ("agent", "Understood. The answer is 42."),
    ("person", "Please give me your view on topic:table in a few words."),
    ("agent", TABLE),
    ("person", "Please give me your view on topic:tool in a few words."),
    ("agent", "I will run one command first."),
    ("agent", "The tool has finished and printed three lines. Nothing else needs to be done here."),
]

pytestmark = [pytest.mark.requirement("DEL-11"), pytest.mark.requirement("AGT-02a")]


def process(
    home: Path, pid: int = 4321, files: Sequence[Path] = (), started: float = 1_000.0, **environment: str
) -> AgentProcess:
    variables: Mapping[str, str] = {"HOME": str(home), **environment}
    return AgentProcess(pid, os.getuid(), started, Path("/home/ann/project"), variables, frozenset(files))


def said(reading: Reading) -> list[tuple[str, str]]:
    """Return what was said, without the ends of turns and what only says that a turn goes on."""
    return [(passage.speaker, passage.text) for passage in reading.passages if passage.text]


def written(path: Path, *lines: object) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        file.writelines(json.dumps(line) + "\n" for line in lines)
    return path


def claude_line(text: str, *, person: bool = False, **more: object) -> dict[str, object]:
    role = "user" if person else "assistant"
    message = {"role": role, "content": [{"type": "text", "text": text}], "stop_reason": None if person else "end_turn"}
    return {"type": role, "isSidechain": False, "message": message, **more}


def claude_step(text: str, **more: object) -> dict[str, object]:
    """A message that calls a tool: its turn goes on."""
    content = [{"type": "text", "text": text}]
    return {
        **claude_line(text, **more),
        "message": {"role": "assistant", "content": content, "stop_reason": "tool_use"},
    }


# What the lines say


@pytest.mark.parametrize("agent", ["claude", "codex", "gemini", "qwen"])
def test_three_recorded_turns_are_read_whole(agent: str) -> None:
    reader = LineReader()
    passages = [
        passage for line in (HERE / f"{agent}.jsonl").read_bytes().splitlines() for passage in reader.read(line)
    ]
    assert said(Reading(tuple(passages))) == SAID
    speakers = [
        speaker
        for speaker, _ in itertools.groupby(
            passage.speaker for passage in passages if passage.speaker != "agent" or passage.text
        )
    ]
    assert [speaker for speaker in speakers if speaker == "end"] == ["end"] * (4 if agent == "gemini" else 3)
    assert passages[-1].speaker == "end"


@pytest.mark.parametrize(
    "line",
    [
        b"",
        b"{",
        b"[" * 100_000,
        b'{"type":"assistant"}',
        b'{"type":"assistant","message":[1]}',
        b'{"type":"assistant","message":{"content":{"text":1}}}',
        b'{"type":"response_item","payload":7}',
        b'{"id":{},"type":"gemini","content":[[]]}',
        b'{"$set":{"messages":[{"type":"gemini","content":"old"}]}}',
        b"\xff\xfe\x00",
        json.dumps(claude_line("aside", isSidechain=True)).encode(),
        json.dumps(claude_line("summary", person=True, isCompactSummary=True)).encode(),
        json.dumps(claude_line("caveat", person=True, isMeta=True)).encode(),
    ],
)
def test_a_line_that_is_not_of_the_conversation_says_nothing(line: bytes) -> None:
    assert LineReader().read(line) == []


def test_an_interrupted_turn_ends_without_an_answer() -> None:
    reader = LineReader()
    line = json.dumps(claude_line("[Request interrupted by user]", person=True)).encode()
    assert [passage.speaker for passage in reader.read(line)] == ["end"]


def gemini_line(number: int, text: object, *, person: bool = False) -> dict[str, object]:
    return {"id": str(number), "timestamp": "2026-11-29T19:22:47.823Z", "type": "user" if person else "gemini",
            "content": [{"text": text}] if person else text}  # fmt: skip


def test_a_history_that_gemini_writes_again_says_nothing() -> None:
    """It does so when a request is cancelled (0.61.0): copies with other ids, and then the whole in one line."""
    context = "<session_context>\nThis is the Gemini CLI."
    lines: list[dict[str, object]] = [
        {"$set": {"messages": [gemini_line(0, context, person=True)]}},
        gemini_line(1, "do it", person=True), gemini_line(2, "Done."),
        gemini_line(3, "and this", person=True), gemini_line(4, "I ask."),
        {"id": "5", "type": "info", "content": "Request cancelled."},
        gemini_line(6, context, person=True), gemini_line(7, [{"text": "Done."}]), {"$set": {"lastUpdated": "now"}},
        gemini_line(8, [{"text": "I ask."}]), {"$set": {"messages": [gemini_line(6, context, person=True)]}},
        gemini_line(9, "again", person=True), gemini_line(10, "Done."),
    ]  # fmt: skip
    reader = LineReader()
    read = [passage for line in lines for passage in reader.read(json.dumps(line).encode())]
    assert [passage.text for passage in read if passage.speaker != "end"] == [
        "do it", "Done.", "and this", "I ask.", "again", "Done.",
    ]  # fmt: skip


def test_what_is_new_in_a_history_that_is_written_again_is_said() -> None:
    context = "<session_context>\nThis is the Gemini CLI."
    lines = [
        gemini_line(1, "do it", person=True), gemini_line(2, "Done."), gemini_line(3, context, person=True),
        gemini_line(4, "Done."), gemini_line(5, "and this", person=True), gemini_line(6, "Done."),
    ]  # fmt: skip
    reader = LineReader()
    read = [passage for line in lines for passage in reader.read(json.dumps(line).encode())]
    assert [passage.text for passage in read if passage.speaker != "end"] == ["do it", "Done.", "and this", "Done."]


# Which file it is


def claude_home(tmp_path: Path, *sessions: tuple[int, str]) -> Path:
    for pid, session in sessions:
        written(tmp_path / ".claude/sessions" / f"{pid}.json", {"pid": pid, "sessionId": session})
        written(tmp_path / ".claude/projects/-home-ann-project" / f"{session}.jsonl", claude_line(f"of {pid}"))
    return tmp_path


def test_two_claudes_in_one_folder_each_have_their_own_transcript(tmp_path: Path) -> None:
    home = claude_home(tmp_path, (4321, SESSION), (4322, OTHER))
    assert readers.find_claude([process(home)]).stem == SESSION
    assert readers.find_claude([process(home, 4322)]).stem == OTHER
    with pytest.raises(readers.NoRecord, match="several"):
        readers.find_claude([process(home), process(home, 4322)])
    with pytest.raises(readers.NoRecord, match="keeps_none"):
        readers.find_claude([process(home, 4323)])


def test_a_claude_that_has_noted_its_session_may_begin_its_transcript_later(tmp_path: Path) -> None:
    written(tmp_path / ".claude/sessions/4321.json", {"pid": 4321, "sessionId": SESSION})
    with pytest.raises(readers.NoRecord, match="no_record"):
        readers.find_claude([process(tmp_path)])


@pytest.mark.parametrize("session", ["../../secret", "", 7, SESSION.upper(), f"{SESSION}/.."])
def test_a_note_that_names_no_session_finds_nothing(tmp_path: Path, session: object) -> None:
    written(tmp_path / ".claude/sessions/4321.json", {"sessionId": session})
    with pytest.raises(readers.NoRecord, match="no_record"):
        readers.find_claude([process(tmp_path)])


def test_the_rollout_that_codex_has_open_is_its_own_but_not_that_of_an_agent_it_started(tmp_path: Path) -> None:
    folder = tmp_path / ".codex/sessions/2026/01/01"
    own = written(folder / "rollout-1.jsonl", {"type": "session_meta", "payload": {"source": "cli"}})
    agents = written(folder / "rollout-2.jsonl", {"type": "session_meta", "payload": {"source": {"subagent": "x"}}})
    written(folder / "rollout-3.jsonl", {"type": "session_meta", "payload": {"source": "cli"}})
    assert readers.find_codex([process(tmp_path, files=[own, agents, tmp_path / "state.sqlite"])]) == own
    with pytest.raises(readers.NoRecord, match="several"):
        readers.find_codex([process(tmp_path, files=[own, folder / "rollout-3.jsonl"])])
    with pytest.raises(readers.NoRecord, match="keeps_none"):
        readers.find_codex([process(tmp_path, files=[tmp_path / "state.sqlite"])])


@pytest.mark.parametrize("variable", ["", "CODEX_HOME"])
def test_a_codex_that_has_files_of_its_folder_open_may_begin_its_rollout_later(tmp_path: Path, variable: str) -> None:
    folder = tmp_path / "elsewhere" / ".codex"
    folder.mkdir(parents=True)
    (tmp_path / ".codex").symlink_to(folder)
    environment = {variable: str(folder)} if variable else {}
    with pytest.raises(readers.NoRecord, match="no_record"):
        readers.find_codex([process(tmp_path, files=[folder / "state.sqlite"], **environment)])


def iso(at: float) -> str:
    return time.strftime("%Y-%m-%dT%H:%M:%S.000Z", time.gmtime(at))


def test_the_chat_that_gemini_began_with_its_process_is_its_own(tmp_path: Path) -> None:
    written(tmp_path / ".gemini/projects.json", {"projects": {"/home/ann/project": "project"}})
    chats = tmp_path / ".gemini/tmp/project/chats"
    for name, at in (("session-a.jsonl", 900.0), ("session-b.jsonl", 1_003.0), ("session-c.jsonl", 1_100.0)):
        written(chats / name, {"startTime": iso(at), "kind": "main"})
    assert readers.find_gemini([process(tmp_path)]).name == "session-b.jsonl"
    written(chats / "session-d.jsonl", {"startTime": iso(1_004.0)})
    with pytest.raises(readers.NoRecord, match="several"):
        readers.find_gemini([process(tmp_path)])
    with pytest.raises(readers.NoRecord, match="no_record"):
        readers.find_gemini([process(tmp_path, started=5_000.0)])


def test_the_chat_of_the_session_whose_log_qwen_began_with_its_process_is_its_own(tmp_path: Path) -> None:
    for session, at in ((SESSION, 1_002.0), (OTHER, 700.0)):
        log = tmp_path / ".qwen/debug" / f"{session}.txt"
        log.parent.mkdir(parents=True, exist_ok=True)
        log.write_text(f"{iso(at)} [DEBUG] begins\n")
        written(tmp_path / ".qwen/projects/-home-ann-project/chats" / f"{session}.jsonl", {})
    assert readers.find_qwen([process(tmp_path)]).stem == SESSION


@pytest.mark.skipif(not Path("/proc/self/stat").exists(), reason="there is no /proc")
def test_a_process_is_seen_with_its_folder_environment_and_files(tmp_path: Path) -> None:
    file = written(tmp_path / "open.jsonl", {})
    with file.open():
        found = readers.foreground_processes(os.getpid())
        own = [one for one in found if one.pid == os.getpid()]
        # Without a terminal nothing is in the foreground of one.
        assert not found or (own and file in own[0].files and own[0].folder == Path.cwd())
    assert foreground_processes(2**22 + 1) == []


# Reading


def transcript(tmp_path: Path) -> GrowingFile:
    return GrowingFile(tmp_path / "a.jsonl", os.getuid())


def test_only_what_was_added_is_read_and_a_line_when_it_is_whole(tmp_path: Path) -> None:
    path = written(tmp_path / "a.jsonl", 1)
    with path.open("a") as file:
        file.write('{"begun":')
    growing = transcript(tmp_path)
    assert growing.read_lines() == [b"1"]
    with path.open("a") as file:
        file.write(" 2}\n3\n4")
    assert growing.read_lines() == [b'{"begun": 2}', b"3"]
    assert growing.read_lines() == []
    with path.open("a") as file:
        file.write("4\n")
    assert growing.read_lines() == [b"44"]


def test_a_file_that_comes_later_is_read_from_its_beginning(tmp_path: Path) -> None:
    growing = transcript(tmp_path)
    with pytest.raises(FileNotFoundError):
        growing.read_lines()
    written(tmp_path / "a.jsonl", 1)
    assert growing.read_lines() == [b"1"]


@pytest.mark.parametrize("how", ["cut", "replaced"])
def test_a_file_that_was_cut_or_replaced_is_read_as_a_new_one(tmp_path: Path, how: str) -> None:
    path = written(tmp_path / "a.jsonl", 1, 2, 3)
    growing = transcript(tmp_path)
    assert len(growing.read_lines()) == 3
    if how == "replaced":
        path.rename(tmp_path / "old.jsonl")
    else:
        path.write_text("")
    written(path, 4)
    assert growing.read_lines() == [b"4"]


def test_a_file_of_a_gigabyte_is_read_at_its_end_in_little_memory(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    growing = transcript(tmp_path)
    with path.open("wb") as file:
        file.truncate(2**30)
        file.seek(0, os.SEEK_END)
        file.write(b"\n1\n")
    tracemalloc.start()
    try:
        assert growing.read_lines() == [b"1"]
        assert tracemalloc.get_traced_memory()[1] < 5 * growing_file.MAX_READ
    finally:
        tracemalloc.stop()


def test_a_line_that_never_ends_is_passed_over(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(growing_file, "MAX_LINE", 100)
    path = tmp_path / "a.jsonl"
    growing = transcript(tmp_path)
    path.write_bytes(b"x" * 1_000)
    assert growing.read_lines() == []
    with path.open("ab") as file:
        file.write(b"x" * 10 + b"\n2\n")
    assert growing.read_lines()[-1] == b"2"


@pytest.mark.parametrize("kind", ["link", "pipe", "folder"])
def test_only_a_plain_file_is_read(tmp_path: Path, kind: str) -> None:
    path = tmp_path / "a.jsonl"
    if kind == "link":
        path.symlink_to(written(tmp_path / "b.jsonl", 1))
    elif kind == "pipe":
        os.mkfifo(path)
    else:
        path.mkdir()
    with pytest.raises(OSError, match=r"plain file|Too many|regular"):
        transcript(tmp_path).read_lines()


def test_a_file_that_others_may_write_or_own_is_not_read(tmp_path: Path) -> None:
    path = written(tmp_path / "a.jsonl", 1)
    path.chmod(0o666)
    with pytest.raises(NotTrusted):
        transcript(tmp_path).read_lines()
    path.chmod(0o600)
    with pytest.raises(NotTrusted):
        GrowingFile(path, os.getuid() + 1).read_lines()


# From the process to what was said


def test_a_transcript_is_read_on_in_the_session_that_the_agent_goes_on_in(tmp_path: Path) -> None:
    home = claude_home(tmp_path, (4321, SESSION))
    record = readers.AgentTranscript(lambda: [process(home)], readers.find_claude, since=0.0)
    assert said(record.read()) == [("agent", "of 4321")]
    written(home / f".claude/projects/-home-ann-project/{SESSION}.jsonl", claude_line("new"))
    assert said(record.read()) == [("agent", "new")]
    (home / ".claude/sessions/4321.json").unlink()
    claude_home(home, (4321, OTHER))
    assert said(record.read()) == [("agent", "of 4321")]


def test_what_was_said_before_the_watching_began_is_no_answer(tmp_path: Path) -> None:
    home = claude_home(tmp_path, (4321, SESSION))
    record = readers.AgentTranscript(lambda: [process(home)], readers.find_claude, since=2_000.0)
    path = home / f".claude/projects/-home-ann-project/{SESSION}.jsonl"
    written(path, claude_line("old", timestamp=iso(1_000.0)), claude_line("new", timestamp=iso(3_000.0)))
    # A line without a time may be of any.
    assert said(record.read()) == [("agent", "of 4321"), ("agent", "new")]


@pytest.mark.parametrize(
    ("at", "expected"),
    [
        # Watched since: before the message; while the first step ran; behind the tool; when all was over.
        (999.0, ["asked", "step 1", "step 2", "next", "answer"]),
        (1_005.0, ["step 1", "step 2", "next", "answer"]),
        (1_015.0, ["step 1", "step 2", "next", "answer"]),
        (1_021.0, ["next", "answer"]),
        (1_031.0, ["answer"]),
    ],
)
def test_an_answer_under_way_when_the_watching_began_is_read_whole(
    tmp_path: Path, at: float, expected: list[str]
) -> None:
    home = claude_home(tmp_path, (4321, SESSION))
    path = home / f".claude/projects/-home-ann-project/{SESSION}.jsonl"
    path.unlink()
    step = claude_step("step 1", timestamp=iso(1_010.0))
    written(
        path,
        claude_line("earlier", person=True, timestamp=iso(900.0)), claude_line("older", timestamp=iso(910.0)),
        claude_line("asked", person=True, timestamp=iso(1_000.0)), step, claude_line("step 2", timestamp=iso(1_020.0)),
        claude_line("next", person=True, timestamp=iso(1_030.0)), claude_line("answer", timestamp=iso(1_040.0)),
    )  # fmt: skip
    record = readers.AgentTranscript(lambda: [process(home)], readers.find_claude, since=at)
    assert [text for _, text in said(record.read())] == expected
    assert said(record.read()) == []


def test_an_answer_under_way_is_read_whole_when_its_end_comes_later(tmp_path: Path) -> None:
    home = claude_home(tmp_path, (4321, SESSION))
    path = home / f".claude/projects/-home-ann-project/{SESSION}.jsonl"
    path.unlink()
    step = claude_step("step 1", timestamp=iso(1_010.0))
    written(path, claude_line("asked", person=True, timestamp=iso(1_000.0)), step)
    record = readers.AgentTranscript(lambda: [process(home)], readers.find_claude, since=1_015.0)
    assert said(record.read()) == []
    written(path, claude_line("step 2", timestamp=iso(1_020.0)))
    assert said(record.read()) == [("agent", "step 1"), ("agent", "step 2")]


def test_an_answer_that_was_broken_off_before_the_watching_is_not_read_with_a_later_message(tmp_path: Path) -> None:
    home = claude_home(tmp_path, (4321, SESSION))
    path = home / f".claude/projects/-home-ann-project/{SESSION}.jsonl"
    path.unlink()
    step = claude_step("step 1", timestamp=iso(1_010.0))
    written(path, step, claude_line("next", person=True, timestamp=iso(1_030.0)))
    written(path, claude_line("answer", timestamp=iso(1_040.0)))
    record = readers.AgentTranscript(lambda: [process(home)], readers.find_claude, since=1_015.0)
    assert said(record.read()) == [("person", "next"), ("agent", "answer")]


def test_in_another_file_no_answer_was_under_way(tmp_path: Path) -> None:
    """An agent that continues a session copies its earlier messages."""
    home = claude_home(tmp_path, (4321, SESSION))
    record = readers.AgentTranscript(lambda: [process(home)], readers.find_claude, since=1_015.0)
    record.read()
    (home / ".claude/sessions/4321.json").unlink()
    claude_home(home, (4321, OTHER))
    path = home / f".claude/projects/-home-ann-project/{OTHER}.jsonl"
    path.unlink()
    step = claude_step("step 1", timestamp=iso(1_010.0))
    written(path, step, claude_line("step 2", timestamp=iso(1_020.0)))
    assert said(record.read()) == [("agent", "step 2")]


def test_an_answer_that_is_written_before_its_message_is_read_behind_it(tmp_path: Path) -> None:
    home = claude_home(tmp_path, (4321, SESSION))
    record = readers.AgentTranscript(lambda: [process(home)], readers.find_claude, since=0.0)
    record.read()
    path = home / f".claude/projects/-home-ann-project/{SESSION}.jsonl"
    written(
        path,
        claude_line("Fine.", timestamp=iso(2_001.0)),
        claude_line("How are you?", person=True, timestamp=iso(2_000.0)),
    )
    assert [passage.speaker for passage in record.read().passages] == ["person", "agent", "end"]


def test_the_transcript_of_an_agent_that_has_ended_is_read_on(tmp_path: Path) -> None:
    home = claude_home(tmp_path, (4321, SESSION))
    processes = [process(home)]
    record = readers.AgentTranscript(lambda: processes, readers.find_claude, since=0.0)
    assert said(record.read()) == [("agent", "of 4321")]
    processes.clear()
    (home / ".claude/sessions/4321.json").unlink()
    written(home / f".claude/projects/-home-ann-project/{SESSION}.jsonl", claude_line("last"))
    assert said(record.read()) == [("agent", "last")]


def test_the_database_of_an_agent_that_has_ended_is_read_on(tmp_path: Path) -> None:
    path = opencode_session(tmp_path)
    processes = [process(tmp_path, files=[path])]
    record = database.AgentDatabase(lambda: processes, since=1_005.0)
    assert said(record.read()) == []
    processes.clear()
    opencode_message(path, "d", 1_001_000, 1_010_000, "last", finish="stop")
    assert said(record.read()) == [("agent", "last")]
    assert database.AgentDatabase(list, since=1_005.0).read().reason == "no_process"


def test_why_nothing_is_read_is_said(tmp_path: Path) -> None:
    assert readers.AgentTranscript(list, readers.find_claude, since=0.0).read().reason == "no_process"
    assert (
        readers.AgentTranscript(lambda: [process(tmp_path)], readers.find_claude, since=0.0).read().reason
        == "keeps_none"
    )
    home = claude_home(tmp_path, (4321, SESSION))
    (home / f".claude/projects/-home-ann-project/{SESSION}.jsonl").chmod(0o622)
    assert (
        readers.AgentTranscript(lambda: [process(home)], readers.find_claude, since=0.0).read().reason == "not_trusted"
    )


# OpenCode's database

TABLES = """
CREATE TABLE session (id, parent_id, directory);
CREATE TABLE message (id PRIMARY KEY, session_id, time_created, time_updated, data);
CREATE TABLE part (id PRIMARY KEY, message_id, session_id, time_created, data);
"""


def opencode(tmp_path: Path) -> Path:
    path = tmp_path / "opencode.db"
    with sqlite3.connect(path) as opened:
        opened.executescript(TABLES)
        for line in (HERE / "opencode.jsonl").read_text().splitlines():
            table, *values = json.loads(line)
            if table == "message":
                values.insert(3, values[2])
            places = ", ".join("?" * len(values))
            opened.execute(f"INSERT INTO {table} VALUES ({places})", values)  # noqa: S608  # the names are the test's
    opened.close()
    return path


def test_what_was_said_in_the_only_session_of_a_folder_is_read_once(tmp_path: Path) -> None:
    path = opencode(tmp_path)
    record = database.AgentDatabase(lambda: [process(tmp_path, files=[path])], since=0.0)
    first = record.read()
    assert said(first) == SAID
    assert [passage.speaker for passage in first.passages].count("end") == 3
    assert said(record.read()) == []


def test_two_sessions_in_a_folder_are_not_told_apart(tmp_path: Path) -> None:
    path = opencode(tmp_path)
    with sqlite3.connect(path) as opened:
        opened.execute("INSERT INTO session VALUES ('other', NULL, '/home/ann/project')")
        opened.execute("INSERT INTO message VALUES ('m', 'other', 1, 1, '{}')")
    opened.close()
    assert database.AgentDatabase(lambda: [process(tmp_path, files=[path])], since=0.0).read().reason == "several"


def opencode_message(path: Path, number: str, created: int, completed: int | None, text: str, **more: object) -> None:
    """Write a message that was changed last when it was completed; a person's is as soon as it is there."""
    is_persons = completed is None and not more
    role = "user" if is_persons else "assistant"
    data = {"role": role, "time": {"created": created, **({"completed": completed} if completed else {})}, **more}
    with sqlite3.connect(path) as opened:
        values = (number, "s", created, completed or created, json.dumps(data))
        opened.execute("INSERT OR REPLACE INTO message VALUES (?, ?, ?, ?, ?)", values)
        part = json.dumps({"type": "text", "text": text})
        opened.execute("INSERT OR REPLACE INTO part VALUES (?, ?, 's', ?, ?)", (f"p{number}", number, created, part))
    opened.close()


def opencode_session(tmp_path: Path) -> Path:
    path = tmp_path / "opencode.db"
    with sqlite3.connect(path) as opened:
        opened.executescript(TABLES)
        opened.execute("INSERT INTO session VALUES ('s', NULL, '/home/ann/project')")
    opened.close()
    opencode_message(path, "a", 900_000, None, "earlier")
    opencode_message(path, "b", 901_000, 910_000, "older", finish="stop")
    opencode_message(path, "c", 1_000_000, None, "asked")
    return path


@pytest.mark.parametrize(
    ("at", "expected"),
    [
        (999.0, ["asked", "step 1", "step 2"]), (1_005.0, ["step 1", "step 2"]), (1_012.0, ["step 1", "step 2"]),
        (1_021.0, []),
    ],
)  # fmt: skip
def test_an_answer_in_the_database_that_was_under_way_is_read_whole(
    tmp_path: Path, at: float, expected: list[str]
) -> None:
    path = opencode_session(tmp_path)
    opencode_message(path, "d", 1_001_000, 1_010_000, "step 1", finish="tool-calls")
    opencode_message(path, "e", 1_011_000, 1_020_000, "step 2", finish="stop")
    record = database.AgentDatabase(lambda: [process(tmp_path, files=[path])], since=at)
    assert [text for _, text in said(record.read())] == expected
    opencode_message(path, "f", 1_030_000, None, "next")
    opencode_message(path, "g", 1_031_000, 1_040_000, "answer", finish="stop")
    assert [text for _, text in said(record.read())] == ["next", "answer"]


def test_an_answer_that_a_crash_broke_off_keeps_no_later_one_waiting(tmp_path: Path) -> None:
    path = opencode_session(tmp_path)
    opencode_message(path, "d", 1_001_000, None, "half", finish="")
    record = database.AgentDatabase(lambda: [process(tmp_path, files=[path])], since=1_005.0)
    opencode_message(path, "f", 1_030_000, None, "next")
    assert said(record.read()) == []
    opencode_message(path, "g", 1_031_000, 1_040_000, "answer", finish="stop")
    assert said(record.read()) == [("person", "next"), ("agent", "answer")]


def test_a_command_that_a_person_gave_the_shell_keeps_no_later_message_waiting(tmp_path: Path) -> None:
    """OpenCode 1.18.33 writes it as a person's message, with nothing in it but a text of its own."""
    path = opencode_session(tmp_path)
    record = database.AgentDatabase(lambda: [process(tmp_path, files=[path])], since=1_005.0)
    opencode_message(path, "f", 1_030_000, None, "The following tool was executed by the user")
    with sqlite3.connect(path) as opened:
        opened.execute("UPDATE part SET data = json_set(data, '$.synthetic', json('true')) WHERE id = 'pf'")
    opened.close()
    opencode_message(path, "g", 1_031_000, 1_032_000, "", finish="stop")
    assert [text for _, text in said(record.read()) if text] == []
    opencode_message(path, "h", 1_040_000, None, "next")
    opencode_message(path, "i", 1_041_000, 1_050_000, "answer", finish="stop")
    assert [text for _, text in said(record.read()) if text] == ["next", "answer"]


@pytest.mark.parametrize("content", [b"no database", b"SQLite format 3\0" + b"\xff" * 4096])
def test_a_file_that_is_no_database_is_unreadable(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "opencode.db"
    path.write_bytes(content)
    assert database.AgentDatabase(lambda: [process(tmp_path, files=[path])], since=0.0).read().reason == "unreadable"
