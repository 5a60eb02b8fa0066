"""Subscribers at the daemon's socket that count events and keep nothing: `SOCKET FAST SLOW EVENTS`.

Prints when (on the machine's monotonic clock) the last of the fast ones had all events; the slow ones read nothing.
"""

import asyncio
import json
import sys
import time

_REQUEST = b"GET /v1/events HTTP/1.1\r\nHost: localhost\r\n\r\n"
_END = b"\n\n"


class _Counting(asyncio.Protocol):
    """Counts the ends of frames; no JSON has one in it, and a chunk's own ends are CR LF."""

    def __init__(self, count: int, *, reads: bool) -> None:
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self._left = count
        self._last = b""
        self._reads = reads

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        transport.write(_REQUEST)
        if not self._reads:
            transport.pause_reading()

    def data_received(self, data: bytes) -> None:
        self._left -= (self._last + data).count(_END)
        self._last = data[-1:]
        if self._left <= 0 and not self.done.done():
            self.done.set_result(None)


async def main(path: str, fast: int, slow: int, count: int) -> None:
    loop = asyncio.get_running_loop()
    connections = [
        await loop.create_unix_connection(lambda reads=reads: _Counting(count, reads=reads), path)
        for reads in (*[True] * fast, *[False] * slow)
    ]
    await asyncio.gather(*(protocol.done for _, protocol in connections[:fast]))
    print(json.dumps({"ended": time.monotonic()}))
    for transport, _ in connections:
        transport.abort()


if __name__ == "__main__":
    path, fast, slow, count = sys.argv[1:]
    asyncio.run(main(path, int(fast), int(slow), int(count)))
