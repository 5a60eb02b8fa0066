"""The README's moving picture is drawn of a recording that lies beside it, and shows the product's own output."""

import re
from pathlib import Path

import pytest

from streamrelay.demo.scene import COMMAND, TITLE, record
from streamrelay.recordings import open_recording
from streamrelay.recordings.animation import animate
from streamrelay.recordings.svg import svg

ROOT = Path(__file__).parents[2]
CAST = ROOT / "docs" / "pictures" / "demo.cast"
PICTURE = ROOT / "docs" / "pictures" / "demo.svg"


def shown(cast: Path, *, at: int) -> str:
    """Return the text of one screen of a recording, without the blanks between its pieces."""
    return "\n".join("".join(piece.text for piece in row) for row in animate(open_recording(cast)).screens[at].rows)


@pytest.mark.requirement("OPS-13a")
def test_the_picture_is_drawn_of_the_recording() -> None:
    animation = animate(open_recording(CAST), max_pause=3.0)
    assert svg(animation, title=TITLE) == PICTURE.read_text(), "run ./scripts/moving-picture"
    assert PICTURE.stat().st_size < 400_000
    assert 15 < animation.screens[-1].t < 30


@pytest.mark.requirement("OPS-13a")
def test_the_recording_shows_a_link_from_its_command_to_its_end() -> None:
    last = shown(CAST, at=-1)
    assert "link" not in shown(CAST, at=0)
    assert f"$ {COMMAND}" in last
    assert last.count("[From Ann]") == last.count("[From Bob]") == 2
    assert re.search(r"Ann \(1\): 2 sent", last)


@pytest.mark.requirement("OPS-13a")
def test_the_readme_shows_the_picture() -> None:
    assert re.search(r"!\[[^\]]{40,}\]\(docs/pictures/demo\.svg\)", (ROOT / "README.md").read_text())


@pytest.mark.slow
@pytest.mark.requirement("OPS-13a")
def test_the_scene_can_be_recorded_again(tmp_path: Path) -> None:
    record(tmp_path / "again.cast", pace=0)
    assert f"$ {COMMAND}" in shown(tmp_path / "again.cast", at=-1)
