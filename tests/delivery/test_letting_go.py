"""A writer lives as long as its pane, and keeps nothing of messages of which nothing more is told."""

import pytest

import streamrelay
from streamrelay.delivery.message import Message
from streamrelay.delivery.writer import PaneWriter
from streamrelay.testing.tmux import PrivateTmux
from tests.delivery.machines import EMPTY, Pane


@pytest.mark.requirement("DLV-01a")
def test_a_machine_knows_the_messages_it_has_something_to_tell_of() -> None:
    pane = Pane()
    pane.put("m1", "m2", "m3")
    pane.deliver("m1")
    assert pane.machine.message_ids == {"m1", "m2", "m3"}
    pane.effects += pane.machine.withdraw("m3")
    pane.answer("m1", 1)
    assert pane.machine.message_ids == {"m2"}
    pane.look(EMPTY)
    pane.effects += pane.machine.stop("pane_gone")
    assert pane.machine.message_ids == set()


async def test_a_writer_keeps_no_marks_of_messages_that_are_over(private_tmux: PrivateTmux) -> None:
    pane = private_tmux.new_session("target", ["sleep", "1000"])
    connection = streamrelay.connect(tmux=private_tmux.binary, socket_path=private_tmux.socket_path, profiles=())
    said: list[str] = []
    async with connection as server, server.watch(pane):
        writer = PaneWriter(
            server, server.pipeline(pane), program="sleep", report=lambda progress: said.append(progress.state)
        )
        await writer.put(Message("waits", "x"))
        for number in range(4):
            await writer.put(Message(f"m{number}", ""))
        await writer.put(Message("last", "x"))
        assert said == ["queued", *["failed"] * 4, "queued"]
        assert list(writer._marks) == ["waits", "last"]
