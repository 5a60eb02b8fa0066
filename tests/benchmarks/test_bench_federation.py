"""The benchmark of what carries messages between machines counts what it says; the figures are not judged here."""

import pytest

from benchmarks import federation
from streamrelay.testing.redis import PrivateRedis


@pytest.mark.requirement("BEN-07")
async def test_both_runs_of_a_pair_carry_all_messages(
    private_redis: PrivateRedis, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(federation, "PINGS", 2)
    for measure in (federation.measure_bare, federation.measure_federation):
        figures = await measure(private_redis.url, 2, 100, 60)
        assert figures.per_second > 0
        assert figures.latency > 0
