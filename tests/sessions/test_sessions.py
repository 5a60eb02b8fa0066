"""Sessions that are started, found, listed and ended on a real server: by their ids, whatever they are called."""

import asyncio
import json
import os
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

import streamrelay
from streamrelay.agents import parse_profile
from streamrelay.delivery.outbox import Outbox
from streamrelay.delivery.sending import send
from streamrelay.errors import StartFailed, TargetNotFound, UsageError
from streamrelay.events import PaneClosed
from streamrelay.panes.server import Server
from streamrelay.service.api import Session, StartSession
from streamrelay.sessions.sessions import Sessions
from streamrelay.testing.agent import read_got
from streamrelay.testing.tmux import PrivateTmux
from streamrelay.testing.waiting import wait_until_async

PATIENCE = 30.0
TELL = """
import json, os, sys
size = os.get_terminal_size()
told = [sys.argv[1:], os.getcwd(), os.environ.get("GREETING"), size.columns, size.lines]
open(os.environ["TOLD"], "w").write(json.dumps(told))
sys.stdin.readline()
print("my last words", flush=True)
"""
SPRITE = f"""
title = "Sprite"
[recognise]
signs = ['^sprite$']
commands = ["sprite"]
interpreters = ["python", "python3", "python3.11", "python3.12", "python3.13"]
[start]
command = ["{sys.executable}", "-m", "streamrelay.testing.agent", "--boot", "0.5", "--log"]
columns = 90
[delivery]
ready = ['^>$']
composer = '^> ?(?P<draft>.*)$'
"""


@pytest.fixture(params=["watching", "not watching"])
async def server(request: pytest.FixtureRequest, private_tmux: PrivateTmux) -> AsyncIterator[Server]:
    """With a hub, commands go over its client; without, each is a process of its own."""
    keeper = private_tmux.new_session("keeper", ["cat"])
    profile = parse_profile("sprite", SPRITE, source="sprite.toml")
    async with streamrelay.connect(
        tmux=private_tmux.binary, socket_path=private_tmux.socket_path, profiles=[profile]
    ) as server:
        if request.param == "watching":
            async with server.watch(keeper):
                yield server
        else:
            yield server


@pytest.mark.requirement("AGT-01a")
@pytest.mark.requirement("AGT-04a")
async def test_a_program_gets_its_words_its_folder_and_its_variables_as_they_are(
    server: Server, tmp_path: Path
) -> None:
    folder = tmp_path / "a#{pid} #[x] %H #(touch pwned);"
    folder.mkdir()
    told = tmp_path / "told"
    words = ["two words", "$HOME `touch pwned` $(touch pwned)", "\"'\\", "#{pane_id}", "~", "é\n\t", ";", "a;", ""]
    value = "#{pid} $HOME; %H\n'\""
    session = await Sessions(server).start(
        StartSession(
            agent=sys.executable,
            arguments=["-c", TELL, *words],
            title="Ann: #{pid}. $x",
            cwd=str(folder),
            environment={"GREETING": value, "TOLD": str(told)},
            columns=100,
            lines=30,
        )
    )
    await wait_until_async(lambda: told.exists() and told.read_text(), PATIENCE, "the program to tell")
    assert json.loads(told.read_text()) == [words, str(folder), value, 100, 30]
    assert session.title == "Ann: #{pid}. $x"
    assert session.started_here
    assert not list(tmp_path.rglob("pwned"))


async def test_what_is_a_programs_own_is_no_others_in_its_tmux_session(
    server: Server, private_tmux: PrivateTmux, tmp_path: Path
) -> None:
    sessions = Sessions(server, own=lambda session: {"ITS_OWN": f"of {session}"})
    told, other = tmp_path / "told", tmp_path / "other"
    started = await sessions.start(
        StartSession(agent="sh", arguments=["-c", 'echo "$ITS_OWN" > "$0"; exec cat', str(told)], title="one")
    )
    await wait_until_async(lambda: told.exists() and told.read_text(), PATIENCE)
    assert told.read_text() == f"of {started.session}\n"
    private_tmux.run("new-window", "-d", "-t", "=one:", "sh", "-c", 'echo "[$ITS_OWN]" > "$0"; exec cat', str(other))
    await wait_until_async(lambda: other.exists() and other.read_text(), PATIENCE)
    assert other.read_text() == "[]\n"
    assert "ITS_OWN" not in private_tmux.run("show-environment", "-t", "=one")


@pytest.mark.requirement("AGT-01a")
async def test_a_session_is_found_by_what_it_is_known_by_and_ended_by_nothing_else(
    server: Server, private_tmux: PrivateTmux
) -> None:
    sessions = Sessions(server)
    one = await sessions.start(StartSession(agent="cat", title="Ann"))
    other = await sessions.start(StartSession(agent="cat", title="Ann"))
    third = await sessions.start(StartSession(agent="cat"))
    assert len({one.session, other.session, third.session}) == 3
    assert third.title == "cat"
    assert (await sessions.find(one.session)).pane == one.pane
    assert (await sessions.find("cat")).session == third.session
    assert (await sessions.find(f"{other.session_name}:")).session == other.session
    with pytest.raises(UsageError, match="several"):
        await sessions.find("Ann")
    # What only begins so, or looks like it, is somebody else.
    for text in ("nobody", "keep", "keep*", "keep:0", "=keep", "{last}", "!", "~", ".0", ":", "-t", "k?eper:0.0"):
        with pytest.raises(TargetNotFound):
            await sessions.find(text)
    keeper = await sessions.find("keeper")
    assert [await sessions.find(f"keeper:{place}") for place in ("", "0", "0.0")] == [keeper] * 3
    with pytest.raises(UsageError, match="not started"):
        await sessions.end("keeper")

    # The ids are the panes' own: whoever comes later, another process for one, knows them too.
    private_tmux.run("rename-session", "-t", one.session_name, "elsewhere")
    again = await Sessions(server).find(one.session)
    assert (again.pane, again.session_name, again.title) == (one.pane, "elsewhere", "Ann")
    private_tmux.run("split-window", "-t", one.pane, "cat")
    await sessions.end(one.session)
    assert one.pane not in {found.pane for found in await sessions.all()}
    assert "elsewhere" in {found.session_name for found in await sessions.all()}
    assert {found.session for found in await sessions.all() if found.started_here} == {other.session, third.session}


@pytest.mark.requirement("AGT-04a")
@pytest.mark.parametrize(("columns", "lines"), [(39, 24), (80, 9), (1, 1)])
async def test_a_terminal_too_small_is_refused(server: Server, columns: int, lines: int) -> None:
    with pytest.raises(UsageError, match="too small"):
        await Sessions(server).start(StartSession(agent="cat", columns=columns, lines=lines))


@pytest.mark.parametrize(
    "request_",
    [
        StartSession(agent="cat", cwd="/nowhere/at/all"),
        StartSession(agent="cat", cwd="relative"),
        StartSession(agent="cat", environment={"A=B": "x"}),
        StartSession(agent="cat", title="a\tb"),
        StartSession(agent=""),
        StartSession(agent="cat", arguments=["\0"]),
    ],
)
async def test_a_request_that_makes_no_sense_starts_nothing(server: Server, request_: StartSession) -> None:
    with pytest.raises(UsageError):
        await Sessions(server).start(request_)
    assert [one.session_name for one in await Sessions(server).all()] == ["keeper"]


async def test_a_program_that_cannot_be_started_says_why_and_leaves_nothing(server: Server, tmp_path: Path) -> None:
    sessions = Sessions(server)
    with pytest.raises(StartFailed, match="program not found: no-such-program"):
        await sessions.start(StartSession(agent="no-such-program"))
    script = tmp_path / "script"
    script.write_text("#!/no/such/interpreter\n")
    script.chmod(0o755)
    for _ in range(20):  # tmux misses one such end of twenty, at first
        with pytest.raises(StartFailed, match=r"^script ended before it was ready \(exit status 12[67]\)"):
            await sessions.start(StartSession(agent=str(script)))
    assert [one.session_name for one in await sessions.all()] == ["keeper"]


@pytest.mark.requirement("AGT-06")
async def test_a_program_that_dies_before_it_is_ready_is_reported_with_its_last_words(
    server: Server, private_tmux: PrivateTmux
) -> None:
    """However late it dies: before it is watched, or while it is waited for."""
    sessions = Sessions(server)

    async def dying(ending: str) -> Session:
        script = f"printf 'one\\ntwo\\033[1m three\\342\\200\\256\\n'; read x; {ending}"
        return await sessions.start(StartSession(agent="sh", arguments=["-c", script]), is_awaited=True)

    def ends(session: Session) -> None:
        private_tmux.run("send-keys", "-t", session.pane, "Enter")

    def has_ended(session: Session) -> bool:
        return private_tmux.run("display-message", "-p", "-t", session.pane, "#{pane_dead}") == "1"

    unwatched = await dying("exit 3")
    ends(unwatched)
    await wait_until_async(lambda: has_ended(unwatched), PATIENCE, "the end of the program")
    with pytest.raises(StartFailed) as raised:
        async with sessions.failing_start(unwatched), server.watch(unwatched.pane):
            pass
    assert raised.value.message == "sh ended before it was ready (exit status 3); it printed last:\none\ntwo three"

    watched = await dying("kill -9 $$")
    with pytest.raises(StartFailed) as raised:
        async with sessions.failing_start(watched), server.watch(watched.pane):
            ends(watched)
            await sessions.until_ready(watched)
    assert raised.value.message == "sh ended before it was ready (killed by SIGKILL); it printed last:\none\ntwo three"

    closed = await dying("exit")
    with pytest.raises(StartFailed, match=r"^sh ended before it was ready \(its pane was closed\)$"):
        async with sessions.failing_start(closed), server.watch(closed.pane):
            private_tmux.run("kill-pane", "-t", closed.pane)
            await sessions.until_ready(closed)
    assert [one.session_name for one in await sessions.all()] == ["keeper"]


@pytest.mark.requirement("AGT-06")
async def test_a_program_is_looked_up_in_the_path_of_who_asks(server: Server, tmp_path: Path) -> None:
    folder, told = tmp_path / "only here", tmp_path / "told"
    folder.mkdir()
    program = folder / "sprout"
    program.write_text('#!/usr/bin/env sh\necho "$0 $PATH" > "$TOLD"\nexec cat\n')
    program.chmod(0o755)
    sessions = Sessions(server)
    path = f"{folder}:{os.environ['PATH']}"
    found = await sessions.start(StartSession(agent="sprout", environment={"TOLD": str(told)}, search_path=path))
    await wait_until_async(lambda: told.exists() and told.read_text(), PATIENCE, "the program to tell")
    assert told.read_text() == f"{program} {path}\n"
    assert found.title == "sprout"
    with pytest.raises(StartFailed, match="program not found: sprout") as raised:
        await sessions.start(StartSession(agent="sprout"))
    assert f"(searched the PATH: {os.environ['PATH']})" in raised.value.message
    # A variable of the program's own takes the place of the asking process's.
    own = {"PATH": path, "TOLD": str(told)}
    assert (await sessions.start(StartSession(agent="sprout", environment=own, search_path="/nowhere"))).started_here


@pytest.mark.requirement("AGT-04b")
async def test_the_last_words_of_a_program_are_heard_and_its_pane_goes_when_they_are(
    server: Server, private_tmux: PrivateTmux, tmp_path: Path
) -> None:
    sessions = Sessions(server)
    request = StartSession(
        agent=sys.executable, arguments=["-c", TELL], environment={"TOLD": str(tmp_path / "told")}, cwd=str(tmp_path)
    )
    unseen, seen = await sessions.start(request), await sessions.start(request)
    await wait_until_async((tmp_path / "told").exists, PATIENCE, "the program to run")
    private_tmux.run("send-keys", "-t", unseen.pane, "Enter")

    def has_ended() -> bool:
        return private_tmux.run("display-message", "-p", "-t", unseen.pane, "#{pane_dead}") == "1"

    await wait_until_async(has_ended, PATIENCE, "the end of the program nobody watches")
    assert (await sessions.find(unseen.session)).state == "ended"

    async with server.watch(seen.pane) as stream:
        private_tmux.run("send-keys", "-t", seen.pane, "Enter")
        events = [event async for event in stream]
    assert "my last words" in [getattr(event, "text", "") for event in events]
    assert isinstance(events[-1], PaneClosed)
    await wait_until_async(
        lambda: seen.pane not in private_tmux.run("list-panes", "-a", "-F", "#{pane_id}").split(), PATIENCE, "no pane"
    )
    await sessions.end(unseen.session)
    assert [one.session_name for one in await sessions.all()] == ["keeper"]


@pytest.mark.requirement("AGT-01a")
async def test_a_profile_says_how_its_program_is_started_and_a_prompt_comes_once_it_is_ready(
    server: Server, tmp_path: Path
) -> None:
    log = tmp_path / "log"
    sessions = Sessions(server)
    session = await sessions.start(StartSession(agent="sprite", arguments=[str(log)], prompt="Begin, please."))
    assert session.agent == "sprite"
    info = await server.find(session.pane)
    assert (info.columns, info.lines) == (90, 40)
    async with Outbox(tmp_path / "outbox.db") as outbox:
        async with server.watch(session.pane):
            assert (await sessions.until_ready(session)).state != "needs_human"
        await send(server, info, "Begin, please.", publish=lambda _: None, outbox=outbox, timeout=PATIENCE)
    await wait_until_async(lambda: any(got.kind == "message" for got in read_got(log)), PATIENCE, "the prompt")
    assert [(got.kind, got.text) for got in read_got(log)] == [("ready", ""), ("message", "Begin, please.")]


async def test_the_state_of_a_watched_session_is_that_of_its_program(server: Server, tmp_path: Path) -> None:
    sessions = Sessions(server)
    log = tmp_path / "log"
    session = await sessions.start(StartSession(agent="sprite", arguments=[str(log), "--works", "1.5"]))
    info = await server.find(session.pane)
    if not server.is_watched(session.pane):
        assert session.state == "unknown"
    async with server.watch(session.pane):
        await wait_until_async(lambda: read_got(log), PATIENCE, "the agent to be ready")
        await until_state(sessions, session.session, "idle")
        await send(server, info, "Work, please.", publish=lambda _: None, timeout=PATIENCE)
        await until_state(sessions, session.session, "busy")
        await until_state(sessions, session.session, "idle")


async def until_state(sessions: Sessions, session: str, state: str) -> None:
    async with asyncio.timeout(PATIENCE):
        while (await sessions.find(session)).state != state:
            await asyncio.sleep(0.02)
