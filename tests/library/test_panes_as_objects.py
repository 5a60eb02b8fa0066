"""A server's panes as objects: watched, sent to, asked; with asyncio and without."""

import asyncio
import sys

import pytest

import streamrelay
import streamrelay.blocking
from streamrelay.errors import AnswerTimeout, ShellRefused, TargetNotFound
from streamrelay.events import Text
from streamrelay.testing.tmux import PrivateTmux

pytestmark = [pytest.mark.smoke, pytest.mark.requirement("OPS-10a")]

ECHO = """
import sys
for line in sys.stdin:
    print("you said", line.strip(), flush=True)
"""
SILENT = "import sys, time; print('ready', flush=True); sys.stdin.read()"


def program(private_tmux: PrivateTmux, code: str) -> str:
    private_tmux.new_session("work", [sys.executable, "-uc", code])
    return private_tmux.socket_path


async def test_a_pane_is_asked_and_watched(private_tmux: PrivateTmux) -> None:
    socket = program(private_tmux, ECHO)
    async with streamrelay.connect(socket_path=socket) as server:
        pane = await server.pane("work:0.0")
        assert pane.id == pane.info.pane
        assert await pane.ask("hello") == "you said hello"
        message = await pane.send("again")
        assert message.state in {"submitted", "turn_started", "answered"}
        assert await message.answer(timeout=30) == "you said again"
        assert message.state == "answered"
        async with pane.watch() as stream:
            asking = asyncio.create_task(pane.ask("third"))
            async with asyncio.timeout(30):
                async for event in stream:
                    if isinstance(event, Text) and event.origin == "program":
                        assert event.text == "you said third"
                        break
            assert await asking == "you said third"


async def test_several_messages_to_one_pane_are_answered_one_after_the_other(private_tmux: PrivateTmux) -> None:
    socket = program(private_tmux, ECHO)
    async with streamrelay.connect(socket_path=socket) as server:
        pane = await server.pane("work")
        answers = await asyncio.gather(*(pane.ask(f"number {number}") for number in range(3)))
    assert sorted(answers) == [f"you said number {number}" for number in range(3)]


async def test_what_goes_wrong_is_an_error_of_ours(private_tmux: PrivateTmux) -> None:
    socket = program(private_tmux, SILENT)
    shell = private_tmux.new_session("shell", ["sh"])
    async with streamrelay.connect(socket_path=socket) as server:
        with pytest.raises(TargetNotFound):
            await server.pane("=nothing:")
        with pytest.raises(ShellRefused):
            await (await server.pane(shell)).send("ls")
        message = await (await server.pane("work")).send("hello")
        with pytest.raises(AnswerTimeout, match=r"no answer in 0\.1 s"):
            await message.answer(timeout=0.1)
    with pytest.raises(asyncio.CancelledError):
        await message.answer()


def test_without_asyncio(private_tmux: PrivateTmux) -> None:
    socket = program(private_tmux, ECHO)
    with streamrelay.blocking.connect(socket_path=socket) as server:
        pane = server.pane("work")
        assert pane.ask("hello") == "you said hello"
        with pane.watch() as stream:
            message = pane.send("again")
            assert message.answer(timeout=30) == "you said again"
            assert message.state == "answered"
            said = next(event for event in stream if isinstance(event, Text) and event.origin == "program")
            assert said.text == "you said again"
