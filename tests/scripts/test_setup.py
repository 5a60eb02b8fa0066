"""What scripts/setup.sh makes of machines that lack something: the real scripts in a real sh, on a PATH of our own."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
# All that the scripts may take for granted.
GIVEN = ("sh", "dirname", "env", "id", "rm", "true", "uname")


class Machine:
    """A machine with nothing but the given commands, and those a test adds."""

    def __init__(self, folder: Path) -> None:
        self.root = folder / "streamrelay"
        self.path = folder / "bin"
        self.calls = folder / "calls"
        self.home = folder / "home"
        for made in (self.path, self.home):
            made.mkdir()
        shutil.copytree(ROOT / "scripts", self.root / "scripts")
        for name in GIVEN:
            found = shutil.which(name)
            assert found, name
            (self.path / name).symlink_to(found)

    def has(self, name: str, does: str = "", *, folder: Path | None = None) -> None:
        """Add a command that notes how it was called and does what the line of shell says."""
        file = (folder or self.path) / name
        file.unlink(missing_ok=True)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f'#!/bin/sh\necho "{name} $*" >>{self.calls}\n{does}\n')
        file.chmod(0o755)

    def runs(self, *command: str, **environment: str) -> "subprocess.CompletedProcess[str]":
        return subprocess.run(
            command,
            cwd=self.home,
            env={"PATH": str(self.path), "HOME": str(self.home), **environment},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )

    def calls_function(self, line: str, **environment: str) -> "subprocess.CompletedProcess[str]":
        return self.runs("sh", "-euc", f'root={self.root}; . "$root/scripts/setup.sh"; {line}', **environment)

    def was_asked(self) -> list[str]:
        return self.calls.read_text().splitlines() if self.calls.exists() else []


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


@pytest.mark.requirement("OPS-01c")
@pytest.mark.parametrize("script", ["demo", "test", "bootstrap"])
def test_without_tmux_the_one_line_to_type_is_said(machine: Machine, script: str) -> None:
    (machine.path / "python3").symlink_to(sys.executable)
    machine.has("uv")
    machine.has("uname", "echo Linux")
    done = machine.runs(str(machine.root / "scripts" / script))
    assert done.returncode == 2
    assert done.stderr.endswith("    sudo apt-get install -y tmux\n")
    assert done.stdout == ""


def test_on_a_mac_it_is_another_line(machine: Machine) -> None:
    machine.has("uname", "echo Darwin")
    done = machine.calls_function("need_tmux")
    assert done.returncode == 2
    assert done.stderr.endswith("    brew install tmux\n")


@pytest.mark.parametrize(
    ("user", "sudo", "installed_by"),
    [
        ("0", None, "apt-get install -y -q tmux"),
        ("1000", 'shift; exec "$@"', "apt-get install -y -q tmux"),
        ("1000", "exit 1", None),
        ("1000", None, None),
    ],
    ids=["root", "sudo without password", "sudo with password", "no sudo"],
)
def test_tmux_is_installed_where_that_needs_no_password(
    machine: Machine, user: str, sudo: str | None, installed_by: str | None
) -> None:
    machine.has("id", f"echo {user}")
    machine.has("uname", "echo Linux")
    if sudo:
        machine.has("sudo", sudo)
    tmux = machine.path / "tmux"
    machine.has("apt-get", f"printf '#!/bin/sh\\necho tmux 3.4\\n' >{tmux}; {shutil.which('chmod')} +x {tmux}")
    done = machine.calls_function("need_tmux; echo ready")
    assert (done.stdout == "ready\n") == bool(installed_by)
    assert [call for call in machine.was_asked() if call.startswith("apt-get")] == (
        [installed_by] if installed_by else []
    )


def test_no_server_for_everybody_comes_with_the_ssh_server_of_the_tests(machine: Machine) -> None:
    machine.has("id", "echo 0")
    machine.has("uname", "echo Linux")
    machine.has("mkdir")
    machine.has("ln")
    machine.has("apt-get")
    assert machine.calls_function("install_sshd").returncode == 0
    asked = machine.was_asked()
    masked = asked.index("ln -s /dev/null /etc/systemd/system/ssh.service")
    assert masked < asked.index("apt-get install -y -q openssh-server")


@pytest.mark.requirement("OPS-01c")
def test_a_browser_is_installed_or_the_one_line_to_type_is_said_and_the_rest_goes_on(machine: Machine) -> None:
    machine.has("uname", "echo Linux")
    machine.has("id", "echo 0")
    done = machine.calls_function('want_browser; echo "with ($chromium)"')
    assert (done.returncode, done.stdout) == (0, "with ()\n")
    assert "THE WEB PAGE IS NOT TESTED" in done.stderr
    assert done.stderr.endswith("    sudo apt-get install -y chromium\n")
    there = machine.path / "chromium"
    machine.has("apt-get", f"printf '#!/bin/sh\\necho 1\\n' >{there}; {shutil.which('chmod')} +x {there}")
    done = machine.calls_function('want_browser; echo "with ($chromium)"')
    assert done.stdout == "with (chromium)\n"
    assert "apt-get install -y -q chromium" in machine.was_asked()
    machine.has("other", "echo 2")
    done = machine.calls_function('want_browser; echo "with ($chromium)"', STREAMRELAY_CHROMIUM="other")
    assert done.stdout == "with (other)\n"


@pytest.mark.requirement("OPS-01c")
def test_redis_is_installed_without_a_service_or_the_one_line_to_type_is_said(machine: Machine) -> None:
    machine.has("uname", "echo Linux")
    machine.has("id", "echo 0")
    done = machine.calls_function('want_redis; echo "with ($redis)"')
    assert (done.returncode, done.stdout) == (0, "with ()\n")
    assert "LINKS BETWEEN MACHINES ARE NOT TESTED" in done.stderr
    assert done.stderr.endswith("    sudo apt-get install -y redis-tools\n")
    there = machine.path / "redis-check-rdb"
    machine.has("apt-get", f"printf '#!/bin/sh\\necho 1\\n' >{there}; {shutil.which('chmod')} +x {there}")
    done = machine.calls_function('want_redis; echo "with ($redis)"')
    assert done.stdout == "with (redis-check-rdb)\n"
    assert "apt-get install -y -q redis-tools" in machine.was_asked()
    machine.has("other", "echo 2")
    done = machine.calls_function('want_redis; echo "with ($redis)"', STREAMRELAY_REDIS="other")
    assert done.stdout == "with (other)\n"


def test_a_named_tmux_is_used_or_complained_about(machine: Machine) -> None:
    machine.has("tmux-next", "echo tmux next-3.8")
    assert machine.calls_function("need_tmux; echo $tmux", STREAMRELAY_TMUX="tmux-next").stdout == "tmux-next\n"
    done = machine.calls_function("need_tmux", STREAMRELAY_TMUX="/no/tmux")
    assert done.returncode == 2
    assert "STREAMRELAY_TMUX=/no/tmux cannot be run" in done.stderr


def test_a_shim_that_does_not_run_is_no_python(machine: Machine) -> None:
    machine.has("python3", "echo 'pyenv: python3: command not found' >&2; exit 127")
    machine.has("python3.13", "exit 127")
    versions = machine.home / ".pyenv" / "versions" / "3.12.1" / "bin"
    versions.mkdir(parents=True)
    (versions / "python3").symlink_to(sys.executable)
    done = machine.calls_function('find_python; echo "$python"; python_of 13 || echo none')
    python, none = done.stdout.splitlines()
    assert Path(python).exists()
    assert none == "none"


def test_a_python_built_by_profile_is_preferred_wherever_it_stands(machine: Machine) -> None:
    plain, fast = machine.home / "plain" / "python3", machine.home / "fast" / "python3"
    for python, built in ((plain, "1"), (fast, "0")):
        does = f'case "$2" in *sysconfig*) exit {built} ;; *) echo {python} ;; esac'
        machine.has("python3", does, folder=python.parent)
    path = f"{plain.parent}:{fast.parent}:{machine.path}"
    assert machine.calls_function("find_python; choose_python; echo $chosen", PATH=path).stdout == f"{fast}\n"
    fast.unlink()
    assert machine.calls_function("find_python; choose_python; echo $chosen", PATH=path).stdout == f"{plain}\n"


def test_an_old_python_is_no_python(machine: Machine) -> None:
    machine.has("python3", "exit 1")
    done = machine.calls_function("need_uv")
    assert done.returncode == 2
    assert "Python 3.11 or newer is needed" in done.stderr


@pytest.mark.parametrize("lacking", ["venv", "venv and pip"])
def test_uv_is_fetched_with_what_is_there(machine: Machine, lacking: str) -> None:
    modules = machine.home / "modules"
    modules.mkdir()
    (modules / "venv.py").write_text("raise SystemExit(1)")
    pip = (
        "raise SystemExit(1)"
        if lacking != "venv"
        else (
            "import os, pathlib, sys\n"
            "if 'install' in sys.argv:\n"
            "    uv = pathlib.Path(sys.argv[sys.argv.index('--target') + 1], 'bin', 'uv')\n"
            "    uv.parent.mkdir(parents=True)\n"
            "    uv.write_text('#!/bin/sh\\necho uv 1')\n"
            "    uv.chmod(0o755)\n"
        )
    )
    (modules / "pip.py").write_text(pip)
    (machine.path / "python3").symlink_to(sys.executable)
    machine.has("uname", "echo Linux")
    done = machine.calls_function("need_uv; $uv --version", PYTHONPATH=str(modules))
    if lacking == "venv":
        assert done.stdout == "uv 1\n"
    else:
        assert done.returncode == 2
        assert done.stderr.endswith("    sudo apt-get install -y python3-venv\n")


def test_the_environment_is_that_of_the_lock_file_and_downloads_no_python(machine: Machine) -> None:
    (machine.path / "python3").symlink_to(sys.executable)
    machine.has("uv", f'echo "certificates=$UV_SYSTEM_CERTS environment=$UV_PROJECT_ENVIRONMENT" >>{machine.calls}')
    done = machine.calls_function("need_main_environment --dev")
    assert done.returncode == 0, done.stderr
    *_, call, environment = machine.was_asked()
    for option in ("--frozen", "--dev", "--no-python-downloads", "--python "):
        assert option in call
    assert environment == f"certificates=1 environment={machine.root}/.venv"


@pytest.mark.skipif(shutil.which("dash") is None, reason="no dash here")
@pytest.mark.parametrize("script", ["setup.sh", "versions.sh", "bootstrap", "demo", "test"])
def test_the_scripts_are_posix_sh(script: str) -> None:
    subprocess.run(["dash", "-n", ROOT / "scripts" / script], check=True, timeout=20)
    assert script.endswith(".sh") or os.access(ROOT / "scripts" / script, os.X_OK)


def test_a_tmux_that_cannot_be_had_is_named_with_the_reason(machine: Machine) -> None:
    machine.has("find")
    line = '. "$root/scripts/versions.sh"; get_tmux sid || echo "$why_not"'
    assert machine.calls_function(line).stdout == "no apt-get here\n"
    for name in ("mkdir", "rm"):
        (machine.path / name).unlink(missing_ok=True)
        (machine.path / name).symlink_to(str(shutil.which(name)))
    machine.has("apt-get", "exit 100")
    machine.has("dpkg-deb")
    if os.access("/usr/share/keyrings/debian-archive-keyring.gpg", os.R_OK):
        assert machine.calls_function(line).stdout == "its packages cannot be had\n"
        assert not (machine.root / ".tmux-versions" / "sid").exists()
