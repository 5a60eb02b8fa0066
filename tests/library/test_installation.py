"""The installation of a copy is read from what installers write; each hint fits it and names no other project."""

import shlex
import tomllib
from collections.abc import Iterator
from importlib.metadata import Distribution
from pathlib import Path

import pytest

from streamrelay.errors import ExtraMissing
from streamrelay.installation import EXTRAS, Installation, installation_of, needs_extra
from streamrelay.version import DISTRIBUTION

ROOT = Path(__file__).resolve().parents[2]
METADATA = """\
Metadata-Version: 2.4
Name: tmux-streamrelay
Version: 1
Requires-Dist: pyte>=0.8.2
Requires-Dist: redis>=8; extra == "redis"
Requires-Dist: uvloop>=0.21; extra == 'uvloop'
"""
FOLDER = '{"url": "file:///home/ann/my%20clone", "dir_info": {}}'
EDITABLE = '{"url": "file://CHECKOUT", "dir_info": {"editable": true}}'
GIT = (
    '{"url": "https://example.org/x.git", "vcs_info": {"vcs": "git", "requested_revision": "v1", "commit_id": "01ab"}}'
)
WHEEL = '{"url": "file:///tmp/streamrelay.whl", "archive_info": {}}'


@pytest.fixture
def environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr("streamrelay.installation.find_spec", lambda module: module == "uvloop" or None)
    monkeypatch.setattr("shutil.which", lambda name: f"/usr/bin/{name}")
    folder = tmp_path / "checkout" / ".venv"
    folder.mkdir(parents=True)
    return folder


def installed(environment: Path, installer: str, direct_url: str = "", mark: str = "") -> Installation:
    """The installation that these files describe."""
    dist_info = environment / f"{DISTRIBUTION}-1.dist-info"
    dist_info.mkdir()
    (dist_info / "METADATA").write_text(METADATA)
    if installer:
        (dist_info / "INSTALLER").write_text(f"{installer}\n")
    if direct_url:
        (dist_info / "direct_url.json").write_text(direct_url.replace("CHECKOUT", str(environment.parent)))
    if mark:
        (environment / mark).touch()
    return installation_of(Distribution.at(dist_info), environment, str(environment / "bin" / "python"))


@pytest.mark.requirement("OPS-11b")
@pytest.mark.parametrize(
    ("installer", "direct_url", "mark", "command"),
    [
        ("uv", "", "uv-receipt.toml", "uv tool install 'tmux-streamrelay[redis,uvloop]'"),
        ("uv", FOLDER, "uv-receipt.toml", "uv tool install '/home/ann/my clone[redis,uvloop]'"),
        ("uv", EDITABLE, "uv-receipt.toml", "uv tool install --editable 'CHECKOUT[redis,uvloop]'"),
        ("pip", "", "pipx_metadata.json", "pipx inject .venv 'redis>=8'"),
        ("uv", FOLDER, "pipx_metadata.json", "pipx inject .venv 'redis>=8'"),
        ("pip", "", "", "ENVIRONMENT/bin/python -m pip install 'tmux-streamrelay[redis]'"),
        ("pip", FOLDER, "", "ENVIRONMENT/bin/python -m pip install '/home/ann/my clone[redis]'"),
        ("pip", EDITABLE, "", "ENVIRONMENT/bin/python -m pip install --editable 'CHECKOUT[redis]'"),
        (
            "pip",
            GIT,
            "",
            "ENVIRONMENT/bin/python -m pip install 'tmux-streamrelay[redis] @ git+https://example.org/x.git@v1'",
        ),
        (
            "uv",
            WHEEL,
            "",
            "uv pip install --python ENVIRONMENT/bin/python 'tmux-streamrelay[redis] @ file:///tmp/streamrelay.whl'",
        ),
        ("uv", EDITABLE, "", "uv pip install --python ENVIRONMENT/bin/python --editable 'CHECKOUT[redis]'"),
        (
            "",
            "",
            "",
            "install redis>=8 for ENVIRONMENT/bin/python, the way this copy of streamrelay was installed",
        ),
    ],
)
def test_the_hint_fits_how_the_copy_was_installed(
    environment: Path, installer: str, direct_url: str, mark: str, command: str
) -> None:
    found = installed(environment, installer, direct_url, mark)
    expected = command.replace("CHECKOUT", str(environment.parent)).replace("ENVIRONMENT", str(environment))
    assert found.add_extra("redis") == expected


def test_a_checkout_that_uv_set_up_is_synchronised(environment: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (environment.parent / "uv.lock").touch()
    found = installed(environment, "uv", EDITABLE)
    assert found.add_extra("redis") == f"uv sync --inexact --project {environment.parent} --extra redis"
    # scripts/setup.sh fetches a uv of its own where PATH has none.
    fetched = environment.parent / ".uv" / "tool" / "bin" / "uv"
    fetched.parent.mkdir(parents=True)
    fetched.touch()
    monkeypatch.setattr("shutil.which", lambda name: None)
    found = installation_of(Distribution.at(next(environment.glob("*.dist-info"))), environment, "python")
    assert found.add_extra("redis") == f"{fetched} sync --inexact --project {environment.parent} --extra redis"


def test_what_uvx_runs_is_named_with_the_extra() -> None:
    found = Installation("uvx", "python", Path("/cache/uv/archive-v0/abc"))
    assert found.add_extra("redis") == "uvx --from 'tmux-streamrelay[redis]' streamrelay"


def test_a_source_tree_that_nobody_installed_still_gets_a_hint() -> None:
    found = installation_of(None, Path("/usr"), "/usr/bin/python3")
    words = "install the extra redis of tmux-streamrelay for /usr/bin/python3"
    assert found.add_extra("redis") == f"{words}, the way this copy of streamrelay was installed"


def every_command() -> Iterator[str]:
    sources = [(DISTRIBUTION, False), ("/clone", False), ("/clone", True), ("git+https://example.org/x.git", False)]
    for method in ("uv tool", "uvx", "uv sync", "uv pip", "pipx", "pip", "unknown"):
        for source, editable in sources:
            copy = Installation(method, "/v/bin/python", Path("/v"), source, editable, {"redis": ("redis>=8",)})  # type: ignore[arg-type]
            yield from (copy.add_extra("redis"), copy.reinstall(), copy.remove())


@pytest.mark.requirement("OPS-11b")
@pytest.mark.parametrize("command", sorted(set(every_command()) - {""}))
def test_no_command_names_the_other_project(command: str) -> None:
    words = shlex.split(command)
    if words[-1] == "streamrelay":
        # `uvx --from OURS streamrelay` runs the command of that name.
        assert (words[:2], words[2].partition("[")[0]) != (["uvx", "--from"], "streamrelay")
        words.pop()
    if words[0] == "install":
        return  # a sentence, not a command
    assert not [word for word in words if word.partition("[")[0] == "streamrelay"]


@pytest.mark.requirement("OPS-11b")
@pytest.mark.parametrize("module", ["redis.asyncio", "cryptography.exceptions", "backports"])
def test_a_missing_package_of_an_extra_is_an_error_with_the_command(module: str) -> None:
    package = module.partition(".")[0]
    words = f"a link between machines needs the package {package}"
    with pytest.raises(ExtraMissing, match=words) as raised, needs_extra("redis", "a link between machines"):
        raise ModuleNotFoundError(f"No module named {package!r}", name=module)
    assert raised.value.data == {"extra": "redis", "package": package}
    assert raised.value.hint


def test_a_missing_module_of_something_else_keeps_its_error() -> None:
    with pytest.raises(ModuleNotFoundError), needs_extra("redis", "a link between machines"):
        raise ModuleNotFoundError("No module named 'streamrelay.nonsense'", name="streamrelay.nonsense")


def test_the_extras_are_those_of_the_distribution() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    assert set(project["optional-dependencies"]) == set(EXTRAS)
