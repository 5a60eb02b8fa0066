"""On a full disk nothing is committed whose cause is not on disk, and no message fails that is."""

import asyncio
import sys
from pathlib import Path

import pytest

import streamrelay
from streamrelay.delivery.message import Message, Progress
from streamrelay.delivery.outbox import Outbox
from streamrelay.delivery.writer import PaneWriter
from streamrelay.delta.inputs import Output
from streamrelay.errors import StorageError
from streamrelay.events import Text
from streamrelay.history.journal import Journal
from streamrelay.panes.tasks import until_first
from streamrelay.relay.steps import RelayStep
from streamrelay.service.feed import Feed
from streamrelay.service.persistence import ServiceStore
from streamrelay.testing.agent import read_got
from streamrelay.testing.tmux import PrivateTmux
from streamrelay.testing.waiting import wait_until
from tests.process_limits import files_limited_to
from tests.service.conftest import PATIENCE

MIB = 1 << 20


@pytest.mark.requirement("DLV-07a")
async def test_a_step_is_committed_only_when_the_log_that_it_follows_from_is_on_disk(tmp_path: Path) -> None:
    async with Journal(tmp_path / "journal.db") as journal, Outbox(tmp_path / "outbox.db") as outbox:
        store = ServiceStore(journal, Feed(journal, 0), outbox, tmp_path, dict)
        progress = await store.remember("%0", "cat", allow_shell=False)
        progress.log.begin(0.0)
        step = RelayStep(events=[Text(text="hello", origin="program", line=1, pane="%0", session="work")])
        step.heard["%0"] = 1
        with files_limited_to(MIB):
            progress.log.take(Output(0.1, "%0", b"x" * 2 * MIB))
            with pytest.raises(StorageError):
                await store.keep(step)
        assert await journal.since(0) == []
        await store.keep(step)
        assert [event.text for event in await journal.since(0) if isinstance(event, Text)] == ["hello"]
        assert progress.log.size > 2 * MIB
        store.close()


@pytest.mark.requirement("DLV-07a")
async def test_messages_stay_in_an_outbox_that_cannot_be_written(private_tmux: PrivateTmux, tmp_path: Path) -> None:
    got = tmp_path / "got"
    words = [sys.executable, "-m", "streamrelay.testing.agent", "--log", str(got), "--works", "0.05"]
    pane = private_tmux.new_session("agent", words, columns=80, lines=24)
    wait_until(lambda: any(entry.kind == "ready" for entry in read_got(got)), PATIENCE)
    reports: list[Progress] = []
    connection = streamrelay.connect(tmux=private_tmux.binary, socket_path=private_tmux.socket_path, profiles=())
    async with connection as server, server.watch(pane), Outbox(tmp_path / "outbox.db") as outbox:
        pipeline = server.pipeline(pane)

        def writer() -> PaneWriter:
            return PaneWriter(server, pipeline, program=pipeline.info.command, report=reports.append, outbox=outbox)

        first = writer()
        await first.recover()
        for number in (1, 2):
            await first.put(Message(f"m{number}", f"hello {number}"))
        await outbox.flush()
        with files_limited_to(0), pytest.raises(StorageError):
            async with asyncio.timeout(PATIENCE):
                await first.run()
        assert not {"failed", "unconfirmed"} & {one.state for one in reports}, reports
        second = writer()
        await second.recover()

        async def finished() -> None:
            async with asyncio.timeout(PATIENCE):
                await second.finish()

        await until_first(second.run(), finished())
    assert [entry.text for entry in read_got(got) if entry.kind == "message"] == ["hello 1", "hello 2"]
