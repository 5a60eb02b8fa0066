"""`streamrelay peers`: making, using and deleting keys, and the table of the other machines."""

from pathlib import Path

import msgspec
import pytest
from streamrelay_cli.main import app
from streamrelay_cli.peers import _table
from typer.testing import CliRunner

from streamrelay.federation.keys import read_key_file, read_peer_keys
from streamrelay.service.api import Peer


@pytest.fixture
def key_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    file = tmp_path / "keys" / "federation.key"
    monkeypatch.setenv("STREAMRELAY_FEDERATION_KEY_FILE", str(file))
    monkeypatch.setenv("STREAMRELAY_FEDERATION_NODE", "alpha")
    return file


def run(*words: str, code: int = 0) -> str:
    done = CliRunner().invoke(app, ["peers", *words])
    assert done.exit_code == code, done.output
    return done.stdout


def fingerprints() -> list[str]:
    return [key["fingerprint"] for key in msgspec.json.decode(run("key", "--json"))]


@pytest.mark.requirement("NET-06a")
def test_a_key_is_made_used_and_deleted(key_file: Path) -> None:
    first = run("add-key").strip()
    assert key_file.stat().st_mode & 0o777 == 0o600
    (pair,) = read_key_file(key_file.read_text())
    assert read_peer_keys([first]) == {"alpha": (pair.public,)}
    assert pair.private_text not in run("key")
    run("add-key")
    old, new = fingerprints()
    run("use-key", new)
    assert fingerprints() == [new, old]
    run("remove-key", old)
    assert fingerprints() == [new]
    assert run("key") != first
    run("remove-key", new, code=2)
    assert fingerprints() == [new]
    assert key_file.stat().st_mode & 0o777 == 0o600
    assert [file.name for file in key_file.parent.iterdir()] == [key_file.name]


def test_without_a_key_the_command_says_how_to_make_one(key_file: Path) -> None:
    done = CliRunner().invoke(app, ["peers", "key"])
    assert done.exit_code == 2
    assert "streamrelay peers add-key" in done.output
    assert not key_file.exists()


def test_the_table_shows_what_waits_and_why() -> None:
    waits = Peer(name="beta", state="away", waiting={"heard": 2}, lag=71.2, why="beta is away", refused={"forged": 3})
    assert list(_table([waits, Peer(name="gamma", state="present")])) == [
        "PEER   STATE    LAG     WAITING  REFUSED  WHY",
        "beta   away     71.2 s  2 heard  3        beta is away",
        "gamma  present  -       -        0        -",
        "  refused from beta: 3 envelopes (forged)",
    ]
