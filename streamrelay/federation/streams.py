"""Redis Streams as nodes use them: an inbox each, read by one consumer of one group. Thin: bytes in, bytes out.

    {namespace}:inbox:{node}    what others send it; trimmed behind what it has acknowledged
    {namespace}:dead:{node}     what it could not use, and why; the last `MAX_DEAD_LETTERS` of those
    {namespace}:node:{node}     there while it is, and of which service it is the name; expires

redis-py is imported only when a stream is opened.
"""

import asyncio
import contextlib
import re
from collections.abc import AsyncGenerator, AsyncIterator, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from streamrelay.errors import RedisLost, UsageError
from streamrelay.federation.cluster_address import ClusterAddress, cluster_address
from streamrelay.federation.sentinel_address import sentinel_address
from streamrelay.installation import needs_extra

if TYPE_CHECKING:
    from redis.asyncio import Redis

GROUP = b"streamrelay"
BATCH = 64
"""Entries that are asked for at once; redis-py has the whole of an answer within the time for one."""
PORTION = 5 << 18
"""Bytes that are sent at once, about: four of the fullest entries. They have the time for one answer too."""
MAX_DEAD_LETTERS = 1_000
MAX_DEAD_FIELD = 4_096
"""Bytes that a dead letter keeps of each field."""
_HASH_TAG = re.compile(r"\{[^}]+\}")
MAX_REDIRECTIONS = 3
"""How often a cluster may send a node on to another one."""
READ_SECONDS = 2.0
"""How long one read waits."""
ANSWER_SECONDS = 5.0
"""How long an answer of the server may take; after that the server counts as away."""
TTL = 15.0
"""Seconds after which a node that says nothing more counts as away."""
_OURS = """
local value = redis.call('GET', KEYS[1])
if value and value ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1
"""
_NOT_OURS_ANY_MORE = """
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('DEL', KEYS[1])
"""


class StreamEntry(NamedTuple):
    """One entry of the inbox."""

    entry_id: bytes
    fields: dict[bytes, bytes]


def portions(
    entries: Iterable[tuple[str, Mapping[bytes, bytes]]],
) -> Iterator[list[tuple[str, Mapping[bytes, bytes]]]]:
    """Divide entries with their addressees, in order, into lists of about `PORTION` bytes; a larger one is alone."""
    portion: list[tuple[str, Mapping[bytes, bytes]]] = []
    size = 0
    for node, fields in entries:
        more = sum(len(name) + len(value) for name, value in fields.items())
        if portion and size + more > PORTION:
            yield portion
            portion, size = [], 0
        portion.append((node, fields))
        size += more
    if portion:
        yield portion


class Streams:
    """The streams of a node, while they are open. All calls raise RedisLost where the server does not do them."""

    def __init__(self, redis: "Redis", node: str, namespace: str) -> None:
        self._redis: Any = redis  # its types leave open what is awaited
        self._node = node
        self._namespace = namespace
        self._inbox = self._key("inbox", node)

    def _key(self, kind: str, node: str) -> str:
        return f"{self._namespace}:{kind}:{node}"

    async def begin(self) -> None:
        """Make the inbox, if there is none."""
        from redis.exceptions import ResponseError

        with _asking():
            try:
                await self._redis.xgroup_create(self._inbox, GROUP, id="0", mkstream=True)
            except ResponseError as error:
                if "BUSYGROUP" not in str(error):
                    raise

    async def unfinished(self, count: int = BATCH) -> AsyncGenerator[list[StreamEntry], None]:
        """Return what was read before and not acknowledged, by whatever consumer, oldest first, so many at a time."""
        start: bytes = b"0-0"
        while True:
            with _asking():
                start, entries, *_ = await self._redis.xautoclaim(
                    self._inbox, GROUP, self._node, min_idle_time=0, start_id=start, count=count
                )
            yield [StreamEntry(entry_id, fields or {}) for entry_id, fields in entries]
            if start == b"0-0":
                return

    async def read(self, count: int = BATCH) -> list[StreamEntry]:
        """Return what came since, so many at most, waiting some time for it."""
        with _asking():
            answer = await self._redis.xreadgroup(
                GROUP, self._node, {self._inbox: ">"}, count=count, block=int(READ_SECONDS * 1000)
            )
        if not answer:
            return []
        entries = answer[self._inbox.encode()][0] if isinstance(answer, dict) else answer[0][1]
        return [StreamEntry(entry_id, fields or {}) for entry_id, fields in entries]

    async def send(self, node: str, entries: Iterable[Mapping[bytes, bytes]]) -> None:
        """Put something into the inbox of a node, in order."""
        await self.exchange((), ((node, fields) for fields in entries))

    async def acknowledge(self, entry_ids: Sequence[bytes]) -> None:
        """Be done with entries, and let go of what lies behind the last of them.

        Entries are read in order, by one consumer, and acknowledged in order: none of those before is still needed.
        """
        await self.exchange(entry_ids, ())

    async def exchange(self, entry_ids: Sequence[bytes], entries: Iterable[tuple[str, Mapping[bytes, bytes]]]) -> None:
        """Acknowledge entries of the inbox, and put others into the inboxes of nodes, in as few requests as possible.

        Redis syncs its file once a request (`appendfsync always`), not once a command.
        """
        remaining = portions(entries)
        portion = next(remaining, [])
        while entry_ids or portion:
            with _asking():
                async with self._redis.pipeline(transaction=False) as pipeline:
                    for node, fields in portion:
                        pipeline.xadd(self._key("inbox", node), fields)
                    if entry_ids:
                        pipeline.xack(self._inbox, GROUP, *entry_ids)
                        pipeline.xtrim(self._inbox, minid=entry_ids[-1], approximate=False)
                    await pipeline.execute()
            entry_ids, portion = (), next(remaining, [])

    async def bury(self, entry: StreamEntry, why: str) -> None:
        """Move an unusable entry to the dead letters, where a person can look at it."""
        with _asking():
            # One entry may be larger than all the others: its beginning tells enough.
            kept = {name: value[:MAX_DEAD_FIELD] for name, value in entry.fields.items()}
            fields = {**kept, b"why": why.encode(), b"entry": entry.entry_id}
            await self._redis.xadd(self._key("dead", self._node), fields, maxlen=MAX_DEAD_LETTERS, approximate=False)

    async def be_there(self, service: str) -> bool:
        """Say that the node is there; False if another service has its name."""
        with _asking():
            return bool(await self._redis.eval(_OURS, 1, self._key("node", self._node), service, int(TTL * 1000)))

    async def leave(self, service: str) -> None:
        """Say that it is not any more, unless another service has its name by now."""
        with _translated():
            await self._redis.eval(_NOT_OURS_ANY_MORE, 1, self._key("node", self._node), service)

    async def present(self, nodes: Sequence[str]) -> set[str]:
        """Return which of these nodes are there."""
        with _asking():
            found = await self._redis.mget([self._key("node", node) for node in nodes])
        return {node for node, value in zip(nodes, found, strict=True) if value}


@contextlib.asynccontextmanager
async def open_streams(url: str, node: str, *, namespace: str) -> AsyncIterator[Streams]:
    """Connect to a server, to the primary that sentinels name, or to the master in a cluster that has the keys.

    Raises RedisLost where there is none, ExtraMissing without redis-py, and UsageError for a URL that names no server.
    """
    async with contextlib.AsyncExitStack() as closing:
        try:
            if (cluster := cluster_address(url)) is not None:
                streams = await _streams_in_cluster(cluster, node, namespace, closing)
            else:
                streams = Streams(_connected(url, closing), node, namespace)
                await streams.begin()
        except ValueError as error:
            hint = "redis://, rediss://, unix://, redis+sentinel:// and redis+cluster:// are known: docs/federation.md"
            raise UsageError(f"federation.redis_url: {error}", hint=hint) from error
        yield streams


async def _streams_in_cluster(
    address: ClusterAddress, node: str, namespace: str, closing: contextlib.AsyncExitStack
) -> Streams:
    """Return the streams on the master that has them; raises RedisLost if no node of the cluster leads to it."""
    with needs_extra("redis", "a link between machines"):
        from redis.asyncio import Redis
        from redis.exceptions import MovedError

    if not _HASH_TAG.search(namespace):
        hint = 'put it into braces, as in "{streamrelay}", on all machines: then all keys are in one slot'
        raise UsageError("federation.namespace has no hash tag, which a cluster needs", hint=hint)
    problem = RedisLost("no node of the cluster leads to the master of the keys")
    _, patience = _timeouts()
    for named in address.nodes:
        host, port = named
        for _ in range(MAX_REDIRECTIONS):
            options: dict[str, Any] = {"host": host, "port": port, **patience, **address.options}
            redis = Redis(**options)
            closing.push_async_callback(_close, redis)
            streams = Streams(redis, node, namespace)
            try:
                await streams.begin()
            except RedisLost as error:
                problem = error
                if not isinstance(moved := error.__cause__, MovedError):
                    break
                host, port = moved.host or host, moved.port
            else:
                return streams
    raise problem


def _timeouts() -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the options of a connection to any server, and of one over which streams are read."""
    from redis.asyncio.retry import Retry
    from redis.backoff import NoBackoff

    # The channel retries, from the start: what reached the server over a lost connection is unknown.
    waiting: dict[str, Any] = {"socket_connect_timeout": ANSWER_SECONDS, "retry": Retry(NoBackoff(), 0)}
    return waiting, {"socket_timeout": READ_SECONDS + ANSWER_SECONDS, **waiting}


def _connected(url: str, closing: contextlib.AsyncExitStack) -> "Redis":
    """Return a client, which `closing` closes; raises ValueError for a URL that names no server."""
    with needs_extra("redis", "a link between machines"):
        from redis.asyncio import Redis
        from redis.asyncio.sentinel import Sentinel

    waiting, patience = _timeouts()
    address = sentinel_address(url)
    if address is None:
        redis: Redis = Redis.from_url(url, **patience)
    else:
        asking = {"socket_timeout": ANSWER_SECONDS, **waiting, **address.sentinel_options}
        servers = patience | address.server_options
        sentinel = Sentinel(address.sentinels, sentinel_kwargs=asking, **servers)  # type: ignore[no-untyped-call]
        for asked in sentinel.sentinels:
            closing.push_async_callback(_close, asked)
        redis = sentinel.master_for(address.service)
    closing.push_async_callback(_close, redis)
    return redis


async def _close(redis: "Redis") -> None:
    with contextlib.suppress(RedisLost), _translated():
        await redis.aclose()


@contextlib.contextmanager
def _translated() -> Iterator[None]:
    from redis.exceptions import RedisError

    try:
        yield
    except (RedisError, OSError) as error:
        raise RedisLost(f"Redis: {type(error).__name__}: {error}") from error


@contextlib.contextmanager
def _asking() -> Iterator[None]:
    """Do as `_translated`; if the task was cancelled meanwhile, raise CancelledError, whatever the command returned.

    redis-py waits by `asyncio.wait_for`, which before Python 3.12 loses a cancellation that comes as the wait ends.
    """
    try:
        with _translated():
            yield
    except RedisLost:
        _heed_cancelling()
        raise
    _heed_cancelling()


def _heed_cancelling() -> None:
    if (task := asyncio.current_task()) is not None and task.cancelling():
        raise asyncio.CancelledError
