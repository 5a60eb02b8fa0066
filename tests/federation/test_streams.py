"""What nodes leave in Redis and take from it: inboxes, their trimming, what is put aside, who is there."""

import asyncio
import contextlib
import shutil
import socket
import subprocess
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import cast

import pytest
from redis.asyncio import Redis

from streamrelay.errors import RedisLost, UsageError
from streamrelay.federation.keys import VERSION, KeyPair
from streamrelay.federation.messages import Deliver, Message
from streamrelay.federation.streams import BATCH, GROUP, PORTION, TTL, StreamEntry, Streams, open_streams, portions
from streamrelay.service.api import SendMessage
from streamrelay.testing.redis import PrivateRedis
from streamrelay.testing.waiting import wait_until_async
from tests.federation.conftest import Machines, until_connected, until_link
from tests.service.conftest import PATIENCE


@asynccontextmanager
async def raw(redis: PrivateRedis) -> AsyncIterator[Redis]:
    async with Redis.from_url(redis.url) as client:
        yield client


@asynccontextmanager
async def node(redis: PrivateRedis, name: str) -> AsyncIterator[Streams]:
    async with open_streams(redis.url, name, namespace="test") as streams:
        yield streams


async def unfinished(streams: Streams, count: int = BATCH) -> list[StreamEntry]:
    found = [entries async for entries in streams.unfinished(count)]
    assert all(len(entries) <= count for entries in found)
    return [entry for entries in found for entry in entries]


@pytest.mark.requirement("NET-01")
async def test_what_was_read_and_not_acknowledged_is_claimed_by_whoever_comes_next(private_redis: PrivateRedis) -> None:
    entries = [{b"envelope": str(number).encode()} for number in range(150)]
    async with node(private_redis, "alpha") as alpha:
        await alpha.send("beta", entries)
    async with node(private_redis, "beta") as beta:
        first = await beta.read()
        await beta.acknowledge([entry.entry_id for entry in first[:10]])
        rest = await beta.read()
    private_redis.kill()
    private_redis.start()
    async with node(private_redis, "beta") as beta:
        again = await unfinished(beta)
        assert await unfinished(beta, 7) == again
        assert [entry.fields for entry in first[:10] + again] == entries[: len(first) + len(rest)]
        assert [entry.fields for entry in await beta.read()] == entries[len(first) + len(rest) :]


@pytest.mark.requirement("NET-01")
async def test_an_inbox_holds_no_more_than_what_is_not_acknowledged(private_redis: PrivateRedis) -> None:
    async with node(private_redis, "alpha") as alpha, node(private_redis, "beta") as beta, raw(private_redis) as redis:
        await alpha.send("beta", [{b"envelope": b"x"}] * 20)
        entries = await beta.read()
        await beta.acknowledge([entry.entry_id for entry in entries[:15]])
        left = await redis.xrange("test:inbox:beta")
        assert [entry_id for entry_id, _ in left] == [entry.entry_id for entry in entries[14:]]
        (group,) = await redis.xinfo_groups("test:inbox:beta")
        assert (group["name"], group["pending"], group["consumers"]) == (GROUP, 5, 1)


@pytest.mark.requirement("NET-04a")
async def test_a_node_is_there_for_as_long_as_it_says_so(private_redis: PrivateRedis) -> None:
    async with node(private_redis, "alpha") as alpha, node(private_redis, "beta") as beta, raw(private_redis) as redis:
        assert await alpha.present(["alpha", "beta"]) == set()
        assert await beta.be_there("service 1")
        assert await alpha.present(["alpha", "beta"]) == {"beta"}
        assert 0 < await redis.pttl("test:node:beta") <= TTL * 1000
        assert not await beta.be_there("service 2")
        assert await beta.be_there("service 1")
        await redis.pexpire("test:node:beta", 1)

        async def away() -> bool:
            return not await alpha.present(["beta"])

        await wait_until_async(away, PATIENCE, "beta to be away")
        assert await beta.be_there("service 2")
        await beta.leave("service 1")
        assert await alpha.present(["beta"]) == {"beta"}
        await beta.leave("service 2")
        assert await alpha.present(["beta"]) == set()


async def test_so_many_dead_letters_are_kept_and_no_more(
    private_redis: PrivateRedis, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("streamrelay.federation.streams.MAX_DEAD_LETTERS", 3)
    async with node(private_redis, "beta") as beta, raw(private_redis) as redis:
        for number in range(5):
            await beta.bury(StreamEntry(b"7-%d" % number, {b"envelope": b"x"}), "it is old")
        dead = [fields for _, fields in await redis.xrange("test:dead:beta")]
    assert dead == [{b"envelope": b"x", b"why": b"it is old", b"entry": b"7-%d" % number} for number in (2, 3, 4)]


async def test_a_server_that_is_not_there_is_lost_and_a_url_that_is_none_is_refused(
    private_redis: PrivateRedis,
) -> None:
    with pytest.raises(UsageError, match="redis_url"):
        async with open_streams("http://localhost", "alpha", namespace="test"):
            pass
    async with node(private_redis, "alpha") as alpha:
        private_redis.kill()
        with pytest.raises(RedisLost):
            await alpha.present(["beta"])
    with pytest.raises(RedisLost):
        async with node(private_redis, "alpha"):
            pass


@pytest.mark.parametrize("fails", [True, False])
async def test_who_was_cancelled_while_redis_answered_is_so_whatever_it_answered(fails: bool) -> None:
    class Forgetful:
        async def mget(self, keys: list[str]) -> list[None]:
            task = asyncio.current_task()
            assert task is not None
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.sleep(0)
            if fails:
                raise ConnectionError("it is gone")
            return [None for _ in keys]

    asking = asyncio.ensure_future(Streams(cast("Redis", Forgetful()), "alpha", "test").present(["beta"]))
    with pytest.raises(asyncio.CancelledError):
        await asking


@pytest.mark.requirement("NET-04c")
async def test_a_node_needs_no_more_rights_than_the_document_says(private_redis: PrivateRedis) -> None:
    rules = ["on", ">secret", "~test:*", "+@connection", "+@stream", "+eval", "+get", "+set", "+mget", "+del"]
    async with raw(private_redis) as redis:
        await redis.execute_command("ACL", "SETUSER", "relay", *rules)
        await redis.execute_command("ACL", "SETUSER", "default", "off")
        url = f"unix://relay:secret@{private_redis.socket_path}"
        async with open_streams(url, "alpha", namespace="test") as alpha:
            assert await alpha.be_there("service")
            await alpha.send("alpha", [{b"envelope": b"x"}])
            (entry,) = await alpha.read()
            await alpha.bury(entry, "why")
            await alpha.acknowledge([entry.entry_id])
            assert await unfinished(alpha) == []
            assert await alpha.present(["alpha"]) == {"alpha"}
            await alpha.leave("service")
            assert await alpha.present(["alpha"]) == set()
    with pytest.raises(RedisLost):
        async with open_streams(private_redis.url, "alpha", namespace="test"):
            pass


@pytest.mark.requirement("NET-01")
async def test_what_cannot_be_used_is_put_aside_and_nothing_waits_for_it(machines: Machines) -> None:
    machines.beta.start("Bob")
    async with machines.services() as (alpha, beta), raw(machines.redis) as redis:
        for fields in ({"x": "y"}, {"envelope": "{}", "signature": "0"}, {"v": VERSION, "sealed": "x" * 10_000_000}):
            await redis.xadd("streamrelay:inbox:beta", fields)
        await alpha.send_message(SendMessage(to="Bob@beta", text="hello"))
        await machines.beta.until_heard("Bob", "hello")
        dead = [fields[b"why"] for _, fields in await redis.xrange("streamrelay:dead:beta")]
        assert dead == [
            b"malformed: it is no envelope",
            b"unknown_version: it is of version 1; this node speaks version 5",
            b"too_large: it is longer than 8,388,608 bytes",
        ]
        assert any("refused (too_large)" in problem for problem in (await beta.status()).problems)

        async def trimmed() -> bool:
            return (
                await redis.xlen("streamrelay:inbox:beta") <= 1
                and not (await redis.xpending("streamrelay:inbox:beta", GROUP))["pending"]
            )

        await wait_until_async(trimmed, PATIENCE, "the inbox to be trimmed")


async def test_no_envelope_of_a_peer_ends_a_node(machines: Machines) -> None:
    machines.beta.start("Bob")
    hostile = [
        Message(message_id="x y", name="Bob", text="no"),
        Message(message_id="x" * 125, name="Bob", text="no"),
        Message(message_id="m1", name="", text="no"),
        Message(message_id="m2", name="a\0b\n", text="no"),
        Deliver(link="", message_id="m3", panes=(), text="no"),
        Deliver(link="", message_id="x y", panes=(machines.beta.panes["Bob"],), text="no"),
    ]
    async with machines.services() as (alpha, beta):
        federation = alpha._core.federation
        assert federation is not None
        await alpha._core.do(lambda _: [federation.node.post("beta", body) for body in hostile][:0])
        await alpha.send_message(SendMessage(to="Bob@beta", text="hello"))
        await machines.beta.until_heard("Bob", "hello")
        assert not beta.broken.done()
    async with machines.services():
        pass
    assert machines.beta.heard("Bob") == ["hello"]


@pytest.mark.requirement("NET-04b")
async def test_whoever_has_another_key_is_not_heard(machines: Machines) -> None:
    machines.beta.start("Bob")
    machines.alpha.key_file.write_text(KeyPair.generate().private_text)
    async with machines.services() as (alpha, beta):
        result = await alpha.send_message(SendMessage(to="Bob@beta", text="hello"))
        assert "does not answer" in result.warning

        async def refused() -> bool:
            return any("refused (unknown_key)" in problem for problem in (await beta.status()).problems)

        await wait_until_async(refused, PATIENCE, "it to be refused")
    assert machines.beta.heard("Bob") == []


async def test_another_service_of_the_same_name_waits_and_says_so(machines: Machines) -> None:
    async with machines.alpha.as_node() as alpha:
        await until_connected(alpha)
        async with machines.beta.as_node(node="alpha", peers=("beta",)) as other:

            async def told() -> bool:
                return any("another service is node alpha" in problem for problem in (await other.status()).problems)

            await wait_until_async(told, PATIENCE, "it to be said")


async def test_both_sides_make_a_link_at_once_and_one_stays(machines: Machines) -> None:
    machines.alpha.start("Ann"), machines.beta.start("Bob")
    async with machines.services() as (alpha, beta):
        await asyncio.gather(alpha.create_link("Ann", "Bob@beta"), beta.create_link("Bob", "Ann@alpha"))

        async def settled() -> bool:
            ours, theirs = await alpha.links(), await beta.links()
            return len(ours) == 1 and [link.link_id for link in ours] == [link.link_id for link in theirs]

        await wait_until_async(settled, PATIENCE, "one link")
        await until_link(beta, (await alpha.links())[0].link_id)
        await beta.send_message(SendMessage(to="Bob", text="begin"))
        await machines.alpha.until_heard("Ann", "[From Bob@beta] answer 2")
    assert machines.alpha.heard("Ann").count("[From Bob@beta] answer 1") == 1


@pytest.mark.requirement("NET-04c")
@pytest.mark.usefixtures("private_redis")
async def test_nodes_speak_over_tls_with_whom_they_trust_alone(tmp_path: Path) -> None:
    if shutil.which("openssl") is None:
        pytest.skip("there is no openssl here to make a certificate")
    certificate, key = tmp_path / "redis.pem", tmp_path / "redis.key"
    words = f"req -x509 -newkey rsa:2048 -nodes -days 2 -subj /CN=localhost -out {certificate} -keyout {key}"
    words += " -addext subjectAltName=DNS:localhost,IP:127.0.0.1"
    subprocess.run(["openssl", *words.split()], check=True, capture_output=True)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    options = f"--tls-port {port} --tls-cert-file {certificate} --tls-key-file {key} --tls-auth-clients no"
    with contextlib.ExitStack() as stack:
        try:
            stack.enter_context(PrivateRedis(None, *options.split()))
        except UsageError as error:
            if "Failed finding TLS support" not in str(error):
                raise
            pytest.skip("this server was built without TLS")
        url = f"rediss://127.0.0.1:{port}/0"
        async with open_streams(f"{url}?ssl_ca_certs={certificate}", "alpha", namespace="test") as alpha:
            await alpha.send("alpha", [{b"envelope": b"x"}])
            assert [entry.fields for entry in await alpha.read()] == [{b"envelope": b"x"}]
        with pytest.raises(RedisLost, match="certificate"):
            async with open_streams(url, "alpha", namespace="test"):
                pass


@pytest.mark.requirement("NET-05")
async def test_what_is_sent_at_once_is_bounded_and_comes_in_order(private_redis: PrivateRedis) -> None:
    sizes = [PORTION // 2, PORTION // 2 - 100, 3, 3 * PORTION, 5, PORTION]
    entries = [{b"body": bytes([65 + number]) * size} for number, size in enumerate(sizes)]
    addressed = [("beta", entry) for entry in entries]
    assert [[len(entry[b"body"]) for _, entry in portion] for portion in portions(addressed)] == [
        sizes[:3], sizes[3:4], sizes[4:5], sizes[5:],
    ]  # fmt: skip
    assert list(portions([])) == []
    async with node(private_redis, "alpha") as alpha, node(private_redis, "beta") as beta:
        await alpha.send("beta", entries)
        assert [entry.fields for entry in await beta.read()] == entries
