"""What one process types is known to the streams of all others."""

import dataclasses
import os
import subprocess
import sys
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec
import pytest

from streamrelay.control import ServerInfo, Tmux, Version
from streamrelay.events import Injected, Text
from streamrelay.panes.injections import (
    HELD,
    MAX_BYTES,
    PENDING,
    REMOVED_AFTER,
    InjectionLog,
    files_of,
    find_notes,
    remove_closed,
    remove_ended,
)
from streamrelay.panes.inventory import PaneInfo
from streamrelay.panes.server import Server
from streamrelay.testing.tmux import PrivateTmux
from tests.panes.conftest import Heard

SERVER = ServerInfo(Version.parse("3.3a"), 1, "/tmp/tmux")


@pytest.fixture(autouse=True)
def runtime(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    return tmp_path / "streamrelay"


def ids(log: InjectionLog) -> list[tuple[str, str]]:
    return [(note.kind, note.message_id) for note in log.news()]


def test_each_stream_hears_of_the_others_notes_once_and_not_of_its_own():
    one, two, three = (InjectionLog(SERVER, "%1") for _ in range(3))
    assert ids(two) == []
    one.note("pasted", "m1", "hello")
    assert [note.text for note in two.news()] == ["hello"]
    assert ids(two) == []
    two.note("pasted", "m2", "you too")
    one.note("entered", "m1")
    assert ids(one) == [("pasted", "m2")]
    assert ids(two) == [("entered", "m1")]
    assert ids(three) == [("pasted", "m1"), ("pasted", "m2"), ("entered", "m1")]
    assert ids(InjectionLog(SERVER, "%2")) == []


def test_a_stream_that_begins_hears_of_pastes_without_their_enter():
    one = InjectionLog(SERVER, "%1")
    one.note("pasted", "m1", "over")
    one.note("entered", "m1")
    one.note("pasted", "m2", "pending")
    assert [note.message_id for note in InjectionLog(SERVER, "%1").begin()] == ["m2"]


def test_a_new_stream_knows_of_the_messages_that_an_api_took_and_the_program_has_not_come_to(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    one, two = InjectionLog(SERVER, "%1"), InjectionLog(SERVER, "%1")
    for message_id in ("m1", "m2", "m3"):
        one.note("handed", message_id, f"text of {message_id}")
    one.note("shown", "m1")
    two.note("shown", "m3")
    (pending,) = InjectionLog(SERVER, "%1").begin()
    assert (pending.kind, pending.message_id, pending.text) == ("handed", "m2", "text of m2")
    later = time.monotonic_ns() + int((HELD + 1) * 1e9)
    monkeypatch.setattr(time, "monotonic_ns", lambda: later)
    assert InjectionLog(SERVER, "%1").begin() == []


def test_a_message_that_is_typed_after_all_is_over_with_its_enter() -> None:
    one = InjectionLog(SERVER, "%1")
    one.note("handed", "m1", "refused")
    one.note("pasted", "m1", "refused")
    assert [note.kind for note in InjectionLog(SERVER, "%1").begin()] == ["pasted"]
    one.note("entered", "m1")
    assert InjectionLog(SERVER, "%1").begin() == []


def test_neither_another_server_of_that_pid_nor_an_old_paste_is_heard_of(monkeypatch: pytest.MonkeyPatch) -> None:
    one = InjectionLog(SERVER, "%1")
    one.note("pasted", "m1", "hello")
    reused = dataclasses.replace(SERVER, socket_path="/tmp/another")
    assert InjectionLog(reused, "%1").begin() == []
    later = time.monotonic_ns() + int(2 * PENDING * 1e9)
    monkeypatch.setattr(time, "monotonic_ns", lambda: later)
    assert InjectionLog(SERVER, "%1").begin() == []


def test_a_stream_that_goes_on_hears_of_what_came_since():
    one = InjectionLog(SERVER, "%1")
    one.note("pasted", "m1", "before")
    (before,) = InjectionLog(SERVER, "%1").begin()
    one.note("pasted", "m2", "since")
    assert [note.message_id for note in InjectionLog(SERVER, "%1").begin(since=before.at / 1e9 + 1e-9)] == ["m2"]


def test_a_file_that_grows_too_long_is_begun_anew_and_heard_on():
    one, two = InjectionLog(SERVER, "%1"), InjectionLog(SERVER, "%1")
    one.note("pasted", "m1", "x" * (MAX_BYTES - 100))
    assert ids(two) == [("pasted", "m1")]
    one.note("pasted", "m2", "y" * 100)
    assert ids(two) == [("pasted", "m2")]


@pytest.mark.parametrize("damage", [b"\xff\x00", b"{}", b'{"at":1}', b'{"at":"x","by":"y","kind":"z","message_id":1}'])
def test_lines_that_make_no_sense_are_passed_over(runtime: Path, damage: bytes) -> None:
    one, two = InjectionLog(SERVER, "%1"), InjectionLog(SERVER, "%1")
    one.note("pasted", "m1", "hello")
    (path,) = runtime.iterdir()
    path.write_bytes(damage + b"\n" + path.read_bytes())
    assert ids(two) == [("pasted", "m1")]


def test_a_link_in_the_place_of_the_file_is_neither_read_nor_written(runtime: Path) -> None:
    one = InjectionLog(SERVER, "%1")
    one.note("pasted", "m1", "hello")
    (path,) = runtime.iterdir()
    aside = runtime.parent / "aside"
    path.rename(aside)
    path.symlink_to(aside)
    one.note("pasted", "m2", "again")
    assert b"m2" not in aside.read_bytes()
    assert ids(InjectionLog(SERVER, "%1")) == []


def test_the_notes_of_a_pane_that_is_gone_are_no_leftovers(runtime: Path) -> None:
    one = InjectionLog(SERVER, "%1")
    one.note("pasted", "m1", "hello")
    assert [path.parent for path in find_notes(SERVER)] == [runtime]
    one.discard()
    assert find_notes(SERVER) == []


def test_the_notes_of_servers_that_have_ended_are_deleted_and_no_other_file(runtime: Path) -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    InjectionLog(SERVER, "%1").note("pasted", "m0", "makes the folder")
    for path in runtime.iterdir():
        path.unlink()
    address = "0123456789abcdef"
    gone = [f"{ended.pid}-{address}-%{pane}.injected" for pane in (1, 22)]
    kept = [
        f"{os.getpid()}-{address}-%1.injected",  # its server runs
        f"{ended.pid}-{address}-%1.lock",
        f"{ended.pid}-{address}-%x.injected",
        f"{ended.pid}-{address[1:]}-%1.injected",
        f"0-{address}-%1.injected",
        "notes.injected",
    ]
    recent, link, folder = (f"{ended.pid}-{address}-%{pane}.injected" for pane in (3, 4, 5))
    for name in [*gone, *kept, recent]:
        (runtime / name).write_text("{}")
    aside = runtime.parent / "aside"
    aside.write_text("of the user")
    (runtime / link).symlink_to(aside)
    (runtime / folder).mkdir()
    long_ago = time.time() - 2 * REMOVED_AFTER
    for name in [*gone, *kept, link, folder]:
        os.utime(runtime / name, (long_ago, long_ago), follow_symlinks=False)

    assert remove_ended() == len(gone)
    assert {path.name for path in runtime.iterdir()} == {*kept, recent, link, folder}
    assert aside.read_text() == "of the user"
    assert remove_ended() == 0


def test_notes_in_a_folder_of_another_user_stay(runtime: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    runtime.mkdir()
    path = runtime / f"{ended.pid}-0123456789abcdef-%1.injected"
    path.touch()
    os.utime(path, (1.0, 1.0))
    with monkeypatch.context() as patched:
        patched.setattr(os, "getuid", lambda: 4242)
        assert remove_ended() == 0
    assert path.exists()
    assert remove_ended() == 1


def test_the_notes_on_closed_panes_of_a_server_are_deleted_when_no_stream_can_need_them(runtime: Path) -> None:
    elsewhere = ServerInfo(Version.parse("3.3a"), 1, "/tmp/other")
    for server, pane in ((SERVER, "%1"), (SERVER, "%11"), (SERVER, "%2"), (SERVER, "%3"), (elsewhere, "%1")):
        InjectionLog(server, pane).note("pasted", "m1", "hello")
    files = {path.name.split("-", 2)[2]: path for path in files_of(SERVER)}
    assert set(files) == {f"{pane}.injected" for pane in ("%1", "%11", "%2", "%3")}
    before = time.time() - HELD
    for path in runtime.iterdir():
        os.utime(path, (before - 10, before - 10))
    os.utime(files["%2.injected"], (before + 60, before + 60))
    (target := runtime / "of the user").touch()
    files["%3.injected"].unlink()
    files["%3.injected"].symlink_to(target)
    os.utime(files["%3.injected"], (1.0, 1.0), follow_symlinks=False)
    assert remove_closed(SERVER, {"%11"}, files.values()) == 1
    assert not files["%1.injected"].exists()
    assert files["%11.injected"].exists(), "its pane is there"
    assert files["%2.injected"].exists(), "a stream that still reads the last output may need it"
    assert target.exists()
    assert len(files_of(elsewhere)) == 1


def test_what_is_deleted_is_nothing_that_a_stream_would_have_read() -> None:
    """Every note that is older than `HELD` is over for a stream that begins, so the file says nothing without them."""
    InjectionLog(SERVER, "%1").note("handed", "m1", "hello")
    [path] = files_of(SERVER)
    assert [note.message_id for note in InjectionLog(SERVER, "%1").begin()] == ["m1"]
    note = msgspec.json.decode(path.read_bytes())
    note["at"] -= int((HELD + 1) * 1e9)
    path.write_bytes(msgspec.json.encode(note) + b"\n")
    assert InjectionLog(SERVER, "%1").begin() == []


@asynccontextmanager
async def two_processes(tmux: PrivateTmux, heard: type[Heard]) -> AsyncIterator[tuple[Server, PaneInfo, list[Heard]]]:
    """Watch the pane of a `cat` from two servers; yield the one that sends, the pane, and what each has heard."""
    tmux.new_session("keeper", ["cat"])
    client = Tmux(tmux.binary, socket_path=tmux.socket_path)
    async with (
        Server(client) as sender,
        Server(client) as watcher,
        sender.watch("keeper") as own,
        watcher.watch("keeper") as other,
    ):
        yield sender, await sender.find("keeper"), [heard(own), heard(other)]


@pytest.mark.smoke
async def test_a_message_of_one_process_is_not_the_programs_word_in_another(
    private_tmux: PrivateTmux, heard: type[Heard]
) -> None:
    async with two_processes(private_tmux, heard) as (sender, info, processes):
        pipeline = sender.pipeline(info.pane)
        pipeline.inject("m1", "hello there")
        await sender.command(info.pane, f"send-keys -l -t {info.pane} 'hello there'")
        pipeline.submit("m1")
        await sender.command(info.pane, f"send-keys -t {info.pane} Enter")
        for process in processes:
            await process.until(lambda process: process.said)
            texts = [event for event in process.events if isinstance(event, Text)]
            assert [(text.origin, text.text) for text in texts] == [
                ("injected", "hello there"),
                ("program", "hello there"),
            ]


async def test_a_message_to_the_programs_own_api_is_known_in_another_process(
    private_tmux: PrivateTmux, heard: type[Heard]
) -> None:
    async with two_processes(private_tmux, heard) as (sender, info, processes):
        sender.pipeline(info.pane).hand_over("m1", "hello there")
        # A stream reads the notes of the others before it processes output.
        await sender.command(info.pane, f"send-keys -l -t {info.pane} 'go on'")
        for process in processes:
            await process.until(lambda process: len(process.of(Injected)) > 1)
            states = [(event.message_id, event.state) for event in process.events if isinstance(event, Injected)]
            assert states == [("m1", "pasting"), ("m1", "entering")]
