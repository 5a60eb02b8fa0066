"""The control client against real tmux, one body of tests over both transports."""

import asyncio
import os
import re
import shutil
import time
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from streamrelay.control import (
    CommandResult,
    ControlClient,
    SessionChanged,
    Tmux,
    TransportName,
    command_line,
    reminder,
)
from streamrelay.errors import (
    BadCommand,
    CommandFailed,
    CommandTimeout,
    UsageError,
)
from streamrelay.testing.tmux import PrivateTmux
from streamrelay.testing.waiting import wait_until, wait_until_async

if TYPE_CHECKING:
    from tests.control.conftest import Connect, Heard

pytestmark = [pytest.mark.requirement("ENG-01a", "ENG-01b"), pytest.mark.smoke]
IDLE = ["sleep", "1000"]
REMINDERS = 3


def first_difference(one: bytes | bytearray, other: bytes) -> tuple[int, bytes, bytes] | None:
    """Where two long texts part, and what each says there; pytest would spend minutes on them."""
    if one == other:
        return None
    at = next((at for at, pair in enumerate(zip(one, other, strict=False)) if pair[0] != pair[1]), len(one))
    return at, bytes(one[at : at + 40]), other[at : at + 40]


def say(text: str) -> str:
    return command_line(["display-message", "-p", "--", text])


async def test_attaching_hands_on_what_came_with_it(
    private_tmux: PrivateTmux, connect: "Connect", heard: "Heard"
) -> None:
    private_tmux.new_session("main", IDLE)
    async with connect("main") as client:
        assert client.session == "$0"
        assert SessionChanged("$0", "main") in heard.events
        assert private_tmux.run("list-clients", "-F", "#{client_pid} #{client_flags}").split()[0] == str(client.pid)


async def test_no_command_is_taken_before_the_session_is_known(private_tmux: PrivateTmux, connect: "Connect") -> None:
    private_tmux.new_session("main", IDLE)
    client = connect("main")
    with pytest.raises(UsageError, match="not attached"):
        client.request(say("early"), lambda _: None)
    opening = asyncio.create_task(client.open())
    answered: asyncio.Future[CommandResult] = asyncio.get_running_loop().create_future()
    while not opening.done():
        if client.pid is not None and not client.session:
            with pytest.raises(UsageError, match="not attached"):
                client.request(say("early"), lambda _: None)
            break
        await asyncio.sleep(0)
    else:
        pytest.fail("the client was attached as soon as it was started")
    await opening
    client.request(say("in time"), answered.set_result)
    assert (await answered).text == "in time"
    await client.aclose()


@pytest.mark.requirement("ENG-04a")
@pytest.mark.over_ssh
async def test_a_command_is_answered(private_tmux: PrivateTmux, connect: "Connect") -> None:
    private_tmux.new_session("main", IDLE)
    async with connect() as client:
        result = await client.command(
            command_line(["display-message", "-p", "a b"], ["list-sessions", "-F", "#{session_id}"])
        )
        assert [block.lines for block in result.blocks] == [(b"a b",), (b"$0",)]
        assert result.text == "a b\n$0"
        assert (await client.command("# a comment")).blocks == ()


@pytest.mark.requirement("ENG-04a")
async def test_a_thousand_queued_commands_are_answered_in_order(private_tmux: PrivateTmux, connect: "Connect") -> None:
    private_tmux.new_session("main", IDLE)
    answers: list[CommandResult] = []
    async with connect() as client:
        for number in range(1000):
            client.request(say(f"n{number}"), answers.append)
        assert client.outstanding == 1000
        await wait_until_async(lambda: len(answers) == 1000, 20)
        assert (await client.command(say("after"))).text == "after"
        await wait_until_async(lambda: client.outstanding == 0)
    assert [answer.text for answer in answers] == [f"n{number}" for number in range(1000)]


async def test_more_commands_than_may_wait_take_turns(private_tmux: PrivateTmux, connect: "Connect") -> None:
    private_tmux.new_session("main", IDLE)
    async with connect() as client:
        answers = await asyncio.gather(*(client.command(say(f"n{number}"), timeout=30) for number in range(4500)))
        assert [answer.text for answer in answers] == [f"n{number}" for number in range(4500)]
        # The mark behind an answer may be read after it.
        await wait_until_async(lambda: client.outstanding == 0)
        for _ in range(4096):
            client.request(say("x"), lambda _: None)
        with pytest.raises(CommandTimeout):
            client.request(say("one too many"), lambda _: None)
        assert (await client.command(say("after"), timeout=30)).text == "after"


@pytest.mark.requirement("ENG-04c")
@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("kill-pane -t %99", "can't find pane: %99"),
        ("display-message -p fine ; kill-pane -t %99 ; display-message -p dropped", "can't find pane: %99"),
        ("bogus", "parse error: unknown command: bogus"),
        ("if-shell -F 1 {", "parse error: syntax error"),
        ("if-shell -F 1 { kill-pane -t %99 } ; display-message -p rest", "can't find pane: %99"),
        ("display-message -Q", "display-message: unknown flag -Q"),
    ],
)
async def test_errors_have_tmuxs_words(private_tmux: PrivateTmux, connect: "Connect", line: str, words: str) -> None:
    private_tmux.new_session("main", IDLE)
    async with connect() as client:
        with pytest.raises(CommandFailed, match=re.escape(words)) as caught:
            await client.command(line)
        assert caught.value.data["line"] == line
        assert (await client.command(say("still here"))).text == "still here"


@pytest.mark.requirement("ENG-04b")
async def test_an_answer_that_comes_too_late_is_nobody_elses(private_tmux: PrivateTmux, connect: "Connect") -> None:
    private_tmux.new_session("main", IDLE)
    async with connect() as client:
        with pytest.raises(CommandTimeout):
            await client.command("wait-for never ; display-message -p late", timeout=0.1)
        with pytest.raises(CommandTimeout):
            await client.command(say("behind it"), timeout=0.1)
        assert client.outstanding == 2
        private_tmux.run("wait-for", "-S", "never")
        assert (await client.command(say("mine"))).text == "mine"
        await wait_until_async(lambda: client.outstanding == 0)


async def test_a_cancelled_command_leaves_the_others_their_answers(
    private_tmux: PrivateTmux, connect: "Connect"
) -> None:
    private_tmux.new_session("main", IDLE)
    async with connect() as client:
        waiting = asyncio.create_task(client.command("wait-for never"))
        await wait_until_async(lambda: client.outstanding == 1)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        private_tmux.run("wait-for", "-S", "never")
        assert (await client.command(say("mine"))).text == "mine"


@pytest.mark.requirement("ENG-07b")
async def test_who_owes_an_answer_is_reminded_a_few_times(
    private_tmux: PrivateTmux, connect: "Connect", monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(reminder, "_INTERVAL", 0.25)
    private_tmux.new_session("main", IDLE)
    async with connect() as client:
        owed = asyncio.create_task(client.command("wait-for never ; display-message -p done", timeout=60))
        await wait_until_async(lambda: client.outstanding == 1 + REMINDERS, 20)
        with pytest.raises(CommandTimeout):
            await client.command(say("not a fourth"), timeout=1.0)
        assert client.outstanding == 1 + REMINDERS + 1
        private_tmux.run("wait-for", "-S", "never")
        assert (await owed).text == "done"
        assert (await client.command(say("mine"))).text == "mine"
        await wait_until_async(lambda: client.outstanding == 0)


@pytest.mark.parametrize("line", ["", "a\nkill-server", "detach-client ;", 'send-keys "x'])
async def test_what_is_not_one_line_is_never_written(private_tmux: PrivateTmux, connect: "Connect", line: str) -> None:
    private_tmux.new_session("main", IDLE)
    async with connect() as client:
        with pytest.raises(BadCommand):
            await client.command(line)
        assert (await client.command(say("attached"))).text == "attached"


@pytest.mark.over_ssh
async def test_an_answer_comes_at_its_exact_place_in_the_output(
    private_tmux: PrivateTmux, connect: "Connect", heard: "Heard"
) -> None:
    """While a pane floods, the last line of its screen is the last line that was handed on."""
    pane = private_tmux.new_session("main", ["sh", "-c", "read go; exec seq 1 1000000000"])
    pairs: list[tuple[bytes, bytes]] = []

    def compare(result: CommandResult) -> None:
        shown = [line for line in result.unwrap().lines if line.strip()]
        pairs.append((shown[-1], heard.output(pane)[-100:].rstrip(b"\r\n").rpartition(b"\n")[2]))

    async with connect() as client:
        await client.command(command_line(["send-keys", "-t", pane, "Enter"]))
        await heard.until(pane, b"\n100\r\n")
        for expected in range(1, 21):
            heard_before = len(heard.output(pane))
            await wait_until_async(lambda before=heard_before: len(heard.output(pane)) > before)
            client.request(command_line(["capture-pane", "-p", "-t", pane]), compare)
            await wait_until_async(lambda expected=expected: len(pairs) == expected)
        assert [shown for shown, _ in pairs] == [heard_last for _, heard_last in pairs]
        assert len({shown for shown, _ in pairs}) > 1, "the pane stood still, so this proved nothing"


@pytest.mark.requirement("ENG-03a")
@pytest.mark.over_ssh
async def test_two_megabytes_arrive_whole_and_in_order(
    private_tmux: PrivateTmux, connect: "Connect", heard: "Heard", tmp_path: Path
) -> None:
    text = "".join(f"{number} \x1b[3{number % 8}m中文 é \\033 \U0001f600\x1b[0m\n" for number in range(60_000)).encode()
    assert len(text) > 2_000_000
    (tmp_path / "text").write_bytes(text)
    script = 'stty -echo; echo ready; read go; cat "$0"; echo END; exec sleep 1000'
    pane = private_tmux.new_session("main", ["sh", "-c", script, str(tmp_path / "text")])
    wait_until(lambda: "ready" in private_tmux.run("capture-pane", "-p", "-t", pane))
    async with connect() as client:
        await client.command(command_line(["send-keys", "-t", pane, "Enter"]))
        await heard.until(pane, b"END\r\n")
    assert first_difference(heard.output(pane).removesuffix(b"END\r\n"), text.replace(b"\n", b"\r\n")) is None


async def test_a_reply_of_two_megabytes_arrives_whole(private_tmux: PrivateTmux, connect: "Connect") -> None:
    private_tmux.new_session("main", IDLE)
    text = "".join(f"%end {number} 中\n" for number in range(120_000))
    private_tmux.run("load-buffer", "-b", "large", "-", input=text)
    async with connect() as client:
        result = await client.command("show-buffer -b large")
        assert first_difference(result.text.encode(), text.encode()) is None


@pytest.mark.parametrize("locale", [{}, {"LC_ALL": "C"}, {"LANG": "POSIX"}])
@pytest.mark.over_ssh
async def test_replies_are_utf8_in_any_locale(
    private_tmux: PrivateTmux, connect: "Connect", monkeypatch: pytest.MonkeyPatch, locale: dict[str, str]
) -> None:
    private_tmux.new_session("main", IDLE)
    for name in ("LC_ALL", "LC_CTYPE", "LANG"):
        monkeypatch.delenv(name, raising=False)
    for name, value in locale.items():
        monkeypatch.setenv(name, value)
    async with connect() as client:
        assert (await client.command(say("é 中 😀"))).text == "é 中 😀"


@pytest.mark.requirement("ENG-01c")
@pytest.mark.parametrize("how", ["default", "-L", "-S", "$TMUX"])
async def test_the_server_is_found_as_tmux_finds_it(
    private_tmux: PrivateTmux, transport: TransportName, heard: "Heard", monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    private_tmux.new_session("main", IDLE)
    folder = private_tmux.directory / f"tmux-{os.getuid()}"
    folder.mkdir(mode=0o700)
    for name in ("default", "named"):
        (folder / name).symlink_to(private_tmux.socket_path)
    monkeypatch.setenv("TMUX_TMPDIR", str(private_tmux.directory))
    monkeypatch.delenv("TMUX", raising=False)
    if how == "$TMUX":
        monkeypatch.setenv("TMUX", f"{private_tmux.socket_path},{private_tmux.server_pid},0")
    named = {"-L": {"socket_name": "named"}, "-S": {"socket_path": private_tmux.socket_path}}.get(how, {})
    async with ControlClient(Tmux(private_tmux.binary, **named), "$0", heard, transport=transport) as client:
        assert (await client.command(say("#{pid}"))).text == str(private_tmux.server_pid)


@pytest.mark.requirement("ENG-01e")
@pytest.mark.parametrize("how", ["argument", "environment"])
async def test_the_binary_is_the_one_that_was_named(
    private_tmux: PrivateTmux, transport: TransportName, heard: "Heard", monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    private_tmux.new_session("main", IDLE)
    binary, used = private_tmux.directory / "my-tmux", private_tmux.directory / "used"
    binary.write_text(f'#!/bin/sh\necho used >>"{used}"\nexec "{shutil.which(private_tmux.binary)}" "$@"\n')
    binary.chmod(0o755)
    monkeypatch.setenv("STREAMRELAY_TMUX", str(binary) if how == "environment" else "not-this-one")
    named = {"binary": str(binary)} if how == "argument" else {}
    tmux = Tmux(**named, socket_path=private_tmux.socket_path)
    async with ControlClient(tmux, "$0", heard, transport=transport) as client:
        assert (await client.command(say("x"))).text == "x"
    assert used.read_text() == "used\n"


@pytest.mark.requirement("REL-07")
async def test_an_answer_that_came_while_the_process_stood_still_is_no_missing_one(
    private_tmux: PrivateTmux, connect: "Connect"
) -> None:
    private_tmux.new_session("main", IDLE)
    async with connect() as client:
        asking = asyncio.create_task(client.command(say("there"), timeout=0.5))
        await asyncio.sleep(0)
        time.sleep(2.0)  # as a daemon that reads a long log, or is suspended
        assert (await asking).text == "there"
