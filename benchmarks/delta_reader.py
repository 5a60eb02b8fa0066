"""The whole stream, as a user of the library has it: connect, watch, take events, keep the text."""

import argparse
import asyncio
import contextlib
import time

import streamrelay
from benchmarks.reading import Reading, Watch, arguments, hand_over
from streamrelay.events import Gap
from streamrelay.panes.subscription import Subscription


class Reader:
    """What all panes said so far, and how many have said the marker."""

    def __init__(self, marker: str, until: int) -> None:
        self._marker = f"{marker}-"
        self._left = until
        self._seen: list[tuple[float, int, list[str]]] = []
        self._gaps = 0
        self.ended = asyncio.Event()

    async def follow(self, place: int, stream: Subscription) -> None:
        """Take the events of one pane until it says the marker."""
        async for events in stream.batches():
            texts = events.texts()
            self._gaps += sum(isinstance(part, Gap) for part in events.parts)
            end = None
            # It is printed last, so most batches need no search, which would be measured with the stream.
            if texts and texts[-1].startswith(self._marker):
                end = next((number for number, text in enumerate(texts) if text.startswith(self._marker)), None)
            self._seen.append((time.monotonic(), place, texts[:end]))
            if end is not None:
                self._left -= 1
                if not self._left:
                    self.ended.set()
                return
        raise RuntimeError("a stream ended early")

    def fill(self, reading: Reading) -> Reading:
        """Put in what was seen."""
        reading.seen, reading.gaps = self._seen, self._gaps
        return reading


async def read(given: argparse.Namespace) -> Reading:
    """Watch the panes until enough of them have said the marker."""
    async with contextlib.AsyncExitStack() as opened:
        server = await opened.enter_async_context(
            streamrelay.connect(socket_path=given.socket, tmux=given.tmux, transport=given.transport)
        )
        streams = [await opened.enter_async_context(server.watch(pane)) for pane in given.panes]
        reader = Reader(given.marker, given.until or len(given.panes))
        async with asyncio.TaskGroup() as group:
            watch = Watch()
            tasks = [group.create_task(reader.follow(place, stream)) for place, stream in enumerate(streams)]
            await reader.ended.wait()
            reading = watch.stop()
            for task in tasks:
                task.cancel()
        return reader.fill(reading)


def main() -> None:
    hand_over(asyncio.run(read(arguments(__doc__).parse_args())))


if __name__ == "__main__":
    main()
