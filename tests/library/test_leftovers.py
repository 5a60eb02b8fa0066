"""What `uninstall` takes away belongs to the named tmux server; the files of other servers stay."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from streamrelay.control import ServerInfo, Tmux, Version
from streamrelay.daemon.address import address_of
from streamrelay.daemon.instance import only_daemon
from streamrelay.delivery.lock import find_free_locks, only_writer, remove_free_lock
from streamrelay.errors import UsageError
from streamrelay.leftovers import Removal, clear_files, clear_server, find_leftovers, own_folders, summarised
from streamrelay.panes.runtime_folder import runtime_folder
from streamrelay.testing.tmux import PrivateTmux


@pytest.fixture(autouse=True)
def folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("RUNTIME_DIR", "STATE_HOME", "CACHE_HOME", "CONFIG_HOME"):
        (tmp_path / name).mkdir()
        monkeypatch.setenv(f"XDG_{name}", str(tmp_path / name))
    return tmp_path


def server(pid: int, host: str = "") -> ServerInfo:
    return ServerInfo(Version.parse("3.5a"), pid, "/tmp/socket", host)


@pytest.mark.requirement("OPS-09")
def test_only_free_locks_of_the_server_and_of_ended_servers_are_found() -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    own, other = os.getpid(), os.getppid()
    with only_writer(server(own), "%3", "send"):
        names = [f"{own}-%1.lock", f"{other}-%1.lock", f"{ended.pid}-%1.lock", f"{own}-{'0' * 16}-%1.lock", "x.lock"]
        for name in names:
            (runtime_folder() / name).touch()
        found = find_free_locks(server(own))
        assert {path.name for path in found} == {names[0], names[2]}
        assert not remove_free_lock(runtime_folder() / f"{own}-%3.lock")
        assert len(clear_files(found)) == 2
        assert {path.name for path in runtime_folder().iterdir()} == {names[1], names[3], names[4], f"{own}-%3.lock"}


@pytest.mark.requirement("OPS-09")
def test_data_stays_while_the_daemon_of_another_server_runs() -> None:
    one, two = Tmux(socket_path="/tmp/one"), Tmux(socket_path="/tmp/two")
    with only_daemon(address_of(two)):
        with pytest.raises(UsageError, match=f"another tmux server uses: process {os.getpid()}"):
            own_folders(one, data=True)
        assert own_folders(two, data=True)
        assert own_folders(one, data=False) == []


@pytest.mark.requirement("OPS-09")
async def test_options_of_panes_with_long_ids_are_found_and_removed(private_tmux: PrivateTmux) -> None:
    panes = [private_tmux.new_session(f"s{number}", ["sleep", "1000"]) for number in range(12)]
    assert len(panes[-1]) == 3, panes
    private_tmux.run("set-option", "-p", "-t", panes[-1], "@streamrelay_agent", "cat")
    tmux = Tmux(socket_path=private_tmux.socket_path)
    found = await find_leftovers(tmux)
    assert [*map(str, await clear_server(tmux, found))] == [f"option @streamrelay_agent of {panes[-1]}"]
    assert private_tmux.run("show-options", "-p", "-t", panes[-1]) == ""


@pytest.mark.requirement("OPS-09")
def test_a_summary_counts_each_kind_in_columns() -> None:
    removals = [Removal("option", f"@streamrelay_{n} of %{n}") for n in range(12)]
    assert summarised([Removal("hub", "$3"), *removals]) == [
        " 1 hub       $3",
        "12 options   @streamrelay_0 of %0, @streamrelay_1 of %1, ...",
    ]
    assert summarised([]) == []
