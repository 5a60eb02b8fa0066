"""A message is typed once, whenever the client that carries it is dropped, and its sender does not notice."""

import asyncio
import sys
from pathlib import Path

import pytest

import streamrelay
from streamrelay.delivery.message import Message, Progress
from streamrelay.delivery.writer import PaneWriter
from streamrelay.panes.tasks import until_first
from streamrelay.testing.agent import read_got
from streamrelay.testing.tmux import PrivateTmux
from streamrelay.testing.waiting import wait_until
from tests.dropped_clients import Dropping

PATIENCE = 30.0


@pytest.mark.requirement("DLV-07a")
@pytest.mark.parametrize("word", ["paste-buffer", "@streamrelay_entered"], ids=["paste", "Enter"])
@pytest.mark.parametrize("when", ["before tmux gets it", "after tmux has run it"])
async def test_a_message_is_typed_once_although_the_client_is_dropped(
    private_tmux: PrivateTmux, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, word: str, when: str
) -> None:
    words = [sys.executable, "-m", "streamrelay.testing.agent", "--log", str(tmp_path / "got"), "--works", "0.05"]
    pane = private_tmux.new_session("agent", words, columns=80, lines=24)
    wait_until(lambda: any(got.kind == "ready" for got in read_got(tmp_path / "got")), PATIENCE)
    runs_in = tmp_path if when == "after tmux has run it" else None
    dropping = Dropping(private_tmux, monkeypatch, word, "if-shell", left=2, runs_in=runs_in)
    reports: list[Progress] = []
    connection = streamrelay.connect(tmux=private_tmux.binary, socket_path=private_tmux.socket_path, profiles=())
    async with connection as server, server.watch(pane):
        pipeline = server.pipeline(pane)
        writer = PaneWriter(server, pipeline, program=pipeline.info.command, report=reports.append)
        await writer.recover()
        await writer.put(Message("m1", "hello"))
        await writer.put(Message("m2", "again"))

        async def finished() -> None:
            async with asyncio.timeout(PATIENCE):
                await writer.finish()

        await until_first(writer.run(), finished())
    assert not dropping.left
    assert [got.text for got in read_got(tmp_path / "got") if got.kind == "message"] == ["hello", "again"]
    assert {(one.message_id, one.state) for one in reports} >= {("m1", "submitted"), ("m2", "submitted")}
    assert not {"failed", "unconfirmed"} & {one.state for one in reports}, reports
