"""The plugin that runs a sample of large parameter families."""

from pathlib import Path

import pytest

pytest_plugins = ["pytester"]

ROOT = Path(__file__).resolve().parents[2]
PLUGINS = ("-p", "tests.sampling", "-p", "no:cacheprovider", "-p", "no:asyncio")

FAMILY = """
    import pytest

    @pytest.mark.sampled(3)
    @pytest.mark.parametrize("number", range(20))
    def test_sampled(number):
        print(f"<{number}>")

    @pytest.mark.parametrize("number", range(5))
    def test_whole(number):
        pass
"""


@pytest.fixture
def family(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> pytest.Pytester:
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    pytester.makepyfile(FAMILY)
    return pytester


def run(family: pytest.Pytester, *arguments: str) -> pytest.RunResult:
    return family.runpytest_inprocess(*PLUGINS, "-rA", "-q", *arguments)


def chosen(result: pytest.RunResult) -> list[str]:
    return [line for line in result.outlines if line.startswith("<")]


def test_a_family_is_sampled_and_the_rest_runs_whole(family: pytest.Pytester) -> None:
    result = run(family)
    result.assert_outcomes(passed=8, deselected=17)


def test_a_seed_chooses_the_same_again_and_another_one_others(family: pytest.Pytester) -> None:
    first = chosen(run(family, "--sample-seed", "1"))
    assert len(first) == 3
    assert chosen(run(family, "--sample-seed", "1")) == first
    assert any(chosen(run(family, "--sample-seed", str(seed))) != first for seed in (2, 3))


def test_whole_runs_all(family: pytest.Pytester) -> None:
    result = run(family, "--whole")
    result.assert_outcomes(passed=25)


def test_what_is_deselected_otherwise_is_not_sampled(family: pytest.Pytester) -> None:
    result = run(family, "-k", "sampled and (1 or 2)")
    assert len(chosen(result)) == 3


def test_the_header_says_how_to_repeat_the_run(family: pytest.Pytester) -> None:
    result = family.runpytest_inprocess(*PLUGINS, "--sample-seed", "77")
    result.stdout.fnmatch_lines(["*--sample-seed 77*"])


def test_workers_choose_the_same_sample(family: pytest.Pytester) -> None:
    result = family.runpytest_subprocess(*PLUGINS, "-n", "2", "-q")
    result.assert_outcomes(passed=8)
