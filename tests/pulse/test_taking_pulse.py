"""A pulse of real repositories, programs and transcripts, some of which hang: it is there in time."""

import asyncio
import json
import shutil
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import pytest

from streamrelay.agents import shipped_profiles
from streamrelay.history import History, HistorySearch, SearchHistory
from streamrelay.pulse import ALL_PARTS, BEAT_PARTS, SessionNow, Sources, take_pulse
from streamrelay.testing.tmux import is_alive
from streamrelay.testing.waiting import wait_until
from tests.pulse.test_repositories import commit, git

PATIENCE = 30.0
HANG = """
import os, signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
open(sys.argv[1], "w").write(str(os.getpid()))
time.sleep(1000)
"""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME"):
        monkeypatch.delenv(name, raising=False)
    for name in ("parser", "printer"):
        folder = tmp_path / name
        (folder / "src").mkdir(parents=True)
        git(folder, "init", "-q", "-b", f"{name}-branch")
        commit(folder, f"Teach the {name} to sing")
    said = [
        ("2026-11-20T05:00:00Z", "The singing lexer needs a rest. Nobody asked."),
        ("2026-11-21T05:00:00Z", "We decided to release on Friday."),
        ("2026-11-21T05:01:00Z", "You are Sage.\nHistory signals: 1 found for release\n* 2026 claude: release at once"),
        ("2020-11-21T05:00:00Z", "An ancient singing story of the release."),
    ]
    file = tmp_path / ".claude/projects/p/1.jsonl"
    file.parent.mkdir(parents=True)
    lines = [{"type": "assistant", "timestamp": at, "message": {"content": text}} for at, text in said]
    file.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return tmp_path


def sessions(*folders: Path) -> Callable[[], Awaitable[list[SessionNow]]]:
    async def told() -> list[SessionNow]:
        return [SessionNow(title=f"S{number}", folder=str(folder)) for number, folder in enumerate(folders, 1)]

    return told


def search() -> Callable[[SearchHistory], Awaitable[History]]:
    return HistorySearch(None, shipped_profiles).search


def python(code: str, *words: str) -> list[str]:
    return [sys.executable, "-c", code, *words]


@pytest.mark.requirement("GAT-06")
async def test_all_of_it_at_once(home: Path) -> None:
    sources = Sources(
        sessions=sessions(home / "parser" / "src", home / "parser", home / "printer", home),
        search=search(),
        pipelines={
            "ci": [
                *python("import os, sys; print(os.getcwd(), sys.argv[1:]); sys.exit(2)"),
                "in {repository}",
                "$HOME",
            ],
            "all": python("print('fine')"),
            "none": ["no-such-program-anywhere"],
        },
        history_days=365,
    )
    pulse = await take_pulse(sources, scope=["release", "decided"], seconds=PATIENCE)
    assert pulse.system is not None
    assert pulse.system.processors >= 1
    assert (pulse.system.memory_total or 0) > 10**7
    assert pulse.system.disks[0].folder == str(home)
    assert [one.title for one in pulse.sessions] == ["S1", "S2", "S3", "S4"]
    assert {one.folder: one.branch for one in pulse.repositories} == {
        str(home / "parser"): "parser-branch", str(home / "printer"): "printer-branch",
    }  # fmt: skip
    assert {(one.name, one.repository, one.status, one.output) for one in pulse.pipelines} == {
        ("ci", "parser", 2, f"{home}/parser ['in {home}/parser', '$HOME']\n"),
        ("ci", "printer", 2, f"{home}/printer ['in {home}/printer', '$HOME']\n"),
        ("all", "", 0, "fine\n"),
    }
    assert pulse.keywords[:2] == ("release", "decided")
    assert {"parser", "printer", "sing", "teach"} <= set(pulse.keywords)
    assert pulse.history is not None
    assert (pulse.history.found, pulse.history.by) == (1, "extraction")
    assert pulse.history.summary == "2026-11-21 claude: We decided to release on Friday."
    assert [(one.part, one.why) for one in pulse.missing] == [
        ("pipelines", "none cannot be run: No such file or directory")
    ]
    text = pulse.text()
    assert "History signals: 1 found for release, decided" in text
    assert "* 2026-11-21 claude: We decided to release on Friday." in text
    assert "Repository: parser on parser-branch" in text
    assert "Pipeline ci of printer: failed (2)" in text


@pytest.mark.requirement("GAT-06")
async def test_what_hangs_is_left_out_and_said_and_gone_and_the_rest_is_there(home: Path) -> None:
    async def hangs() -> list[SessionNow]:
        await asyncio.Event().wait()
        return []

    files = [home / "one", home / "two"]
    pipelines = {file.name: python(HANG, str(file)) for file in files} | {"fine": ["echo", "fine"]}
    sources = Sources(sessions=hangs, search=search(), pipelines=pipelines)
    async with asyncio.timeout(PATIENCE):
        pulse = await take_pulse(sources, scope=["release"], seconds=3.0)
    assert [one.name for one in pulse.pipelines] == ["fine"]
    assert pulse.system is not None
    assert pulse.history is not None, "history does not wait for who hangs"
    assert pulse.history.found == 2
    assert {(one.part, one.why) for one in pulse.missing} == {
        ("sessions", "not there after 3 s"),
        ("repositories", "not there after 3 s"),
        ("pipelines", "one, two not there after 3 s"),
    }
    assert "* sessions: not there after 3 s" in pulse.text()
    for file in files:
        wait_until(lambda file=file: not is_alive(int(file.read_text())), PATIENCE)


async def test_a_git_that_hangs_in_one_repository_does_not_keep_the_others(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = shutil.which("git")
    folder = home / "bin"
    folder.mkdir()
    fake = folder / "git"
    fake.write_text(f'#!/bin/sh\ncase "$*" in *parser*) exec sleep 1000;; esac\nexec {real} "$@"\n')
    fake.chmod(0o755)
    monkeypatch.setenv("PATH", f"{folder}:/usr/bin:/bin")
    pulse = await take_pulse(
        Sources(sessions=sessions(home / "parser", home / "printer")), parts=BEAT_PARTS, seconds=3.0
    )
    assert [one.name for one in pulse.repositories] == ["printer"]
    assert [(one.part, one.why) for one in pulse.missing] == [
        ("repositories", f"{home / 'parser'} not there after 3 s")
    ]
    assert (pulse.history, pulse.pipelines, pulse.keywords) == (None, (), ())


async def test_without_git_and_with_sources_that_fail_there_is_a_pulse(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fails(_: object = None) -> list[SessionNow]:
        raise RuntimeError("a secret")

    pulse = await take_pulse(Sources(sessions=fails, search=search()), scope=["release"], seconds=PATIENCE)
    assert [(one.part, one.why) for one in pulse.missing] == [("sessions", "failed")]
    assert pulse.history is not None
    monkeypatch.setenv("PATH", str(home / "nothing"))
    pulse = await take_pulse(Sources(sessions=sessions(home)), seconds=PATIENCE)
    assert [(one.part, one.why) for one in pulse.missing] == [("repositories", "there is no git")]
    assert (await take_pulse(Sources(), parts=(), seconds=PATIENCE)).text() == ""


@pytest.mark.requirement("GAT-06")
async def test_a_model_s_command_summarises_what_was_found_where_there_is_one(home: Path) -> None:
    reads = python(
        "import sys; text = sys.stdin.read(); print('Signals of', len(text.splitlines()) > 3, 'release' in text)"
    )
    pulse = await take_pulse(
        Sources(search=search(), summary=reads), scope=["release"], parts=["history"], seconds=PATIENCE
    )
    assert pulse.history is not None
    assert (pulse.history.by, pulse.history.summary) == ("model", "Signals of True True\n")
    assert "* Signals of True True" in pulse.text()


@pytest.mark.parametrize(
    ("summary", "why"),
    [
        (["no-such-program-anywhere"], "the model's command cannot be run: No such file or directory"),
        (["false"], "the model's command gave no summary (status 1)"),
        (["true"], "the model's command gave no summary (status 0)"),
        (["yes"], "the model's command gave no summary (status -9)"),
        (["sleep", "1000"], "no summary of the model's after 2 s"),
    ],
)
async def test_a_model_that_does_not_answer_leaves_what_was_extracted(home: Path, summary: list[str], why: str) -> None:
    sources = Sources(search=search(), summary=summary)
    pulse = await take_pulse(sources, scope=["release"], parts=["history"], seconds=2.0)
    assert pulse.history is not None
    assert pulse.history.by == "extraction"
    assert "We decided to release on Friday." in pulse.history.summary
    assert [(one.part, one.why) for one in pulse.missing] == [("history", why)]


async def test_a_pulse_that_is_given_up_leaves_no_program_behind(home: Path) -> None:
    file = home / "pid"
    taking = asyncio.ensure_future(
        take_pulse(Sources(pipelines={"x": python(HANG, str(file))}), parts=ALL_PARTS, seconds=PATIENCE)
    )
    while not (file.exists() and file.read_text()):
        assert not taking.done()
        await asyncio.sleep(0.01)
    taking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await taking
    wait_until(lambda: not is_alive(int(file.read_text())), PATIENCE)
