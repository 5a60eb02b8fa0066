"""The plugin that spreads long tests over a run."""

from pathlib import Path

import pytest

pytest_plugins = ["pytester"]

ROOT = Path(__file__).resolve().parents[2]
TESTS = """
    import pytest

    @pytest.mark.parametrize("number", range(4))
    def test_short(number):
        pass

    @pytest.mark.spread
    @pytest.mark.parametrize("number", range({marked}))
    def test_long(number):
        pass

    @pytest.mark.parametrize("number", range(4, 8))
    def test_after(number):
        pass
"""


@pytest.mark.parametrize(
    ("marked", "order"),
    [
        (1, "l0 s0 s1 s2 s3 a4 a5 a6 a7"),
        (3, "l0 s0 s1 l1 s2 s3 a4 l2 a5 a6 a7"),
        (10, "l0 l1 s0 l2 s1 l3 s2 l4 s3 l5 l6 a4 l7 a5 l8 a6 l9 a7"),
    ],
)
def test_marked_tests_are_at_equal_distances(
    pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch, marked: int, order: str
) -> None:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    pytester.makepyfile(TESTS.format(marked=marked))
    options = ("-p", "tests.spreading", "-p", "no:cacheprovider", "-p", "no:asyncio")
    result = pytester.runpytest_inprocess(*options, "-q", "--collect-only")
    names = [line.partition("::test_")[2] for line in result.outlines if "::test_" in line]
    assert [name[0] + name.partition("[")[2].rstrip("]") for name in names] == order.split()
