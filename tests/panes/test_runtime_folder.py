"""The runtime folder is the user's own, and closed to others, or it is not used."""

import os
import stat
import tempfile
from pathlib import Path

import pytest

from streamrelay.errors import StreamrelayError
from streamrelay.panes.runtime_folder import make_runtime_folder


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where the folder is on a machine without XDG_RUNTIME_DIR: in a folder that every user may write."""
    monkeypatch.delenv("XDG_RUNTIME_DIR", raising=False)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    tmp_path.chmod(0o1777)
    return tmp_path / f"streamrelay-{os.getuid()}"


def test_it_is_made_for_the_user_alone_and_closed_if_it_is_open(place: Path) -> None:
    assert make_runtime_folder() == place
    assert stat.S_IMODE(place.stat().st_mode) == 0o700
    place.chmod(0o777)
    assert make_runtime_folder() == place
    assert stat.S_IMODE(place.stat().st_mode) == 0o700


def test_a_folder_of_another_user_is_not_used(place: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    place.with_name(f"streamrelay-{os.getuid() + 1}").mkdir()
    monkeypatch.setattr(os, "getuid", lambda: os.geteuid() + 1)
    with pytest.raises(StreamrelayError, match="belongs to another user"):
        make_runtime_folder()


@pytest.mark.skipif(os.getuid() != 0, reason="only root can make a link of another user")
def test_a_link_that_another_user_put_there_is_not_followed(place: Path) -> None:
    (place.parent / "home").mkdir(mode=0o755)
    place.symlink_to(place.parent / "home")
    os.lchown(place, 4711, 4711)
    with pytest.raises(StreamrelayError, match="belongs to another user"):
        make_runtime_folder()
    assert stat.S_IMODE((place.parent / "home").stat().st_mode) == 0o755
