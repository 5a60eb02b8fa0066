"""A daemon that is started in the background has time to read what it goes on with, however much that is."""

import asyncio
import os
import sys
from pathlib import Path

import pytest

from streamrelay.control import Tmux
from streamrelay.daemon import background
from streamrelay.daemon.address import DaemonAddress, address_of
from streamrelay.errors import ConfigError, DaemonLost, StorageError, StreamrelayError
from streamrelay.service.persistence import PANES

ENDS = "import sys; print({text!r}, file=sys.stderr); sys.exit({code})"
NEVER_ANSWERS = ("/bin/sleep", "100")


@pytest.fixture
def address(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> DaemonAddress:
    for name in ("XDG_STATE_HOME", "XDG_RUNTIME_DIR"):
        monkeypatch.setenv(name, str(tmp_path / name))
    return address_of(Tmux(socket_path=str(tmp_path / "tmux")))


def write_logs(address: DaemonAddress, *sizes: int) -> None:
    (address.state / PANES).mkdir(parents=True)
    for number, size in enumerate(sizes):
        path = address.state / PANES / f"{number}.jsonl"
        path.touch()
        os.truncate(path, size)


@pytest.mark.requirement("REL-07")
def test_a_daemon_with_long_logs_may_start_longer(address: DaemonAddress) -> None:
    assert background.starting_time(address) == background.STARTING
    write_logs(address, *[32 << 20] * 10)
    assert background.starting_time(address) == background.STARTING + 10 * (32 << 20) / background.READ_RATE


@pytest.mark.requirement("REL-07")
async def test_a_daemon_is_given_up_no_sooner_than_it_can_have_read_its_logs(
    address: DaemonAddress, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(background, "STARTING", 0.1)
    write_logs(address, background.READ_RATE)
    begun = asyncio.get_running_loop().time()
    with pytest.raises(DaemonLost):
        await background.start(address, NEVER_ANSWERS)
    assert asyncio.get_running_loop().time() - begun >= 1.1


@pytest.mark.requirement("OPS-03")
@pytest.mark.parametrize(
    ("text", "code", "kind", "message", "hint"),
    [
        ("error: no such key: x\nhint: look at y", ConfigError.exit_code, ConfigError, "no such key: x", "look at y"),
        ("error: unheard of", 99, StreamrelayError, "unheard of", ""),
        ("Traceback ...", 1, DaemonLost, "did not start", None),
        (
            '{"event": "failed", "code": "storage"}\nerror: half a report',
            StorageError.exit_code,
            StorageError,
            "half a report",
            "",
        ),
    ],
)
async def test_what_a_daemon_printed_before_it_had_a_log_is_raised_by_its_exit_code(
    address: DaemonAddress, text: str, code: int, kind: type[StreamrelayError], message: str, hint: str | None
) -> None:
    with pytest.raises(StreamrelayError, match=message) as raised:
        await background.start(address, [sys.executable, "-c", ENDS.format(text=text, code=code)])
    assert type(raised.value) is kind
    assert hint is None or raised.value.hint == hint
