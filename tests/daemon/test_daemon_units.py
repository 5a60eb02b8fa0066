"""What the system is told to start, and that nothing of it stays."""

import plistlib
import shutil
import subprocess
from pathlib import Path

import pytest

from streamrelay.daemon.address import DaemonAddress
from streamrelay.daemon.units import Unit, install, uninstall, unit_for

COMMAND = ["/opt/a b/python", "-m", "streamrelay_cli", "daemon", "-S", '/tmp/x%y$z"q\\']
ENVIRONMENT = {"PATH": "/bin:/opt/$x%h", "XDG_STATE_HOME": "/s t", "SECRET_KEY": "never"}


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


@pytest.mark.requirement("OPS-03")
def test_a_systemd_unit_runs_the_command_and_spares_the_tmux_server(home: Path, address: DaemonAddress) -> None:
    unit = unit_for(address, COMMAND, ENVIRONMENT, platform="linux")
    assert unit.file == home / ".config/systemd/user/streamrelay-t.service"
    lines = unit.content.splitlines()
    assert "KillMode=process" in lines
    assert "Type=notify" in lines
    assert "TimeoutStartSec=infinity" in lines
    assert "ExecReload=/bin/kill -HUP $MAINPID" in lines
    assert 'ExecStart="/opt/a b/python" "-m" "streamrelay_cli" "daemon" "-S" "/tmp/x%%y$$z\\"q\\\\"' in lines, (
        unit.content
    )
    assert 'Environment="PATH=/bin:/opt/$x%%h"' in lines
    assert 'Environment="XDG_STATE_HOME=/s t"' in lines
    assert "never" not in unit.content
    assert unit_for(address, COMMAND, {"XDG_CONFIG_HOME": "/c"}, platform="linux").file.parts[1] == "c"


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="systemd-analyze is not here")
def test_systemd_takes_the_unit(home: Path, address: DaemonAddress, tmp_path: Path) -> None:
    unit = unit_for(address, ["/bin/true", *COMMAND[1:]], ENVIRONMENT, platform="linux")
    path = tmp_path / "streamrelay-t.service"
    path.write_text(unit.content)
    command = ["systemd-analyze", "verify", "--user", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert str(path) not in done.stderr, done.stderr


@pytest.mark.requirement("OPS-03")
def test_a_launchd_agent_runs_the_command_and_spares_the_tmux_server(home: Path, address: DaemonAddress) -> None:
    unit = unit_for(address, COMMAND, ENVIRONMENT, platform="darwin")
    agent = plistlib.loads(unit.content.encode())
    assert unit.file == home / "Library/LaunchAgents/streamrelay.t.plist"
    assert agent["ProgramArguments"] == COMMAND
    assert agent["AbandonProcessGroup"] is True
    assert agent["EnvironmentVariables"] == {key: ENVIRONMENT[key] for key in ("PATH", "XDG_STATE_HOME")}


def test_what_is_installed_is_taken_back_whole(tmp_path: Path) -> None:
    def told(word: str) -> tuple[str, ...]:
        return "sh", "-c", f"echo {word} >> {tmp_path}/log"

    unit = Unit(tmp_path / "a" / "b.service", "content", (told("enable"),), (told("disable"),), (told("forget"),))
    assert not uninstall(unit)
    assert install(unit) == []
    assert unit.file.read_text() == "content"
    assert uninstall(unit)
    assert not unit.file.exists()
    assert (tmp_path / "log").read_text().split() == ["enable", "disable", "forget"]


def test_a_supervisor_that_refuses_is_quoted(tmp_path: Path) -> None:
    refusing = ("sh", "-c", "echo no bus >&2; exit 1")
    unit = Unit(tmp_path / "b.service", "content", (refusing, ("never",)), (("no-such-program",),), ())
    (refused,) = install(unit)
    assert refused.endswith("no bus")
    assert uninstall(unit)
