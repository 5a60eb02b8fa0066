"""Real git repositories, also such as nobody should have."""

import os
import subprocess
from pathlib import Path

import pytest

from streamrelay.pulse.repositories import MAX_COMMITS, repository_at, top_of


@pytest.fixture
def repository(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
    monkeypatch.setenv("HOME", str(tmp_path))
    folder = tmp_path / "a ré'po"
    folder.mkdir()
    git(folder, "init", "-q", "-b", "talking-piece")
    return folder


def git(folder: Path, *words: str, **environment: str) -> str:
    named = {
        "GIT_AUTHOR_NAME": "Ann",
        "GIT_AUTHOR_EMAIL": "a@b",
        "GIT_COMMITTER_NAME": "Ann",
        "GIT_COMMITTER_EMAIL": "a@b",
    }
    return subprocess.run(
        ["git", "-C", folder, *words],
        env={**os.environ, **named, **environment},
        check=True,
        capture_output=True,
        text=True,
    ).stdout


def commit(folder: Path, subject: str, at: int = 1_795_000_000) -> None:
    git(folder, "commit", "-q", "--allow-empty", "-m", subject, GIT_COMMITTER_DATE=f"{at} +0000")


@pytest.mark.requirement("GAT-06")
async def test_branch_and_recent_subjects_the_newest_first(repository: Path) -> None:
    for number in range(MAX_COMMITS + 3):
        commit(repository, f"Subject {number}\n\nand a body", 1_795_000_000 + number)
    (repository / "below").mkdir()
    top = await top_of(str(repository / "below"))
    assert top == str(repository)
    found = await repository_at(top)
    assert (found.folder, found.name, found.branch) == (str(repository), "a ré'po", "talking-piece")
    assert list(found.commits) == [f"Subject {number}" for number in range(MAX_COMMITS + 2, 2, -1)]
    assert found.newest == 1_795_000_000 + MAX_COMMITS + 2


async def test_one_without_a_commit_one_without_a_branch_and_none_at_all(repository: Path, tmp_path: Path) -> None:
    empty = await repository_at(str(repository))
    assert (empty.branch, list(empty.commits), empty.newest) == ("talking-piece", [], 0.0)
    commit(repository, "One\ttab")
    git(repository, "checkout", "-q", "--detach")
    detached = await repository_at(str(repository))
    assert (detached.branch, list(detached.commits)) == (
        git(repository, "rev-parse", "--short", "HEAD").strip(),
        ["One\ttab"],
    )
    for folder in (tmp_path, tmp_path / "gone", repository / ".git"):
        assert await top_of(str(folder)) == ""


async def test_nothing_that_a_repository_names_is_run(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    trap = tmp_path / "trap"
    trap.write_text(f"#!/bin/sh\ntouch {tmp_path}/sprung\n")
    trap.chmod(0o755)
    (repository / "file").touch()
    git(repository, "add", "file")
    commit(repository, "$(touch sprung)\x1b[31m")
    for key in ("core.fsmonitor", "core.pager", "gpg.program", "core.sshCommand", "core.editor", "diff.external"):
        git(repository, "config", key, str(trap))
    git(repository, "config", "log.showSignature", "true")
    # A signature that git would have to ask a program about.
    signed = git(repository, "cat-file", "commit", "HEAD").replace(
        "\n\n", "\ngpgsig -----BEGIN PGP SIGNATURE-----\n \n -----END PGP SIGNATURE-----\n\n", 1
    )
    made = subprocess.run(
        ["git", "-C", repository, "hash-object", "-t", "commit", "-w", "--stdin"], input=signed, text=True, check=True,
        capture_output=True,
    ).stdout.strip()  # fmt: skip
    git(repository, "update-ref", "HEAD", made)
    found = await repository_at(await top_of(str(repository)))
    assert found.commits[0].startswith("$(touch sprung)")
    assert not (tmp_path / "sprung").exists()
    # The trap is one: this is what plain git does.
    git(repository, "log", "-1")
    assert (tmp_path / "sprung").exists()


async def test_what_the_caller_s_variables_say_of_another_repository_is_not_believed(
    repository: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    commit(repository, "One")
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "nowhere"))
    monkeypatch.setenv("GIT_WORK_TREE", str(tmp_path))
    assert await top_of(str(repository)) == str(repository)
    assert list((await repository_at(str(repository))).commits) == ["One"]
