"""On one machine nobody needs Redis: neither the server nor the package."""

import subprocess
import sys
from pathlib import Path

import pytest

from streamrelay.testing.tmux import PrivateTmux
from tests.service.conftest import Stage

BLOCKED = """
import asyncio, sys
sys.modules["redis"] = None
import streamrelay
from pathlib import Path
from streamrelay.config.settings import FederationTable
from streamrelay.errors import UsageError
from streamrelay.service.local import LocalService
from streamrelay.service.api import SendMessage

async def main(tmux, socket, folder, pane):
    async with streamrelay.connect(tmux=tmux, socket_path=socket) as server:
        async with LocalService(server, folder=Path(folder), federation=FederationTable()) as service:
            await service.send_message(SendMessage(to=pane, text="hello", message_id="m1"))
            while (await service.get_delivery("m1"))[0].state not in {"submitted", "turn_started", "answered"}:
                await asyncio.sleep(0.01)
            assert not (await service.status()).problems
        async with LocalService(server, folder=Path(folder), federation=FederationTable(node="alpha")) as service:
            await asyncio.sleep(0)
            while "redis" not in str((await service.status()).problems):
                await asyncio.sleep(0.01)

asyncio.run(main(*sys.argv[1:]))
"""
IMPORTED = """
import sys
import streamrelay, streamrelay.service.local, streamrelay.federation.streams
import streamrelay_cli.main, streamrelay_cli.daemon
print(sorted(name for name in sys.modules if name.split(".")[0] == "redis"))
"""


@pytest.mark.requirement("NET-05")
def test_nothing_imports_redis_before_it_is_needed() -> None:
    done = subprocess.run([sys.executable, "-c", IMPORTED], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


@pytest.mark.requirement("NET-05")
async def test_a_service_without_peers_works_where_there_is_no_redis(private_tmux: PrivateTmux, tmp_path: Path) -> None:
    stage = Stage(private_tmux, tmp_path)
    pane = stage.start("Ann")
    words = [stage.tmux.binary, stage.tmux.socket_path, str(stage.folder / "state"), pane]
    done = subprocess.run(
        [sys.executable, "-c", BLOCKED, *words], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stderr
    await stage.until_heard("Ann", "hello")
