"""Links between real daemons lose, double, reorder and misattribute nothing, whatever fails between or of them."""

from pathlib import Path

import pytest

from tests.federation.real_links import links_survive


@pytest.mark.requirement("NET-03", "NET-07")
@pytest.mark.spread
@pytest.mark.timeout(600)
@pytest.mark.sampled(3)
@pytest.mark.parametrize("seed", range(50))
async def test_links_of_two_daemons_survive_a_schedule_of_faults(tmp_path: Path, seed: int) -> None:
    verdict, faults = await links_survive(tmp_path, seed, messages=10, faults=2, pairs=1)
    assert not verdict.findings, (faults, verdict.findings[:3])
    assert (verdict.said, verdict.heard) == (20, 20)


@pytest.mark.slow
@pytest.mark.requirement("NET-03", "NET-07")
@pytest.mark.timeout(1200)
@pytest.mark.parametrize("nodes", [3, 5])
async def test_links_among_several_daemons_survive_a_schedule_of_faults(tmp_path: Path, nodes: int) -> None:
    pairs = nodes * (nodes - 1) // 2
    verdict, faults = await links_survive(tmp_path, nodes, messages=20 * pairs, faults=10, pairs=pairs, nodes=nodes)
    assert not verdict.findings, (faults, verdict.findings[:3])
    assert (verdict.said, verdict.heard) == (40 * pairs, 40 * pairs)


@pytest.mark.slow
@pytest.mark.requirement("NET-03", "NET-07")
@pytest.mark.timeout(7200)
async def test_links_of_two_daemons_survive_a_hundred_faults(tmp_path: Path) -> None:
    verdict, faults = await links_survive(tmp_path, 7, messages=1_000, faults=100, pairs=6)
    assert not verdict.findings, (faults, verdict.findings[:3])
    assert verdict.heard == verdict.said >= 2_000
    print(verdict, faults)
