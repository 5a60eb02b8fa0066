"""Machines as people have them: a daemon each with a home, a tmux server and agents of its own, one broker for all."""

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import msgspec

from streamrelay.daemon import background
from streamrelay.daemon.client import DaemonClient
from streamrelay.testing.agent import PROFILE, read_got
from streamrelay.testing.redis import PrivateRedis
from streamrelay.testing.tmux import PrivateTmux, is_alive
from streamrelay.testing.waiting import wait_until
from tests.daemon.clocks import OwnClock
from tests.federation.conftest import KEYS, NODES, peer_keys
from tests.federation.network import Network
from tests.service.conftest import PATIENCE, Stage

COMMAND = Path(sys.executable).with_name("streamrelay")


class Home(Stage):
    """A machine with a home of its own, and a daemon for its tmux server."""

    def __init__(
        self, node: str, peers: Sequence[str], tmux: PrivateTmux, folder: Path, url: str, *,
        within: Sequence[str] = (), has_own_clock: bool = False,
    ) -> None:  # fmt: skip
        """`within` is a command that runs the daemon somewhere else, as `ip netns exec NAME`.

        A machine that `has_own_clock` has a time of day that can be moved, if libfaketime is installed.
        """
        super().__init__(tmux, folder)
        self.node = node
        self._within = tuple(within)
        profiles = folder / "config" / "streamrelay" / "agents.d"
        profiles.mkdir(parents=True)
        (profiles / "sprite.toml").write_text(PROFILE)
        join_federation(node, peers, folder, url)
        self.environment = os.environ | {
            "XDG_CONFIG_HOME": str(folder / "config"),
            "XDG_STATE_HOME": str(folder / "state"),
            "XDG_RUNTIME_DIR": str(tmux.directory),
            "STREAMRELAY_SOCKET_PATH": tmux.socket_path,
        }
        self.clock = OwnClock.where_possible(folder / "clock") if has_own_clock else None
        """The machine's time of day; None if nothing can move it."""
        if self.clock is not None:
            self.environment |= self.clock.environment

    def types_command(self, *words: str, patience: float = PATIENCE) -> str:
        done = subprocess.run(
            [*self._within, COMMAND, *words],
            env=self.environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=patience,
        )
        assert done.returncode == 0, (words, done.stdout, done.stderr)
        return done.stdout

    def problems(self) -> list[str]:
        return msgspec.json.decode(self.types_command("status", "--json"))["problems"]

    @property
    def socket(self) -> Path:
        (socket,) = (self.tmux.directory / "streamrelay").glob("daemon-*.sock")
        return socket

    @property
    def pid(self) -> int:
        """The daemon's process id; 0 if none runs."""
        locks = list((self.tmux.directory / "streamrelay").glob("daemon-*.lock"))
        text = locks[0].read_text().strip() if locks else ""
        return int(text) if text and is_alive(int(text)) else 0

    def client(self) -> DaemonClient:
        """A client of the daemon, as a program or the page's server has one."""
        return DaemonClient(self.socket, timeout=PATIENCE)

    def begin(self) -> None:
        """Start the daemon; a machine that has talked for long reads long logs first."""
        logs = self.folder.glob("state/streamrelay/servers/*/panes/*")
        size = sum(log.stat().st_size for log in logs)
        self.types_command("daemon", "start", patience=PATIENCE + size / background.READ_RATE)

    def kill(self) -> None:
        """End the daemon as `kill -9` does."""
        if pid := self.pid:
            os.kill(pid, signal.SIGKILL)
            wait_until(lambda: not is_alive(pid), PATIENCE, "the daemon to be dead")

    def freeze(self) -> None:
        """Let the daemon stand still, as a suspended machine does."""
        os.kill(self.pid, signal.SIGSTOP)

    def thaw(self) -> None:
        if pid := self.pid:
            os.kill(pid, signal.SIGCONT)

    def end(self) -> None:
        """End the daemon, whatever state it is in."""
        self.thaw()
        self.kill()

    def received(self, name: str) -> list[str]:
        """What a scripted agent got, as the program itself wrote it down."""
        return [got.text.rstrip("\n") for got in read_got(self.folder / name) if got.kind == "message"]

    def said(self, name: str) -> list[str]:
        """What a scripted agent answered, as the program itself wrote it down."""
        return [got.text.rstrip("\n") for got in read_got(self.folder / name) if got.kind == "said"]


def join_federation(node: str, peers: Sequence[str], folder: Path, url: str) -> None:
    """Write the key of a node below `folder`, and the configuration by which its daemon knows its peers."""
    key = folder / "key"
    key.write_text(KEYS[node].private_text)
    key.chmod(0o600)
    written = {
        "node": node, "peers": list(peers), "redis_url": url, "key_file": str(key), "peer_keys": peer_keys(*peers),
    }  # fmt: skip
    lines = (f"{name} = {msgspec.json.encode(value).decode()}\n" for name, value in written.items())
    (folder / "config" / "streamrelay" / "config.toml").write_text("[federation]\n" + "".join(lines))


@contextlib.contextmanager
def daemons(
    folder: Path, redis: PrivateRedis, network: Network | None = None, *, nodes: Sequence[str] = NODES,
    have_own_clocks: bool = False,
) -> Iterator[list[Home]]:  # fmt: skip
    """Run the daemons of machines that know of each other, over the network if there is one."""
    with contextlib.ExitStack() as stack:
        made = []
        for node in nodes:
            tmux = stack.enter_context(PrivateTmux())
            (folder / node[0]).mkdir()
            url, within = (redis.url, ()) if network is None else (network.url(node), network.at(node))
            peers = [peer for peer in nodes if peer != node]
            home = Home(node, peers, tmux, folder / node[0], url, within=within, has_own_clock=have_own_clocks)
            made.append(home)
            tmux.new_session("keeper", ["sleep", "10000"])
            stack.callback(home.end)
        with ThreadPoolExecutor() as beginning:
            list(beginning.map(Home.begin, made))
        for home in made:
            wait_until(lambda home=home: not home.problems(), PATIENCE, "the others to be there")
        yield made
