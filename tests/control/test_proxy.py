"""The proxy in front of a real server: what kills tmux 3.2 to 3.7 while a client identifies itself does not, by it."""

import fcntl
import os
import socket
import termios
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from streamrelay.control import ControlClient, Tmux, TransportName, Version, harmless, upgrade_hint
from streamrelay.control.proxy import AttachProxy
from streamrelay.errors import NoServer
from streamrelay.testing.tmux import PrivateTmux, is_alive
from streamrelay.testing.waiting import wait_until_async

from .conftest import Heard
from .test_identification import CONTROL, PLAIN


@pytest.fixture
def dialled() -> Iterator[Callable[[str], socket.socket]]:
    """Connects to a path, as a client would that goes on slowly."""
    opened: list[socket.socket] = []

    def dial(path: str) -> socket.socket:
        connection = socket.socket(socket.AF_UNIX)
        opened.append(connection)
        connection.connect(path)
        return connection

    yield dial
    for connection in opened:
        connection.close()


@pytest.fixture
def dies(private_tmux: PrivateTmux) -> bool:
    """Whether this tmux has the defect; starts the server."""
    private_tmux.new_session("main", ["cat"])
    return not Version.parse(private_tmux.run("display-message", "-p", "#{version}")).at_least(3, 8)


def open_descriptors() -> int:
    return sum(1 for _ in Path("/proc/self/fd").iterdir())


def is_read(connection: socket.socket) -> bool:
    """Tell whether the other side has read everything."""
    return not any(fcntl.ioctl(connection, termios.TIOCOUTQ, bytes(4)))


def notify(tmux: PrivateTmux) -> None:
    """Have the server write to every control client; the command dies with a server that does."""
    with suppress(Exception):
        tmux.run("rename-session", "-t", "$0", f"main{os.urandom(4).hex()}")


def notifies_and_lives(tmux: PrivateTmux, pid: int) -> bool:
    notify(tmux)
    try:
        return tmux.server_pid == pid
    except NoServer:
        return False


async def test_a_notification_kills_a_server_with_the_defect_and_not_through_the_proxy(
    private_tmux: PrivateTmux, dies: bool, dialled: Callable[[str], socket.socket]
) -> None:
    pid = private_tmux.server_pid
    proxy = await AttachProxy.open(private_tmux.socket_path)
    slow = dialled(proxy.socket_path)
    slow.sendall(CONTROL + PLAIN)
    await wait_until_async(lambda: is_read(slow), message="the proxy read nothing")
    assert notifies_and_lives(private_tmux, pid)
    proxy.close()

    dialled(private_tmux.socket_path).sendall(CONTROL)
    await wait_until_async(
        lambda: notifies_and_lives(private_tmux, pid) is not dies, message="the defect is not as said"
    )


async def test_a_client_that_ends_amid_its_identification_kills_nothing_through_the_proxy(
    private_tmux: PrivateTmux, dies: bool, dialled: Callable[[str], socket.socket]
) -> None:
    pid = private_tmux.server_pid
    proxy = await AttachProxy.open(private_tmux.socket_path)
    left = dialled(proxy.socket_path)
    left.sendall(CONTROL + PLAIN)
    await wait_until_async(lambda: is_read(left), message="the proxy read nothing")
    left.close()
    await wait_until_async(lambda: proxy.is_closed, message="the proxy outlived its client")
    assert notifies_and_lives(private_tmux, pid)

    left = dialled(private_tmux.socket_path)
    left.sendall(CONTROL + PLAIN)
    left.close()
    await wait_until_async(lambda: is_alive(pid) is not dies, message="the defect is not as said")


@pytest.mark.parametrize("transport", ["pipes", "cc"])
async def test_a_client_works_through_the_proxy_and_leaves_nothing(
    private_tmux: PrivateTmux, dies: bool, heard: "Heard", tmp_path: Path, transport: TransportName,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """With an environment of several reads, a file that goes through the proxy, and a taken leave."""
    for number in range(600):
        monkeypatch.setenv(f"VARIABLE_{number}", "v" * 200)
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path) if len(str(tmp_path)) < 60 else "/tmp")
    (tmp_path / "text").write_text("x" * 300_000)
    tmux = Tmux(private_tmux.binary, socket_path=private_tmux.socket_path)
    client = ControlClient(tmux, "$0", heard, transport=transport)
    descriptors = open_descriptors()
    await client.open(await tmux.probe())
    await client.command(f"load-buffer -b b {tmp_path}/text")
    assert len(private_tmux.run("show-buffer", "-b", "b")) == 300_000
    assert private_tmux.run("show-environment", "-t", "$0").count("VARIABLE_") == 0
    await client.aclose()
    assert (await client.closed).reason == "left"
    assert private_tmux.run("list-clients") == ""
    assert [path.name for path in tmp_path.iterdir()] == ["text"]
    assert open_descriptors() == descriptors


async def test_only_a_local_server_with_the_defect_is_reached_through_a_proxy(
    private_tmux: PrivateTmux, dies: bool, caplog: pytest.LogCaptureFixture
) -> None:
    tmux = Tmux(private_tmux.binary, socket_path=private_tmux.socket_path)
    server = await tmux.probe()
    async with harmless(tmux, server) as reached:
        assert (reached.socket_path != tmux.socket_path) is dies
    async with harmless(tmux, None) as reached:
        assert reached is tmux
    gone = Tmux(private_tmux.binary, socket_path="/nonexistent/tmux")
    async with harmless(gone, server) as reached:
        assert reached is gone
    assert ("no proxy for /nonexistent/tmux" in caplog.text) is dies


@pytest.mark.parametrize(
    ("version", "named"), [("3.2", True), ("3.3a", True), ("3.7c", True), ("3.8", False), ("master", False)]
)
def test_versions_with_the_defect_are_told_to_be_upgraded(version: str, named: bool) -> None:
    hint = upgrade_hint(Version.parse(version))
    assert (hint is not None) is named
    assert not named or (hint is not None and "3.8" in hint and version in hint)
