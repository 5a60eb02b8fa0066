"""One daemon at a time, for one user, that leaves nothing behind."""

import asyncio
import fcntl
import os
import signal
import socket
import stat
import subprocess
import sys
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from io import StringIO
from pathlib import Path

import httpx
import pytest

from streamrelay.control import Tmux
from streamrelay.daemon.address import DaemonAddress, address_of
from streamrelay.daemon.client import DaemonClient
from streamrelay.daemon.instance import listening, only_daemon, running_pid, until_ended
from streamrelay.daemon.logs import open_log
from streamrelay.daemon.openapi import Health
from streamrelay.daemon.page import PageServer
from streamrelay.daemon.peers import peer_uid
from streamrelay.daemon.process import Running, run_daemon
from streamrelay.daemon.supervisor import notify
from streamrelay.errors import ConfigError, DaemonRunning, ServerLost, StreamrelayError
from streamrelay.events import AnyEvent
from streamrelay.service.restore import RestoreProgress
from streamrelay.testing.waiting import wait_until_async
from streamrelay.web.access import PAGE
from tests.daemon.conftest import PATIENCE, MemoryService, Served, no_lines

NOBODY = 65534
needs_root = pytest.mark.skipif(os.getuid() != 0, reason="only root can become somebody else")


class Life:
    """A daemon in this process, with a service in memory."""

    def __init__(self, address: DaemonAddress, service: MemoryService) -> None:
        self.address = address
        self.service = service
        self.log = StringIO()
        self.reloads = 0
        self.reload_error: StreamrelayError | None = None
        self.breaks: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.opens: asyncio.Event | None = None
        self.restored = asyncio.Event()
        self.restored.set()
        self.progress = RestoreProgress()
        self.closing: asyncio.Event | None = None
        self.closed = False
        self.page: PageServer | None = None

    def run(self) -> "asyncio.Task[None]":
        log = open_log("debug", self.log)
        return asyncio.ensure_future(
            run_daemon(self.address, self._opened(), log=log, version="9", progress=self.progress)
        )

    @staticmethod
    def stop() -> None:
        os.kill(os.getpid(), signal.SIGTERM)

    @asynccontextmanager
    async def _opened(self) -> AsyncIterator[Running]:
        async def broken() -> None:
            await self.breaks

        if self.opens is not None:
            await self.opens.wait()
        yield Running(
            self.service,
            reload=self._reload,
            restored=self.restored.wait,
            broken=broken,
            live=no_lines,
            page=self.page,
        )
        if self.closing is not None:
            await self.closing.wait()
        self.closed = True

    async def _reload(self) -> None:
        self.reloads += 1
        if self.reload_error is not None:
            raise self.reload_error

    async def ready(self) -> None:
        async with DaemonClient(self.address.socket) as client:
            await wait_until_async(client.is_healthy, PATIENCE)


@pytest.fixture
async def life(address: DaemonAddress, memory: MemoryService) -> Life:
    return Life(address, memory)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_ends_it_and_nothing_is_left(life: Life, number: signal.Signals) -> None:
    task = life.run()
    await life.ready()
    assert running_pid(life.address) == os.getpid()
    async with DaemonClient(life.address.socket) as client:
        got: list[AnyEvent] = []
        reading = asyncio.ensure_future(_collect(client, got))
        await life.service.publish("one")
        await wait_until_async(lambda: got, PATIENCE)
        os.kill(os.getpid(), number)
        await task
        await reading
    assert got == life.service.journal
    assert life.closed
    assert not life.address.socket.exists()
    assert running_pid(life.address) is None
    assert not life.address.lock.exists()


@pytest.mark.parametrize(
    "body", [b"", b"{", b"[]", b'{"listen": 1}', b'{"listen": "\xff"}', b'{"listen": "nowhere:x"}']
)
async def test_a_page_that_nobody_can_say_where_to_open_is_refused(life: Life, body: bytes) -> None:
    life.page = PageServer(life.address.state / "token")
    task = life.run()
    await life.ready()
    transport = httpx.AsyncHTTPTransport(uds=str(life.address.socket))
    async with httpx.AsyncClient(transport=transport, base_url="http://localhost", timeout=PATIENCE) as client:
        refused = await client.post(PAGE, content=body)
        assert (refused.status_code, refused.json()["code"]) == (400, "usage")
        assert (await client.get(PAGE)).json()["address"] == ""
    os.kill(os.getpid(), signal.SIGTERM)
    await task


async def _collect(client: DaemonClient, got: list[AnyEvent]) -> None:
    async for event in client.events(0):
        got.append(event)  # noqa: PERF401  # as they come


async def test_the_second_signal_ends_the_waiting(life: Life) -> None:
    life.closing = asyncio.Event()
    task = life.run()
    await life.ready()
    os.kill(os.getpid(), signal.SIGTERM)
    await wait_until_async(lambda: '"stopping"' in life.log.getvalue(), PATIENCE)
    os.kill(os.getpid(), signal.SIGTERM)
    await asyncio.wait_for(task, PATIENCE)
    assert not life.closed


async def test_a_service_that_does_not_close_is_left(life: Life, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("streamrelay.daemon.process.CLOSING", 0.01)
    life.closing = asyncio.Event()
    task = life.run()
    await life.ready()
    os.kill(os.getpid(), signal.SIGTERM)
    with pytest.raises(StreamrelayError, match="did not close"):
        await task
    assert not life.address.socket.exists()


async def test_hanging_up_has_it_read_its_files_again(life: Life) -> None:
    task = life.run()
    await life.ready()
    os.kill(os.getpid(), signal.SIGHUP)
    await wait_until_async(lambda: '"reloaded"' in life.log.getvalue(), PATIENCE)
    life.reload_error = ConfigError("f.toml", "a", "a secret is odd")
    os.kill(os.getpid(), signal.SIGHUP)
    await wait_until_async(lambda: "not_reloaded" in life.log.getvalue(), PATIENCE)
    assert "a secret" not in life.log.getvalue()
    await life.ready()
    os.kill(os.getpid(), signal.SIGTERM)
    await task
    assert life.reloads == 2


async def test_it_ends_when_its_service_breaks(life: Life) -> None:
    task = life.run()
    await life.ready()
    life.breaks.set_exception(ServerLost("gone"))
    with pytest.raises(ServerLost, match="gone"):
        await task
    assert life.closed
    assert not life.address.socket.exists()


async def test_a_second_one_is_refused_and_the_first_goes_on(served: Served, memory: MemoryService) -> None:
    with pytest.raises(DaemonRunning, match=str(os.getpid())):
        await Life(served.address, memory).run()
    async with served.client() as client:
        assert await client.is_healthy()


def test_only_one_of_many_holds_the_lock(address: DaemonAddress) -> None:
    program = (
        "import sys; from pathlib import Path; from streamrelay.daemon.address import DaemonAddress\n"
        "from streamrelay.daemon.instance import only_daemon; from streamrelay.errors import DaemonRunning\n"
        f"a = DaemonAddress('t', 't', Path({str(address.socket)!r}), Path({str(address.lock)!r}), "
        f"Path({str(address.state)!r}), Path({str(address.log)!r}))\n"
        "try:\n    with only_daemon(a): print('mine', flush=True); sys.stdin.read()\n"
        "except DaemonRunning: print('taken', flush=True)\n"
    )
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    several = [subprocess.Popen([sys.executable, "-c", program], text=True, **pipes) for _ in range(4)]  # type: ignore[call-overload]
    try:
        said = [one.stdout.readline().strip() for one in several]
        assert sorted(said) == ["mine", "taken", "taken", "taken"]
        assert running_pid(address) == several[said.index("mine")].pid
    finally:
        for one in several:
            one.communicate(timeout=PATIENCE)
    assert running_pid(address) is None


@pytest.mark.requirement("OPS-03")
def test_who_asks_whether_one_runs_is_not_taken_for_one(address: DaemonAddress) -> None:
    address.lock.parent.mkdir(parents=True, exist_ok=True)
    address.lock.write_text("4242\n")
    asking = os.open(address.lock, os.O_RDONLY)
    fcntl.flock(asking, fcntl.LOCK_SH)
    answered = threading.Timer(0.03, os.close, (asking,))
    answered.start()
    with only_daemon(address):
        assert running_pid(address) == os.getpid()
    answered.join()


def test_what_a_dead_daemon_left_is_taken_over(address: DaemonAddress) -> None:
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(address.socket))
    address.lock.write_text("999999\n")
    assert running_pid(address) is None
    with only_daemon(address), listening(address), socket.socket(socket.AF_UNIX) as client:
        client.connect(str(address.socket))
        assert stat.S_IMODE(address.socket.stat().st_mode) == 0o600


def test_folders_are_closed_to_others(address: DaemonAddress) -> None:
    address.socket.parent.chmod(0o755)
    with only_daemon(address):
        assert stat.S_IMODE(address.socket.parent.stat().st_mode) == 0o700


def test_a_path_that_is_no_socket_address_is_refused_in_words(address: DaemonAddress) -> None:
    long = address._replace(socket=address.socket.with_name("x" * 100))
    with pytest.raises(StreamrelayError, match="too long"), listening(long):
        pass


async def test_one_that_does_not_end_is_told(address: DaemonAddress, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("streamrelay.daemon.instance.ENDING", 0.01)
    with only_daemon(address), pytest.raises(StreamrelayError, match="does not end"):
        await until_ended(address, os.getpid())


def test_whoever_names_the_same_tmux_server_finds_the_same_daemon(
    monkeypatch: pytest.MonkeyPatch, address: DaemonAddress
) -> None:
    folder = address.socket.parent
    monkeypatch.setenv("TMUX_TMPDIR", str(folder))
    monkeypatch.setenv("XDG_RUNTIME_DIR", "relative is no runtime folder")
    (folder / "link").symlink_to(folder)
    path = f"{folder}/tmux-{os.getuid()}/work"
    named = address_of(Tmux(socket_name="work"))
    assert named == address_of(Tmux(socket_path=path))
    assert named == address_of(Tmux(socket_path=f"{folder}/link/tmux-{os.getuid()}/work"))
    monkeypatch.setenv("TMUX", f"{path},1,0")
    assert named == address_of(Tmux())
    assert named != address_of(Tmux(socket_name="other"))
    assert os.environ["XDG_STATE_HOME"] in str(named.socket)


@needs_root
async def test_another_user_is_refused_though_the_files_are_open(served: Served) -> None:
    for folder in (served.address.socket.parent, *served.address.socket.parent.parents):
        if folder.stat().st_uid == os.getuid() and folder.name.startswith("streamrelay-"):
            folder.chmod(0o755)
    served.address.socket.chmod(0o666)
    program = (
        "import os, socket, sys\n"
        "os.setgroups([]); os.setgid(int(sys.argv[2])); os.setuid(int(sys.argv[2]))\n"
        "s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1])\n"
        "try:\n    s.sendall(b'GET /health HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n'); print(len(s.recv(9999)))\n"
        "except OSError: print(0)\n"
    )

    async def answered(uid: int) -> int:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-c", program, str(served.address.socket), str(uid), stdout=subprocess.PIPE
        )
        out, _ = await process.communicate()
        return int(out)

    assert await answered(NOBODY) == 0
    assert await answered(0) > 0


def test_the_kernel_says_who_is_there() -> None:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        assert peer_uid(ours) == os.getuid()


def test_the_supervisor_is_told(monkeypatch: pytest.MonkeyPatch, address: DaemonAddress) -> None:
    notify("READY=1")
    path = address.socket.with_name("notify")
    monkeypatch.setenv("NOTIFY_SOCKET", str(path))
    notify("nobody listens")
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listener:
        listener.bind(str(path))
        notify("READY=1")
        assert listener.recv(100) == b"READY=1"


async def test_while_it_starts_health_says_how_far_it_is(
    address: DaemonAddress, memory: MemoryService, monkeypatch: pytest.MonkeyPatch
) -> None:
    for variable in ("XDG_RUNTIME_DIR", "XDG_STATE_HOME"):
        monkeypatch.setenv(variable, str(address.state))
    life = Life(address_of(Tmux(socket_path=address.tmux)), memory)
    life.opens = asyncio.Event()
    life.restored.clear()
    task = life.run()
    async with DaemonClient(life.address.socket) as client:
        await wait_until_async(life.address.socket.exists, PATIENCE)
        life.progress.panes, life.progress.read = 50, 12
        assert await client.health() == Health(status="starting", panes=50, read=12)
        assert not await client.is_healthy()
        command = [Path(sys.executable).with_name("streamrelay"), "status", "-S", life.address.tmux]
        shown = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
        out, _ = await shown.communicate()
        assert out.decode() == "the daemon is starting\n"
        call = asyncio.ensure_future(client.status())
        assert await client.health() == Health(status="starting", panes=50, read=12)
        assert not call.done()
        life.opens.set()
        assert (await call).seq == 0
        assert await client.health() == Health(status="restoring", panes=50, read=12)
        assert not await client.is_healthy()
        assert '"ready"' not in life.log.getvalue()
        life.restored.set()
        await wait_until_async(client.is_healthy, PATIENCE)
        assert await client.health() == Health()
        assert '"ready"' in life.log.getvalue()
    life.stop()
    await task
    assert not life.address.socket.exists()


async def test_a_daemon_that_ends_while_it_starts_leaves_nothing(life: Life) -> None:
    life.opens = asyncio.Event()
    task = life.run()
    async with DaemonClient(life.address.socket) as client:
        await wait_until_async(life.address.socket.exists, PATIENCE)
        assert await client.health() == Health(status="starting")
        life.stop()
        await task
        assert await client.health() is None
    assert not life.address.socket.exists()
    assert running_pid(life.address) is None
