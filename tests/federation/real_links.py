"""Links between real daemons under a seeded schedule of faults; the agents write histories for the checker.

Each pair of agents has a link, between each two of the machines in turn. Each side sends messages over it, one after
the other, as an agent's tool does: a message is sent again under its id until a daemon has accepted it. An agent writes
down what it got before it does anything else, so the judgement does not rest on what a daemon believes. The schedule of
a seed is always the same; what a fault hits depends on the machine.

    python -m tests.federation.real_links --seed 7 --messages 10000 --faults 100 --write FOLDER
    python -m tests.federation.real_links --nodes 5 --pairs 10
"""

import argparse
import asyncio
import contextlib
import itertools
import json
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import httpx
import msgspec

from streamrelay.errors import StreamrelayError
from streamrelay.links.link import LinkPolicy
from streamrelay.service.api import SendMessage
from streamrelay.testing.agent import LogEntry
from streamrelay.testing.waiting import wait_until_async
from tests.federation.conftest import MORE_NODES
from tests.federation.homes import Home
from tests.federation.real_faults import RealFaults, failing_machines
from tests.history_checker import Verdict, check
from tests.service.conftest import PATIENCE

MAX_UNHEARD = 20
"""Messages of one side that are on their way at a time; more would be refused by the session's writer."""
TRY_AGAIN = 0.3
"""Seconds after which a message is sent again that no daemon has accepted."""
UNLIMITED = LinkPolicy(budget=0, acknowledgements=0, hops=0)


class Side(NamedTuple):
    """One agent of a link, on its machine."""

    name: str
    home: Home

    @property
    def address(self) -> str:
        return f"{self.name}@{self.home.node}"


class Inbox:
    """What an agent got, read on from where it was read last."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._read = 0
        self.texts: list[str] = []

    def look(self) -> list[str]:
        with self._path.open("rb") as file:
            file.seek(self._read)
            data = file.read()
        whole = data[: data.rfind(b"\n") + 1]
        self._read += len(whole)
        entries = (msgspec.json.decode(line, type=LogEntry) for line in whole.splitlines())
        self.texts += [entry.text for entry in entries if entry.kind == "message"]
        return self.texts


class Speaker:
    """One side of a link that sends to the other; `said` is what was accepted, in order."""

    def __init__(self, own: Side, other: Side) -> None:
        self.own = own
        self.other = other
        self.said: list[str] = []
        self.inbox = Inbox(other.home.folder / other.name)
        """Of the listener."""

    async def speak(self, messages: int) -> None:
        client = self.own.home.client()
        async with client:
            for number in range(messages):
                await wait_until_async(lambda: self.unheard < MAX_UNHEARD, 20 * PATIENCE, f"{self.other.name} to hear")
                sending = SendMessage(
                    to=self.other.address,
                    text=f"{self.own.name} {number}",
                    caller=self.own.home.panes[self.own.name],
                    message_id=f"{self.own.name}-{number}",
                )
                while True:
                    with contextlib.suppress(StreamrelayError, httpx.HTTPError):
                        await client.send_message(sending)
                        break
                    await asyncio.sleep(TRY_AGAIN)
                self.said.append(sending.text)

    @property
    def unheard(self) -> int:
        return len(self.said) - sum(not text.startswith("[streamrelay]") for text in self.inbox.look())

    @property
    def channel(self) -> str:
        return min(self.own.name, self.other.name)

    def history(self) -> Iterator[dict[str, str]]:
        """What this side said, and what the other one heard."""
        yield {"event": "joined", "channel": self.channel, "who": self.own.name}
        for text in self.said:
            yield {"event": "said", "channel": self.channel, "who": self.own.name, "text": text}
        for text in self.inbox.look():
            if not text.startswith("[streamrelay]"):
                head, _, said = text.rpartition("] ")
                speaker = head.removeprefix("[From ").partition("@")[0]
                yield {
                    "event": "heard", "channel": self.channel, "who": self.other.name, "from": speaker, "text": said,
                }  # fmt: skip


class RealLinks:
    """Some links between daemons, and who speaks over them."""

    def __init__(self, homes: Sequence[Home], pairs: int) -> None:
        self.speakers: list[Speaker] = []
        self._pairs: list[tuple[Side, Side]] = []
        between = itertools.cycle(itertools.combinations(homes, 2))
        for number, (here, there) in zip(range(pairs), between, strict=False):
            one, two = (Side(f"{home.node[0].upper()}{number}", home) for home in (here, there))
            for side in (one, two):
                side.home.start(side.name, "--answers-to", "nobody", "--works", "0")
            self._pairs.append((one, two))
            self.speakers += [Speaker(one, two), Speaker(two, one)]

    async def open(self) -> None:
        """Link the pairs; half of the links belong to each machine."""
        for number, (one, two) in enumerate(self._pairs):
            own, other = (one, two) if number % 2 == 0 else (two, one)

            async def linked(own: Side = own, other: Side = other) -> bool:
                with contextlib.suppress(StreamrelayError):
                    async with own.home.client() as client:
                        link = await client.create_link(own.name, other.address, UNLIMITED)
                    async with other.home.client() as client:
                        return any(each.link_id == link.link_id for each in await client.links())
                return False

            await wait_until_async(linked, PATIENCE, f"{own.name} and {other.name} to be linked")

    async def run(self, messages: int, faults: RealFaults, count: int) -> Verdict:
        """Say so many messages each way, with so many faults among them, and judge what was heard."""
        each = -(-messages // len(self._pairs))
        speaking = [asyncio.ensure_future(speaker.speak(each)) for speaker in self.speakers]
        total = each * len(self.speakers)
        try:
            for number in range(1, count + 1):
                await self._until(lambda due=total * number // (count + 1): self.heard >= due, f"fault {number}")
                if error := next((task.exception() for task in speaking if task.done() and not task.cancelled()), None):
                    raise error
                await faults.strike()
            await asyncio.gather(*speaking)
        finally:
            for task in speaking:
                task.cancel()
        await self._until(lambda: not any(speaker.unheard > 0 for speaker in self.speakers), "everything to be heard")
        return check([list(speaker.history()) for speaker in self.speakers])

    @property
    def heard(self) -> int:
        return sum(len(speaker.inbox.look()) for speaker in self.speakers)

    @staticmethod
    async def _until(holds: Callable[[], bool], what: str) -> None:
        await wait_until_async(holds, 20 * PATIENCE, what)


async def links_survive(
    folder: Path, seed: int, *, messages: int, faults: int, pairs: int, nodes: int = 2
) -> tuple[Verdict, str]:
    """Run one schedule; return the verdict, and how many faults of each kind there were."""
    with failing_machines(folder, seed, MORE_NODES[:nodes]) as (homes, failing):
        links = RealLinks(homes, pairs)
        await links.open()
        verdict = await links.run(messages, failing, faults)
        for speaker in links.speakers:
            lines = (json.dumps(record) + "\n" for record in speaker.history())
            (folder / f"{speaker.own.name}.jsonl").write_text("".join(lines), encoding="utf-8")
        return verdict, ", ".join(f"{count} {kind}" for kind, count in sorted(failing.counts.items()))


def main() -> None:
    parser = argparse.ArgumentParser(description="Run one schedule of faults over real daemons and judge it.")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--messages", type=int, default=1_000, help="each way")
    parser.add_argument("--faults", type=int, default=100)
    parser.add_argument("--nodes", type=int, default=2, choices=range(2, len(MORE_NODES) + 1), help="machines")
    parser.add_argument("--pairs", type=int, default=6, help="links")
    parser.add_argument("--write", type=Path, help="an empty folder for the histories and what the daemons leave")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        folder = asked.write or Path(temporary)
        folder.mkdir(parents=True, exist_ok=True)
        run = links_survive(
            folder, asked.seed, messages=asked.messages, faults=asked.faults, pairs=asked.pairs, nodes=asked.nodes
        )
        verdict, faults = asyncio.run(run)
    for finding in verdict.findings[:50]:
        print(*finding)
    print(verdict)
    print("faults:", faults)


if __name__ == "__main__":
    main()
