"""What a program asks when it is started for the first time: told, with what to do, and answered by a person only."""

import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

import streamrelay
from streamrelay.delivery.message import DeliveryPolicy
from streamrelay.delivery.sending import send
from streamrelay.errors import DeliveryFailed
from streamrelay.panes.server import Server
from streamrelay.sessions.model import StartSession
from streamrelay.sessions.sessions import Sessions
from streamrelay.testing.tmux import PrivateTmux
from streamrelay.testing.waiting import wait_until_async

PATIENCE = 30.0
# Asks, logs every byte that it is sent, and goes on when it is an Enter.
ASK = r"""
import os, sys, termios, tty
tty.setraw(0)
question, log = sys.argv[1:]
os.write(1, ("\x1b[?25l\x1b[2J\x1b[H" + question.replace("\n", "\r\n")).encode())
while True:
    data = os.read(0, 1000)
    with open(log, "ab") as file:
        file.write(data)
    if data == b"\r":
        os.write(1, b"\x1b[2J\x1b[H\x1b[?25h> ")
"""
TRUST = """Do you trust the files in this folder?

  /home/ann/work

 ❯ 1. Yes, proceed
   2. No, exit

 Enter to confirm · Esc to cancel"""
LOGIN = """Select login method:

 ❯ 1. Account with subscription
   2. API key

"""
UPDATE = """  ✨ Update available! 0.169.0 -> 0.170.0

› 1. Update now (runs `npm install -g sprite`)
  2. Skip
  3. Skip until next version

  Press enter to continue"""


@pytest.fixture
async def server(private_tmux: PrivateTmux) -> AsyncIterator[Server]:
    private_tmux.new_session("keeper", ["cat"])
    async with streamrelay.connect(
        tmux=private_tmux.binary, socket_path=private_tmux.socket_path, profiles=()
    ) as server:
        yield server


@pytest.mark.requirement("AGT-05")
@pytest.mark.parametrize(
    ("question", "deed"), [(TRUST, "trust the folder"), (LOGIN, "log in there"), (UPDATE, "to be updated")]
)
async def test_it_is_told_with_what_to_do_and_gets_no_key(
    server: Server, private_tmux: PrivateTmux, tmp_path: Path, question: str, deed: str
) -> None:
    sessions = Sessions(server)
    log = tmp_path / "log"
    request = StartSession(
        agent=sys.executable, arguments=["-c", ASK, question, str(log)], title="Ann's", cwd=str(tmp_path)
    )
    session = await sessions.start(request)
    info = await server.find(session.pane)
    async with server.watch(session.pane):
        asking = await sessions.until_ready(session)
        assert asking.state == "needs_human"
        assert deed in asking.advice
        assert f"tmux -S {private_tmux.socket_path} attach-session -t =Ann-s" in asking.advice
        with pytest.raises(DeliveryFailed, match="needs_human"):
            await send(
                server,
                info,
                "Begin.",
                publish=lambda _: None,
                policy=DeliveryPolicy(needs_human="fail"),
                timeout=PATIENCE,
            )
        assert not log.exists()

        private_tmux.run("send-keys", "-t", session.pane, "Enter")

        async def nobody_is_needed() -> bool:
            return (await sessions.until_ready(session)).advice == ""

        await wait_until_async(nobody_is_needed, PATIENCE, "the person's answer to be taken")
        await send(server, info, "Begin.", publish=lambda _: None, timeout=PATIENCE)
    await wait_until_async(lambda: log.read_bytes().endswith(b"Begin.\r"), PATIENCE, "the prompt")
    assert log.read_bytes() == b"\rBegin.\r"
