"""The whole stream, as a user of the library has it: connect, watch, take events, keep the text."""

import asyncio
import time

import streamrelay
from benchmarks.reading import Reading, Watch, arguments, hand_over
from streamrelay.control import TransportName
from streamrelay.events import Gap, Text


async def read(target: str, marker: str, *, socket: str, tmux: str, transport: TransportName) -> Reading:
    """Watch a pane until it says the marker."""
    seen: list[tuple[float, list[str]]] = []
    gaps = 0
    async with (
        streamrelay.connect(socket_path=socket, tmux=tmux, transport=transport) as server,
        server.watch(target) as stream,
    ):
        watch = Watch()
        async for events in stream.batches():
            texts = [event.text for event in events if isinstance(event, Text) and event.origin == "program"]
            gaps += sum(isinstance(event, Gap) for event in events)
            seen.append((time.monotonic(), texts))
            if marker in texts:
                break
        reading = watch.stop()
    if not seen or marker not in seen[-1][1]:
        raise SystemExit("the stream ended early")
    at, texts = seen.pop()
    reading.seen = [*seen, (at, texts[: texts.index(marker)])]
    reading.gaps = gaps
    return reading


def main() -> None:
    given = arguments(__doc__).parse_args()
    reading = read(given.target, given.marker, socket=given.socket, tmux=given.tmux, transport=given.transport)
    hand_over(asyncio.run(reading))


if __name__ == "__main__":
    main()
