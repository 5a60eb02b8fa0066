"""A relay of four participants on two to four real machines, through cuts, kills and pauses: as on one machine.

The agents write down themselves what they got and said, and the independent checker compares that, line by line. Each
message names who answers it, so three conversations go on at a time, however many listen.
"""

import contextlib
import itertools
import json
import random
from collections.abc import Sequence
from pathlib import Path

import pytest

from streamrelay.errors import PeerAway, StreamrelayError
from streamrelay.service.api import CreateRelay, RelayParticipant, SendMessage
from streamrelay.testing.waiting import wait_until_async
from tests.federation import network
from tests.federation.conftest import MORE_NODES, NODES
from tests.federation.homes import Home
from tests.federation.real_faults import failing_machines
from tests.history_checker import check
from tests.service.conftest import PATIENCE

NAMES = ("Ann", "Bob", "Carl", "Dora")
"""The participants, in turn on the machines."""
CONVERSATIONS = ("Ann", "Bob", "Carl")
"""Who begins one: three go on at a time."""
TEXTS = 60
SHAPES = (
    "NAME says {number}.",
    "NAME says {number}:\n\n- NAME lists {number}b\n- NAME lists {number}c",
    "NAME määrittää {number} 你好.",
)


class RelayOfFour:
    """Four agents on some machines, and what they wrote down; the first machine keeps the relay."""

    def __init__(self, machines: Sequence[Home], seed: int) -> None:
        self.alpha = machines[0]
        self.homes = dict(zip(NAMES, itertools.cycle(machines), strict=False))
        self.heads = {name: f"{self._address(name)} ({number}):\n\n" for number, name in enumerate(NAMES, 1)}
        """With what each of their messages begins."""
        chance = random.Random(seed)
        for name, home in self.homes.items():
            texts = home.folder / f"{name}.answers"
            texts.write_text(json.dumps(answers(name, chance)))
            home.start(name, "--answers", str(texts), "--answers-to", f": {name}")

    async def open(self, turns: int) -> None:
        """Open the relay, once the other machine answers, and begin the conversations."""
        relay = CreateRelay(
            participants=[RelayParticipant(session=self._address(name)) for name in NAMES], budget=turns
        )

        async def opened() -> bool:
            with contextlib.suppress(PeerAway):
                async with self.alpha.client() as client:
                    await client.create_relay(relay)
                    return True
            return False

        await wait_until_async(opened, PATIENCE, "the other machine to answer")
        async with self.alpha.client() as client:
            for name in CONVERSATIONS:
                await client.send_message(SendMessage(to=self._address(name), text=_beginning(name)))

    def _address(self, name: str) -> str:
        home = self.homes[name]
        return name if home is self.alpha else f"{name}@{home.node}"

    async def is_open(self) -> bool:
        with contextlib.suppress(StreamrelayError):
            async with self.alpha.client() as client:
                return bool(await client.relays())
        return True

    @property
    def deliveries(self) -> int:
        """How many messages of the relay the participants got."""
        heads = tuple(self.heads.values())
        return sum(text.startswith(heads) for name, home in self.homes.items() for text in home.received(name))

    def others(self) -> list[str]:
        """What the participants got besides."""
        received = (text for name, home in self.homes.items() for text in home.received(name))
        return sorted(text for text in received if not text.startswith(tuple(self.heads.values())))

    def histories(self) -> list[list[dict[str, str]]]:
        """Return what each participant said and heard, line by line, for the checker.

        What was said after the budget was spent goes nowhere: the last lines of a participant are due only if anyone
        heard them, or a later one. That each delivery was made is counted by the test.
        """
        heard = {name: self._heard(name) for name in NAMES}
        known = {line for got in heard.values() for _, line in got}
        histories = []
        for name, home in self.homes.items():
            history = [{"event": "joined", "channel": "relay", "who": name}]
            said = [line for text in home.said(name) for line in lines(text)]
            last = max((place for place, line in enumerate(said) if line in known), default=-1)
            for place, line in enumerate(said):
                due = "yes" if place <= last else "no"
                history.append({"event": "said", "channel": "relay", "who": name, "text": line, "due": due})
            for speaker, line in heard[name]:
                history.append({"event": "heard", "channel": "relay", "who": name, "from": speaker, "text": line})
            histories.append(history)
        return histories

    def _heard(self, name: str) -> list[tuple[str, str]]:
        return [
            (speaker, line)
            for text in self.homes[name].received(name)
            for speaker, head in self.heads.items()
            if text.startswith(head)
            for line in lines(text.removeprefix(head))
        ]


def answers(name: str, chance: random.Random) -> list[str]:
    """Return what a participant says, each text with the name of the one who is to answer it."""
    others = [other for other in NAMES if other != name]
    return [
        f"{chance.choice(SHAPES).replace('NAME', name)}\nAfter {name} {{number}} comes: {chance.choice(others)}"
        for _ in range(TEXTS)
    ]


def lines(text: str) -> list[str]:
    return [line.strip() for line in text.split("\n") if line.strip()]


def _beginning(name: str) -> str:
    return f"The first is: {name}"


async def relay_survives(
    folder: Path, seed: int, turns: int, kinds: Sequence[str], *, nodes: Sequence[str] = NODES
) -> None:
    """Relay so many turns while faults (of any kind where one is empty) come one after the other."""
    with failing_machines(folder, seed, nodes) as (machines, faults):
        relay = RelayOfFour(machines, seed)
        await relay.open(turns)
        for number, kind in enumerate(kinds, 1):
            due = 3 * turns * number // (len(kinds) + 1)
            await wait_until_async(lambda due=due: relay.deliveries >= due, 4 * PATIENCE, f"{due} messages to be heard")
            assert await relay.is_open(), "the relay was over before it was disturbed"
            await faults.strike(kind)
        await wait_until_async(lambda: relay.deliveries >= 3 * turns, 4 * PATIENCE, "all turns to be heard by three")

        async def is_over() -> bool:
            return not await relay.is_open()

        await wait_until_async(is_over, PATIENCE, "the budget to be spent")
        verdict = check(relay.histories())
        print(verdict, dict(faults.counts))
        assert not verdict.findings, verdict.findings[:5]
        assert relay.deliveries == 3 * turns
        assert relay.others() == sorted(map(_beginning, CONVERSATIONS))


@pytest.mark.requirement("NET-02c")
@pytest.mark.timeout(300)
@pytest.mark.sampled(1)
@pytest.mark.parametrize("kind", ["broker_killed", "daemon_killed", "cut", "slow_line"])
async def test_four_on_two_machines_hear_each_other_through_a_fault(tmp_path: Path, kind: str) -> None:
    if (kind == "cut" and not network.is_possible()) or (kind == "slow_line" and not network.can_be_slow()):
        kind = "broker_paused"
    await relay_survives(tmp_path, 1, 10, [kind])


@pytest.mark.slow
@pytest.mark.requirement("NET-02c", "NET-03")
@pytest.mark.timeout(900)
@pytest.mark.parametrize("nodes", [3, 4])
async def test_four_on_several_machines_hear_each_other_through_faults(tmp_path: Path, nodes: int) -> None:
    await relay_survives(tmp_path, nodes, 40, [""] * 5, nodes=MORE_NODES[:nodes])


@pytest.mark.slow
@pytest.mark.requirement("NET-02c", "NET-03")
@pytest.mark.timeout(1800)
@pytest.mark.parametrize("seed", range(2))
async def test_four_on_two_machines_hear_each_other_in_200_turns_through_20_faults(tmp_path: Path, seed: int) -> None:
    await relay_survives(tmp_path, seed, 200, [""] * 20)
