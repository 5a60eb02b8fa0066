"""Objects of libtmux stand for servers and targets, and panes have theirs."""

import sys

import libtmux
import pytest

import streamrelay
import streamrelay.blocking
from streamrelay.errors import UsageError
from streamrelay.testing.tmux import PrivateTmux

pytestmark = [pytest.mark.smoke, pytest.mark.requirement("BRG-03a")]

ECHO = [sys.executable, "-uc", "import sys\nfor line in sys.stdin: print('you said', line.strip(), flush=True)"]


async def test_a_libtmux_server_is_connected_to_and_its_objects_are_targets(private_tmux: PrivateTmux) -> None:
    id_ = private_tmux.new_session("work", ECHO)
    theirs = private_tmux.libtmux()
    session = theirs.sessions[0]
    async with streamrelay.connect(theirs) as server:
        assert server.libtmux is theirs
        for target in (session, session.active_window, session.active_pane, "work"):
            assert (await server.find(target)).pane == id_
        async with server.watch(session.active_pane) as stream:
            assert isinstance(stream, streamrelay.Stream)
            assert stream.pane.id == id_
            pane = stream.pane.libtmux
            assert isinstance(pane, libtmux.Pane)
            assert pane.server is theirs
            assert pane.session.session_name == "work"
            pane.send_keys("hello")
            async for event in stream:
                if isinstance(event, streamrelay.Text) and event.text == "you said hello":
                    break
        assert await (await server.pane(pane)).ask("again") == "you said again"


async def test_what_no_server_here_has_is_an_error(private_tmux: PrivateTmux) -> None:
    private_tmux.new_session("work", ["cat"])
    pane = private_tmux.libtmux().panes[0]
    with PrivateTmux() as second:
        second.new_session("other", ["cat"])
        async with streamrelay.connect(second.libtmux()) as server:
            with pytest.raises(UsageError, match="another tmux server"):
                await server.find(pane)
            with pytest.raises(UsageError, match="not int"):
                await server.find(3)  # type: ignore[arg-type]
            async with server.watch("other", "other:0") as stream:
                assert stream.pane.info.session_name == "other"
    with pytest.raises(UsageError, match="names its socket"):
        streamrelay.connect(libtmux.Server(), socket_name="x")


def test_without_asyncio(private_tmux: PrivateTmux) -> None:
    private_tmux.new_session("work", ECHO)
    theirs = private_tmux.libtmux()
    with streamrelay.blocking.connect(theirs) as server, server.watch(theirs.panes[0]) as stream:
        assert stream.pane.libtmux.pane_id == stream.pane.id
        assert stream.pane.ask("hello") == "you said hello"
