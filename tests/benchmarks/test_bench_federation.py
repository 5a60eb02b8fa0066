"""The benchmark of what carries messages between machines counts what it says; the figures are not judged here."""

import pytest

from benchmarks import federation
from streamrelay.testing.redis import PrivateRedis


@pytest.mark.requirement("BEN-07")
async def test_both_ways_of_a_pair_carry_all_messages_of_each_run(private_redis: PrivateRedis) -> None:
    for opened in (federation.bare_way, federation.our_way):
        async with opened(private_redis.url, 2, 100) as way:
            for _ in range(2):
                assert await way.ping() > 0
                assert await way.carry(60) > 0
