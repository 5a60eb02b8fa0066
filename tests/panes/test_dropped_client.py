"""Another client may end our connection at any moment while the server runs on: panes are watched all the same."""

import asyncio
import contextlib
import os
import signal
from typing import Any

import pytest

from streamrelay.errors import ConnectionLost, ServerLost
from streamrelay.events import Gap, PaneOpened
from streamrelay.panes import backoff
from streamrelay.panes.server import Server
from streamrelay.testing.tmux import PrivateTmux
from streamrelay.testing.waiting import wait_until_async
from tests.dropped_clients import Dropping, drop_clients
from tests.process_limits import no_more_descriptors

PRINTER = ["sh", "-c", "stty -echo; while read first last; do seq $first $last; done"]
MOMENTS = {
    "the hub opens": "list-sessions",
    "its window is linked": "link-window",
    "its screen is read": "capture-pane",
}


@pytest.mark.requirement("ENG-07d")
@pytest.mark.parametrize("word", MOMENTS.values(), ids=MOMENTS)
async def test_the_first_pane_is_watched_although_its_client_is_dropped(
    private_tmux: PrivateTmux, server: Server, heard: Any, monkeypatch: pytest.MonkeyPatch, word: str
) -> None:
    pane = private_tmux.new_session("work", PRINTER)
    dropping = Dropping(private_tmux, monkeypatch, word, left=2)
    async with server.watch(pane) as stream:
        assert not dropping.left
        says = heard(stream)
        private_tmux.run("send-keys", "-t", pane, "1 30", "Enter")
        await says.until(lambda s: s.said[-1:] == ["30"])
        assert says.said == [str(number) for number in range(1, 31)]


@pytest.mark.requirement("ENG-07d")
@pytest.mark.parametrize("word", [*MOMENTS.values()][1:], ids=[*MOMENTS][1:])
async def test_a_pane_is_added_although_the_client_of_all_panes_is_dropped(
    private_tmux: PrivateTmux, server: Server, heard: Any, monkeypatch: pytest.MonkeyPatch, word: str
) -> None:
    first, second = (private_tmux.new_session(name, PRINTER) for name in ("first", "second"))
    async with server.watch(first) as stream:
        says = heard(stream)
        private_tmux.run("send-keys", "-t", first, "1 5", "Enter")
        await says.until(lambda s: s.said[-1:] == ["5"])
        dropping = Dropping(private_tmux, monkeypatch, word)
        # Two subscribers of one pane, of which the second comes while the connection is being made again.
        async with server.watch(second) as added, server.watch(second) as again:
            assert not dropping.left
            private_tmux.run("send-keys", "-t", first, "6 9", "Enter")
            private_tmux.run("send-keys", "-t", second, "1 30", "Enter")
            for one in map(heard, (added, again)):
                await one.until(lambda s: s.said[-1:] == ["30"])
                assert one.said == [str(number) for number in range(1, 31)]
            await says.until(lambda s: s.said[-1:] == ["9"])
        assert says.said == [str(number) for number in range(1, 10)]
        assert [(gap.reason, gap.lost_lines) for gap in says.of(Gap)] == [("detached", 0)]


@pytest.mark.requirement("ENG-07d")
async def test_a_caller_that_gives_up_while_the_client_is_dropped_takes_no_other_pane_along(
    private_tmux: PrivateTmux, server: Server, heard: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, second = (private_tmux.new_session(name, PRINTER) for name in ("first", "second"))

    async def watch_second() -> None:
        async with server.watch(second):
            pytest.fail("it is watched")

    async with server.watch(first) as stream:
        says = heard(stream)
        await says.until(lambda s: s.of(PaneOpened))
        caller = asyncio.ensure_future(watch_second())

        def gives_up(left: int) -> None:
            # The first successor comes at once, the second one waits: meanwhile the caller is cancelled, and once more
            # while it takes leave.
            if not left:
                for delay in (0.05, 0.1):
                    asyncio.get_running_loop().call_later(delay, caller.cancel)

        Dropping(private_tmux, monkeypatch, "link-window", left=2, dropped=gives_up)
        monkeypatch.setattr(backoff, "_FIRST_WAIT", 0.3)
        with pytest.raises(asyncio.CancelledError):
            await caller
        private_tmux.run("send-keys", "-t", first, "1 30", "Enter")
        await says.until(lambda s: s.said[-1:] == ["30"])
        assert says.said == [str(number) for number in range(1, 31)]
        await wait_until_async(lambda: not server.is_watched(second), 20, "the other pane to be left")


@pytest.mark.requirement("ENG-07d")
async def test_a_client_that_is_always_dropped_is_given_up_with_an_error(
    private_tmux: PrivateTmux, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(backoff, "MAX_ATTEMPTS", 3)
    monkeypatch.setattr(backoff, "_FIRST_WAIT", 0.01)
    for word, error in (("list-sessions", ConnectionLost), ("link-window", ServerLost)):
        Dropping(private_tmux, monkeypatch, word, left=99)
        with pytest.raises(error):
            async with server.watch("keeper"):
                pytest.fail("it is watched")
        monkeypatch.undo()
    async with server.watch("keeper") as stream:
        assert server.is_watched(*stream.panes)


@pytest.mark.requirement("ENG-07d")
@pytest.mark.parametrize(
    ("is_run_before", "repeatable", "run"),
    [(False, True, "x"), (False, False, ""), (True, True, "xx"), (True, False, "x")],
)
async def test_a_command_is_sent_again_only_if_it_may_be_repeated(
    private_tmux: PrivateTmux, server: Server, is_run_before: bool, repeatable: bool, run: str
) -> None:
    """The client is dropped before tmux gets the command, or after tmux has run it."""
    line = "set-option -s -a @run x"
    async with server.watch("keeper") as stream:
        (pane,) = stream.panes
        if is_run_before:
            private_tmux.run(*line.split())
        drop_clients(private_tmux)
        command = server.command(pane, line, repeatable=repeatable)
        if repeatable:
            await command
        else:
            with pytest.raises(ConnectionLost):
                await command
        assert private_tmux.run("show-options", "-sqv", "@run").strip() == run
        # A command that comes while there is no connection waits for the next one.
        await server.command(pane, line, repeatable=repeatable)
        assert private_tmux.run("show-options", "-sqv", "@run").strip() == run + "x"


@pytest.mark.requirement("ENG-07d")
async def test_a_client_that_is_dropped_while_no_descriptor_is_left_is_replaced_when_one_is(
    private_tmux: PrivateTmux, server: Server, heard: Any
) -> None:
    pane = private_tmux.new_session("work", PRINTER)
    async with server.watch(pane) as stream:
        says = heard(stream)
        private_tmux.run("send-keys", "-t", pane, "1 5", "Enter")
        await says.until(lambda s: s.said[-1:] == ["5"])
        pid = server._attachments._connection.client().pid
        assert pid is not None
        taken: list[int] = []

        def is_replacing() -> bool:
            """Take every descriptor that the dead client gives back."""
            with contextlib.suppress(OSError):
                while True:
                    taken.append(os.open(os.devnull, os.O_RDONLY))
            return server._attachments._connection.hub is None

        with no_more_descriptors():
            os.kill(pid, signal.SIGKILL)
            await wait_until_async(is_replacing, 20, "the end of the connection")
        for descriptor in taken:
            os.close(descriptor)
        private_tmux.run("send-keys", "-t", pane, "6 9", "Enter")
        await says.until(lambda s: s.said[-1:] == ["9"])
        assert says.said == [str(number) for number in range(1, 10)]
