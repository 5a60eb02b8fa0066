"""`doctor` names what is wrong with an installation, with the command that mends it."""

from importlib.metadata import Distribution
from pathlib import Path

import pytest

from streamrelay.installation import Installation
from streamrelay.installation_checks import (
    check_clash,
    check_command,
    check_copy,
    check_extras,
    check_installation,
    check_packages,
    check_tmux_path,
    find_shadows,
)
from streamrelay.version import VERSION

PIP = Installation("pip", "/env/bin/python", Path("/env"), extras=("redis",))


def program(folder: Path, name: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / name
    file.write_text("#!/bin/sh\n")
    file.chmod(0o755)
    return file


@pytest.mark.requirement("OPS-11c")
def test_versions_packages_and_extras_are_named(tmp_path: Path) -> None:
    assert check_copy(PIP).found == f"{VERSION}, installed with pip into /env"
    dist_info = tmp_path / "x-1.dist-info"
    dist_info.mkdir()
    metadata = "Metadata-Version: 2.4\nName: x\nVersion: 1\nRequires-Dist: pytest>=8\n"
    (dist_info / "METADATA").write_text(f'{metadata}Requires-Dist: absent-one; extra == "redis"\n')
    found = check_packages(PIP, Distribution.at(dist_info))
    assert (found.status, found.found) == ("ok", f"pytest {pytest.__version__}")
    (dist_info / "METADATA").write_text(f"{metadata}Requires-Dist: absent-one>=1\n")
    found = check_packages(PIP, Distribution.at(dist_info))
    assert (found.status, found.found, found.fix) == ("failed", "not installed: absent-one", PIP.reinstall())
    extras = {check.name: check for check in check_extras(PIP)}
    assert not extras["extra redis"].fix
    assert extras["extra uvloop"].fix == PIP.add_extra("uvloop")


@pytest.mark.requirement("OPS-11c")
def test_another_project_and_a_shadowing_package_are_clashes(tmp_path: Path) -> None:
    found = check_clash(PIP, ["0.3.1"], [])
    assert found.status == "failed"
    assert "streamrelay 0.3.1 is installed in /env" in found.found
    assert found.fix == f"{PIP.remove('streamrelay')} && {PIP.reinstall()}"
    own, clone, other = (tmp_path / folder / "streamrelay" for folder in ("a", "clone", "b"))
    for package in (own, clone, other):
        package.mkdir(parents=True)
        (package / "__init__.py").touch()
    shadows = find_shadows([own, clone], [own.parent, clone.parent, other.parent, tmp_path])
    assert shadows == [other / "__init__.py"]
    assert check_clash(PIP, [], shadows).status == "warning"
    assert check_clash(PIP, [], []).status == "ok"


@pytest.mark.requirement("OPS-11c")
def test_the_command_on_the_path_is_compared_with_this_copy(tmp_path: Path) -> None:
    own, other = program(tmp_path / "own", "streamrelay"), program(tmp_path / "other", "streamrelay")
    link = tmp_path / "link" / "streamrelay"
    link.parent.mkdir()
    link.symlink_to(own)
    assert check_command(own, str(link.parent)).status == "ok"
    assert str(other) in check_command(own, str(other.parent)).found
    missing = check_command(own, str(tmp_path))
    assert (missing.status, missing.fix) == ("warning", f'export PATH={own.parent}:"$PATH"')


@pytest.mark.requirement("OPS-11c")
def test_programs_on_only_one_path_are_named(tmp_path: Path) -> None:
    here, there = program(tmp_path / "here", "claude").parent, program(tmp_path / "there", "codex").parent
    known = ["claude", "codex", "aider"]
    assert check_tmux_path(str(here), str(here), known).status == "ok"
    assert check_tmux_path(str(here), str(here) + ":/none", known).status == "ok"
    found = check_tmux_path(str(here), f"{there}:\x1b", known)
    assert found.status == "warning"
    assert found.found.startswith("only yours finds claude; only tmux's finds codex (")
    assert "\x1b" not in found.found


@pytest.mark.requirement("OPS-11c")
def test_this_environment_is_examined() -> None:
    names = [check.name for check in check_installation("")]
    assert names == [
        "streamrelay",
        "packages",
        "extra acp",
        "extra council",
        "extra redis",
        "extra uvloop",
        "extra native",
        "name clash",
        "command",
    ]
