"""A primary dies, and a replica takes over: nodes follow sentinels and clusters, and nothing of a link is lost."""

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from redis.asyncio import Redis

from streamrelay.errors import RedisLost, UsageError
from streamrelay.federation.cluster_address import ClusterAddress, cluster_address
from streamrelay.federation.sentinel_address import SentinelAddress, sentinel_address
from streamrelay.federation.streams import open_streams
from streamrelay.links.link import LinkPolicy
from streamrelay.service.api import SendMessage
from streamrelay.testing.redis import PrivateRedis
from streamrelay.testing.tmux import PrivateTmux
from streamrelay.testing.waiting import wait_until_async
from tests.federation.clusters import Cluster, cluster
from tests.federation.conftest import NODES, Machine, until_connected, until_link
from tests.federation.sentinels import GuardedRedis, guarded_redis
from tests.service.conftest import PATIENCE


@pytest.fixture
def guarded(private_redis: PrivateRedis, tmp_path: Path) -> Iterator[GuardedRedis]:
    with guarded_redis(private_redis.binary, tmp_path) as servers:
        yield servers


@pytest.fixture
def servers(private_redis: PrivateRedis) -> Iterator[Cluster]:
    with cluster(private_redis.binary) as servers:
        yield servers


@pytest.mark.requirement("NET-01")
@pytest.mark.parametrize(
    ("url", "address"),
    [
        (
            "redis+sentinel://one,two:5/relay",
            SentinelAddress((("one", 26_379), ("two", 5)), "relay", {"db": 0}, {}),
        ),
        (
            "rediss+sentinel://Ann:p%40ss@[::1]:7/relay/3?ssl_ca_certs=/ca.pem&sentinel_password=secret",
            SentinelAddress(
                (("::1", 7),),
                "relay",
                {"db": 3, "username": "Ann", "password": "p@ss", "ssl": True, "ssl_ca_certs": "/ca.pem"},
                {"ssl": True, "ssl_ca_certs": "/ca.pem", "password": "secret"},
            ),
        ),
        ("redis://one:6379/0", None),
        ("unix:///run/redis.sock?db=0", None),
    ],
)
def test_an_address_of_sentinels_is_read(url: str, address: SentinelAddress | None) -> None:
    assert sentinel_address(url) == address


@pytest.mark.requirement("NET-01")
@pytest.mark.parametrize(
    "rest", ["", "one", "one/", "/relay", "one/relay/x", "one,/relay", "one:x/relay", "one/relay?decode=yes"]
)
async def test_an_address_that_names_no_sentinel_or_service_is_an_error(rest: str) -> None:
    with pytest.raises(UsageError, match=r"federation\.redis_url"):
        async with open_streams(f"redis+sentinel://{rest}", "alpha", namespace="test"):
            pass


@pytest.mark.requirement("NET-01")
async def test_sentinels_that_are_away_are_a_lost_server() -> None:
    with pytest.raises(RedisLost):
        async with open_streams("redis+sentinel://127.0.0.1:1/relay", "alpha", namespace="test"):
            pass


@pytest.mark.requirement("NET-01", "NET-03")
async def test_streams_open_on_the_server_that_has_taken_over(guarded: GuardedRedis) -> None:
    async with open_streams(guarded.url, "beta", namespace="test") as beta:
        await beta.send("beta", [{b"number": b"1"}])
        assert [entry.fields for entry in await beta.read()] == [{b"number": b"1"}]
        guarded.primary.kill()
        with pytest.raises(RedisLost):
            await beta.read()

    async def taken_over() -> bool:
        with contextlib.suppress(RedisLost):
            async with open_streams(guarded.url, "beta", namespace="test") as beta:
                await beta.send("beta", [{b"number": b"2"}])
                return [entry.fields for entry in await beta.read()] == [{b"number": b"2"}]
        return False

    await wait_until_async(taken_over, PATIENCE, "the replica to take over")


@pytest.mark.slow
@pytest.mark.requirement("NET-01", "NET-03")
@pytest.mark.timeout(180)
async def test_a_link_goes_on_when_a_replica_takes_over(
    guarded: GuardedRedis, private_tmux: PrivateTmux, tmp_path: Path
) -> None:
    await _link_goes_on(guarded.url, guarded.primary.kill, private_tmux, tmp_path)


@pytest.mark.slow
@pytest.mark.requirement("NET-01", "NET-03")
@pytest.mark.timeout(180)
async def test_a_link_goes_on_when_the_master_of_its_slot_dies(
    servers: Cluster, private_tmux: PrivateTmux, tmp_path: Path
) -> None:
    def kill_master() -> None:
        servers.servers[servers.master_of("{streamrelay}:inbox:alpha")].kill()

    await _link_goes_on(servers.url, kill_master, private_tmux, tmp_path, namespace="{streamrelay}")


async def _link_goes_on(
    url: str, fail: Callable[[], None], private_tmux: PrivateTmux, tmp_path: Path, **said: str
) -> None:
    """Let two agents talk over a link, with a failure in the middle; each has to hear all, once and in order."""
    with PrivateTmux() as other_tmux:
        made = []
        for node, tmux in zip(NODES, (private_tmux, other_tmux), strict=True):
            (tmp_path / node).mkdir()
            tmux.new_session("keeper", ["sleep", "1000"])
            made.append(Machine(node, tmux, tmp_path / node, url))
        one, two = made
        one.start("Ann"), two.start("Bob")
        async with one.as_node(**said) as alpha, two.as_node(**said) as beta:
            await until_connected(alpha)
            await until_connected(beta)
            link = await alpha.create_link("Ann", "Bob@beta", LinkPolicy(budget=30, hops=0, acknowledgements=0))
            await until_link(beta, link.link_id)
            await beta.send_message(SendMessage(to="Bob", text="begin", message_id="m0"))

            async def half() -> bool:
                return any(each.deliveries >= 10 for each in await alpha.links())

            await wait_until_async(half, PATIENCE, "ten deliveries")
            fail()
            assert (await until_link(alpha, link.link_id, "spent")).deliveries == 30
            for machine, name, other in ((one, "Ann", "Bob@beta"), (two, "Bob", "Ann@alpha")):
                expected = [f"[From {other}] answer {number}" for number in range(1, 16)]

                async def heard_all(
                    machine: Machine = machine, name: str = name, expected: list[str] = expected
                ) -> bool:
                    return [text for text in machine.heard(name) if text.startswith("[From ")] == expected

                await wait_until_async(heard_all, PATIENCE, f"{name} to hear all, once and in order")
            await until_connected(alpha)


@pytest.mark.requirement("NET-01")
@pytest.mark.parametrize(
    ("url", "address"),
    [
        ("redis+cluster://one,two:5", ClusterAddress((("one", 6_379), ("two", 5)), {})),
        (
            "rediss+cluster://Ann:p%40ss@[::1]:7/0?ssl_ca_certs=/ca.pem",
            ClusterAddress(
                (("::1", 7),), {"username": "Ann", "password": "p@ss", "ssl": True, "ssl_ca_certs": "/ca.pem"}
            ),
        ),
        ("redis://one:6379/0", None),
    ],
)
def test_an_address_of_a_cluster_is_read(url: str, address: ClusterAddress | None) -> None:
    assert cluster_address(url) == address


@pytest.mark.requirement("NET-01")
@pytest.mark.parametrize("rest", ["", "one/1", "one,", "one:x", "one?decode=yes"])
async def test_an_address_that_names_no_cluster_is_an_error(rest: str) -> None:
    with pytest.raises(UsageError, match=r"federation\.redis_url"):
        async with open_streams(f"redis+cluster://{rest}", "alpha", namespace="{test}"):
            pass


@pytest.mark.requirement("NET-01")
async def test_keys_in_several_slots_of_a_cluster_are_an_error() -> None:
    with pytest.raises(UsageError, match=r"federation\.namespace"):
        async with open_streams("redis+cluster://127.0.0.1:1", "alpha", namespace="test"):
            pass


@pytest.mark.requirement("NET-01")
async def test_a_cluster_of_which_no_node_answers_is_a_lost_server() -> None:
    with pytest.raises(RedisLost):
        async with open_streams("redis+cluster://127.0.0.1:1,127.0.0.1:2", "alpha", namespace="{test}"):
            pass


@pytest.mark.slow
@pytest.mark.requirement("NET-01", "NET-03")
@pytest.mark.timeout(120)
async def test_streams_open_on_the_master_of_their_slot_whichever_node_is_asked(servers: Cluster) -> None:
    for port in servers.ports:
        for namespace in ("{one}", "{two}", "{three}"):
            async with open_streams(f"redis+cluster://127.0.0.1:{port}", "beta", namespace=namespace) as beta:
                await beta.send("beta", [{b"asked": b"%d" % port}])
                assert [entry.fields for entry in await beta.read()] == [{b"asked": b"%d" % port}]
                assert await beta.present(["alpha", "gamma"]) == set()
    # Without a hash tag the keys of one node are on several masters.
    assert len({servers.master_of(f"test:{kind}:beta") for kind in ("inbox", "dead", "node")}) > 1


@pytest.mark.slow
@pytest.mark.requirement("NET-01", "NET-03")
@pytest.mark.timeout(120)
async def test_streams_follow_the_failover_of_a_master_with_what_it_had(servers: Cluster) -> None:
    async with open_streams(servers.url, "beta", namespace="{test}") as beta:
        await beta.send("beta", [{b"number": b"1"}])
        assert [entry.fields for entry in await beta.read()] == [{b"number": b"1"}]
        before = servers.master_of("{test}:inbox:beta")
        # Replication is asynchronous: a master that dies early takes with it what it acknowledged.
        await wait_until_async(lambda: servers.is_replicated(before), PATIENCE, "the replica to have all")
        servers.servers[before].kill()
        with pytest.raises(RedisLost):
            await beta.read()

    async def taken_over() -> bool:
        with contextlib.suppress(RedisLost):
            async with open_streams(servers.url, "beta", namespace="{test}") as beta:
                kept = [entry async for entries in beta.unfinished() for entry in entries]
                return [entry.fields for entry in kept] == [{b"number": b"1"}]
        return False

    await wait_until_async(taken_over, PATIENCE, "the replica to take over")

    async def known() -> bool:
        return servers.master_of("{test}:inbox:beta") not in {0, before}

    await wait_until_async(known, PATIENCE, "the others to know of it")
    # The old master comes back as a replica, and sends nodes on.
    servers.servers[before].start()

    async def sent_on() -> bool:
        with contextlib.suppress(RedisLost):
            async with open_streams(f"redis+cluster://127.0.0.1:{before}", "beta", namespace="{test}") as beta:
                return bool([entry async for entries in beta.unfinished() for entry in entries])
        return False

    await wait_until_async(sent_on, PATIENCE, "the old master to send nodes on")


@pytest.mark.requirement("NET-01")
async def test_a_node_of_a_cluster_serves_keys_of_one_slot(private_redis: PrivateRedis) -> None:
    with PrivateRedis(private_redis.binary, "--cluster-enabled", "yes") as server:
        async with Redis.from_url(server.url) as client:
            for slot in range(0, 16_384, 1_024):
                await client.execute_command("CLUSTER", "ADDSLOTS", *range(slot, slot + 1_024))

            async def is_whole() -> bool:
                return b"cluster_state:ok" in await client.execute_command("CLUSTER", "INFO")

            await wait_until_async(is_whole, PATIENCE, "the cluster to have all slots")
        async with (
            open_streams(server.url, "alpha", namespace="{test}") as alpha,
            open_streams(server.url, "beta", namespace="{test}") as beta,
        ):
            assert await alpha.be_there("service")
            assert await beta.present(["alpha", "gamma"]) == {"alpha"}
            await alpha.send("beta", [{b"number": b"1"}, {b"number": b"2"}])
            read = await beta.read()
            assert [entry.fields[b"number"] for entry in read] == [b"1", b"2"]
            await beta.exchange([entry.entry_id for entry in read], [("alpha", {b"number": b"3"})])
            assert [entry.fields[b"number"] for entry in await alpha.read()] == [b"3"]
            await beta.leave("service")
        async with open_streams(server.url, "alpha", namespace="test") as alpha:
            with pytest.raises(RedisLost, match="hash to the same slot"):
                await alpha.present(["beta", "gamma"])
