"""Commands and the daemon run on uvloop where it is installed, and on asyncio's own loop elsewhere."""

import asyncio
import importlib.util
import logging
import socket
import sys
from pathlib import Path

import anyio
import pytest

from streamrelay.loops import new_event_loop


def name_of(loop: asyncio.AbstractEventLoop) -> str:
    with asyncio.Runner(loop_factory=lambda: loop) as runner:
        return type(runner.get_loop()).__module__.partition(".")[0]


def test_uvloop_is_taken_where_it_is_installed() -> None:
    installed = importlib.util.find_spec("uvloop") is not None
    assert name_of(new_event_loop()) == ("uvloop" if installed else "asyncio")


def test_without_uvloop_it_is_asyncios_own(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "uvloop", None)
    assert name_of(new_event_loop()) == "asyncio"


async def _cancelled_when_readable(folder: Path) -> None:
    path = str(folder / "socket")
    Path(path).unlink(missing_ok=True)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(path)
        listening.listen()
        async with await anyio.connect_unix(path) as stream:
            server, _ = listening.accept()
            with server:
                receiving = asyncio.ensure_future(stream.receive())
                await asyncio.sleep(0.01)
                server.send(b"answer")
                # The cancellation is first in the turn of the loop that finds the socket readable.
                asyncio.get_running_loop().call_soon(receiving.cancel)
                with pytest.raises(asyncio.CancelledError):
                    await receiving
                await asyncio.sleep(0)


def test_a_request_that_is_cancelled_when_its_answer_comes_leaves_no_traceback(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with asyncio.Runner() as runner:
        runner.run(_cancelled_when_readable(tmp_path))
    assert "Future.set_result(None)" in caplog.text, "anyio has been mended: remove `streamrelay.loops._report`"
    caplog.clear()
    with asyncio.Runner(loop_factory=new_event_loop) as runner:
        runner.run(_cancelled_when_readable(tmp_path))
    assert not caplog.records


def test_any_other_exception_of_a_callback_is_reported(caplog: pytest.LogCaptureFixture) -> None:
    async def main() -> None:
        asyncio.get_running_loop().call_soon(int, "no number")
        await asyncio.sleep(0)

    with caplog.at_level(logging.ERROR), asyncio.Runner(loop_factory=new_event_loop) as runner:
        runner.run(main())
    assert "no number" in caplog.text
