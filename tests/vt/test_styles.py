"""SGR, by itself; the same sequences run against tmux in test_against_tmux.py."""

import pytest

from streamrelay.vt.engine import Run
from streamrelay.vt.styles import DEFAULT, Style
from streamrelay.vt.symbols import Symbols


@pytest.mark.parametrize(
    ("parameters", "sgr"),
    [
        ([], ""),
        ([1, 31], "1;31"),
        ([31, 1, None], ""),
        ([2, 3, 5, 7, 8, 9, 53], "2;3;5;7;8;9;53"),
        ([6], "5"),
        ([4, 21], "4:2"),
        (["4:3", 31], "4:3;31"),
        (["4:9"], ""),
        (["4:3", 24], ""),
        ([1, 2, 22], ""),
        ([38, 5, 200, 1], "1;38;5;200"),
        ([31, 38, 5, 300, 1], "1"),
        ([31, 38, 5], ""),
        ([48, 2, 1, 2, 3], "48;2;1;2;3"),
        ([38, 2, 1], "1"),
        ([38, 2, 300, 1, 4], "1;4"),
        (["38:2::1:2:3"], "38;2;1;2;3"),
        (["38:2:1:2:3"], "38;2;1;2;3"),
        (["48:5:7"], "48;5;7"),
        (["58:2::1:2:3"], "58;2;1;2;3"),
        ([58, 5, 3, 59], ""),
        ([97, 107, 39], "107"),
        ([99, 1000], ""),
    ],
)
def test_sgr(parameters: list[int | str | None], sgr: str) -> None:
    assert DEFAULT.after(parameters).sgr == sgr


def test_only_the_background_stays_when_cells_are_erased() -> None:
    assert DEFAULT.after([1, 31, 44]).erased() == Style(background="44")


def test_numbers_of_styles_and_clusters_stand() -> None:
    symbols = Symbols()
    red, blue = (symbols.style(DEFAULT.after([code])) for code in (31, 34))
    assert symbols.style(DEFAULT) == 0
    assert symbols.style(DEFAULT.after([0, 31])) == red != blue
    assert symbols.cell("x") == "x"
    joined, private = symbols.cell("e\u0301"), symbols.cell("\U000f0000")
    assert symbols.cell("e\u0301") == joined != private
    assert symbols.text(f"a{joined}{private}") == "ae\u0301\U000f0000"


@pytest.mark.parametrize(
    ("style", "is_reverse"),
    [("7", True), ("1;4:3;7", True), ("7;31", True), ("", False), ("37", False), ("38;5;7", False), ("1;48;5;7", False),
     ("38;2;7;7;7", False)],
)  # fmt: skip
def test_a_run_is_in_reverse_by_its_attribute_and_not_by_a_colour(style: str, is_reverse: bool) -> None:
    assert Run(0, 1, style).is_reverse is is_reverse
