"""A service that is killed at random moments of a busy exchange loses nothing and says nothing twice.

The daemon is killed two hundred times in tests/daemon/test_killed_daemon.py.
"""

import json
import random
import subprocess
import sys
from pathlib import Path

import pytest

from streamrelay.links.link import LinkPolicy
from streamrelay.service.api import CreateRelay, RelayParticipant, SendMessage
from streamrelay.testing.participant import read_log
from streamrelay.testing.waiting import wait_until_async
from tests.service.conftest import PATIENCE, Stage

PROCESS = Path(__file__).with_name("service_process.py")


def live_and_die(stage: Stage, chance: random.Random) -> None:
    """Run the service, and kill it: at any moment, mostly some time after it has opened."""
    words = [sys.executable, str(PROCESS), stage.tmux.binary, stage.tmux.socket_path, str(stage.folder / "state")]
    with (
        (stage.folder / "errors").open("ab") as errors,
        subprocess.Popen(words, stdout=subprocess.PIPE, stderr=errors) as service,
    ):
        assert service.stdout is not None
        patience = chance.uniform(0.3, 1.5)
        if chance.random() < 0.7:
            opened = service.stdout.readline()
            assert opened == b"open\n", (stage.folder / "errors").read_text()
            patience = chance.uniform(0.0, 0.8)
        try:
            service.wait(patience)
        except subprocess.TimeoutExpired:
            service.kill()
        else:
            raise AssertionError((stage.folder / "errors").read_text())


def answer(tall: int) -> str:
    return "\n".join(["answer {number}", *(f"line {line} of answer {{number}}" for line in range(2, tall + 1))])


async def agents_survive(stage: Stage, seed: int, deaths: int, budget: int, tall: int = 1) -> None:
    chance = random.Random(seed)
    (stage.folder / "answers").write_text(json.dumps([answer(tall)]))
    ann, _ = (stage.start(name, "--answers", str(stage.folder / "answers")) for name in ("Ann", "Bob"))
    async with stage.service() as service:
        await service.create_link("Ann", "Bob", LinkPolicy(budget=budget))
        await service.send_message(SendMessage(to="Bob", text="begin", caller=ann, message_id="m0"))
    for _ in range(deaths):
        live_and_die(stage, chance)
    said = {
        name: [f"[From {name}] {answer(tall).format(number=number)}" for number in range(1, budget + 1)]
        for name in ("Ann", "Bob")
    }

    def spent():
        heard = [text for name in ("Ann", "Bob") for text in stage.heard(name)]
        return sum(text.startswith("[streamrelay] The link with") for text in heard) == 2

    async with stage.service() as service:
        try:
            await wait_until_async(spent, PATIENCE + 4 * budget, "the link to be spent")
        except TimeoutError:
            print(stage.heard("Ann"), stage.heard("Bob"), *await service.read_since(0, limit=100_000), sep="\n")
            raise
        (link,) = await service.links()
        assert (link.deliveries, link.state) == (budget, "spent")
    ann_heard = [text for text in stage.heard("Ann") if not text.startswith("[streamrelay]")]
    bob_heard = [text for text in stage.heard("Bob") if not text.startswith("[streamrelay]")]
    assert ann_heard == said["Bob"][: len(ann_heard)]
    assert bob_heard == ["[From Ann] begin", *said["Ann"]][: len(bob_heard)]
    assert len(ann_heard) + len(bob_heard) == budget


@pytest.mark.timeout(300)
@pytest.mark.parametrize("seed", range(1))
async def test_agents_go_on_talking_whenever_it_is_killed(stage: Stage, seed: int) -> None:
    await agents_survive(stage, seed, deaths=5, budget=10)


@pytest.mark.parametrize(("deaths", "budget"), [(4, 6), pytest.param(10, 16, marks=pytest.mark.slow)])
async def test_answers_taller_than_the_screen_survive_too(stage: Stage, deaths: int, budget: int) -> None:
    await agents_survive(stage, 0, deaths, budget, tall=60)


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("seed", range(100, 103))
async def test_agents_go_on_talking_many_times(stage: Stage, seed: int) -> None:
    await agents_survive(stage, seed, deaths=20, budget=30)


def talker(stage: Stage, name: str, rounds: int, *, first: bool = False) -> str:
    """Start a program that answers each line it hears with the next number, and keeps account of it."""
    words = [sys.executable, "-m", "streamrelay.testing.participant", "--name", name, "--stay"]
    words += [
        "--rounds",
        str(rounds),
        "--paint-delay",
        "0.2",
        "--log",
        str(stage.folder / name),
        *(["--first"] if first else []),
    ]
    stage.panes[name] = stage.tmux.new_session(name, words, columns=100, lines=40)
    return stage.panes[name]


async def relay_survives(stage: Stage, seed: int, deaths: int, rounds: int) -> None:
    """Three who print lines: each hears all that the others say, in order and once."""
    chance = random.Random(seed)
    names = ["Ann", "Bob", "Cy"]
    for name in names:
        talker(stage, name, rounds, first=name == "Ann")
    async with stage.service() as service:
        members = [RelayParticipant(session=name) for name in names]
        await service.create_relay(CreateRelay(participants=members))
        await service.send_message(SendMessage(to="Ann", text="start", message_id="m0"))

    def records(name, kind):
        return [record for record in read_log(stage.folder / name) if record.kind == kind]

    def all_heard():
        return all(
            {record.text for record in records(speaker, "said")}
            <= {record.text for record in records(listener, "heard")}
            for speaker in names
            for listener in names
            if speaker != listener
        ) and any(len(records(name, "said")) >= rounds for name in names)

    busy = 0
    for _ in range(deaths):
        busy += not all_heard()
        live_and_die(stage, chance)
    assert busy > deaths // 2, "the exchange was over before it was disturbed"
    async with stage.service() as service:
        try:
            await wait_until_async(all_heard, PATIENCE, "all to have heard everything")
        except TimeoutError:
            print(*await service.read_since(0, limit=100_000), sep="\n")
            raise
    for speaker in names:
        said = [record.text for record in records(speaker, "said")]
        for listener in names:
            heard = [record.text for record in records(listener, "heard") if record.sender == speaker]
            assert heard == ([] if speaker == listener else said), (speaker, listener)


@pytest.mark.requirement("REL-07")
@pytest.mark.timeout(300)
@pytest.mark.parametrize("seed", range(1))
async def test_a_relay_of_three_goes_on_whenever_it_is_killed(stage: Stage, seed: int) -> None:
    await relay_survives(stage, seed, deaths=4, rounds=10)


@pytest.mark.slow
@pytest.mark.timeout(600)
@pytest.mark.parametrize("seed", range(100, 104))
async def test_a_relay_of_three_goes_on_many_times(stage: Stage, seed: int) -> None:
    await relay_survives(stage, seed, deaths=10, rounds=30)
