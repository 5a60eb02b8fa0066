"""A machine that goes on with an older copy of its database, as after a loss of power: what is sent then arrives."""

import shutil
from collections.abc import Iterator
from contextlib import contextmanager

from streamrelay.service.api import CreateRelay, RelayParticipant, SendMessage
from streamrelay.service.local import LocalService
from streamrelay.testing.waiting import wait_until_async
from tests.federation.conftest import Machine, Machines, until_connected
from tests.service.conftest import PATIENCE


@contextmanager
def undone(machine: Machine) -> Iterator[None]:
    """Undo what the machine's service commits to its journal meanwhile; it runs neither before nor after."""
    (journal,) = machine.folder.glob("**/journal.db")
    copy = journal.with_suffix(".copy")
    shutil.copy(journal, copy)
    yield
    for file in journal.parent.glob("journal.db*"):
        file.unlink()
    copy.rename(journal)


async def send(service: LocalService, machines: Machines, text: str) -> None:
    """Send a message to Bob, until beta has acknowledged it."""
    await until_connected(service)
    await service.send_message(SendMessage(to="Bob@beta", text=text))
    await machines.beta.until_heard("Bob", text)
    await wait_until_async(lambda: no_envelope_waits(service), PATIENCE, "the acknowledgement")


async def test_a_sender_that_gives_numbers_again_is_heard(machines: Machines) -> None:
    machines.beta.start("Bob")
    async with machines.beta.as_node() as beta:
        await until_connected(beta)
        async with machines.alpha.as_node() as alpha:
            await send(alpha, machines, "kept")
        with undone(machines.alpha):
            async with machines.alpha.as_node() as alpha:
                await send(alpha, machines, "sent, and forgotten here")
        async with machines.alpha.as_node() as alpha:
            await send(alpha, machines, "under the same number")
            await send(alpha, machines, "the next one")
        assert not any("lost" in problem for problem in (await beta.status()).problems)
    said = ["kept", "sent, and forgotten here", "under the same number", "the next one"]
    assert machines.beta.heard("Bob") == said


async def test_a_receiver_that_lost_what_it_had_acknowledged_says_so_and_goes_on(machines: Machines) -> None:
    machines.beta.start("Bob")
    async with machines.alpha.as_node() as alpha:
        async with machines.beta.as_node():
            await send(alpha, machines, "kept")
        with undone(machines.beta):
            async with machines.beta.as_node():
                await send(alpha, machines, "taken, and forgotten there")
        async with machines.beta.as_node() as beta:
            await send(alpha, machines, "after it")
            problems = (await beta.status()).problems
            assert "1 envelope from alpha lost: the database here went back, as after a loss of power" in problems
    assert machines.beta.heard("Bob") == ["kept", "taken, and forgotten there", "after it"]


async def test_a_relay_whose_number_went_back_is_heard_on_the_other_machine(machines: Machines) -> None:
    machines.beta.start("Bob")
    machines.beta.start("Carl", "--answers-to", "no message ends so")

    async def say(number: int) -> None:
        machines.beta.types("Bob", "speak")
        await machines.beta.until_heard("Carl", f"Bob@beta (1):\n\nanswer {number}")

    async with machines.beta.as_node() as beta:
        await until_connected(beta)
        async with machines.alpha.as_node() as alpha:
            await until_connected(alpha)
            members = [RelayParticipant(session=f"{name}@beta") for name in ("Bob", "Carl")]
            relay = await alpha.create_relay(CreateRelay(participants=members))

            async def seated() -> bool:
                return all(one.in_relay for one in await beta.sessions() if one.title in {"Bob", "Carl"})

            await wait_until_async(seated, PATIENCE, "the seats to be known")
            await say(1)
            await wait_until_async(lambda: no_envelope_waits(alpha), PATIENCE, "the acknowledgement")
        with undone(machines.alpha):
            async with machines.alpha.as_node() as alpha:
                await say(2)
                await wait_until_async(lambda: no_envelope_waits(alpha), PATIENCE, "the acknowledgement")
                assert [one.deliveries for one in await alpha.relays()] == [2]
        async with machines.alpha.as_node() as alpha:
            assert [(one.relay, one.deliveries) for one in await alpha.relays()] == [(relay.relay, 1)]
            await say(3)
            await say(4)
    assert machines.beta.heard("Carl") == [f"Bob@beta (1):\n\nanswer {number}" for number in range(1, 5)]


async def no_envelope_waits(service: LocalService) -> bool:
    return not any(peer.waiting for peer in await service.peers())
