"""Relays and one-way listeners over two machines with tmux, agents and a broker between them."""

import pytest

from streamrelay.errors import NotAllowed, SessionTaken
from streamrelay.service.api import CreateRelay, RelayParticipant, SendMessage
from streamrelay.testing.waiting import wait_until_async
from tests.federation.conftest import Machines, until_connected
from tests.service.conftest import PATIENCE


def of(*names: str) -> list[RelayParticipant]:
    return [RelayParticipant(session=name) for name in names]


@pytest.mark.requirement("NET-02c", "LNK-06")
async def test_three_sessions_on_two_machines_hear_each_other_through_cuts(machines: Machines) -> None:
    machines.alpha.start("Ann"), machines.beta.start("Bob"), machines.beta.start("Carl")
    carl = machines.beta.panes["Carl"]
    async with machines.services() as (alpha, beta):
        relay = await alpha.create_relay(CreateRelay(participants=of("Ann", "Bob@beta", "Carl@beta"), budget=12))
        assert [member.name for member in relay.members] == ["Ann", "Bob@beta", "Carl@beta"]
        with pytest.raises(SessionTaken):
            await alpha.create_relay(CreateRelay(participants=of("Ann", "Bob@beta")))

        async def seated() -> bool:
            taken = {session.title: session.in_relay for session in await beta.sessions()}
            return taken["Bob"] == taken["Carl"] == f"{relay.relay}@alpha"

        await wait_until_async(seated, PATIENCE, "the seats to be known")
        await alpha.send_message(SendMessage(to="Ann", text="begin"))
        await machines.beta.until_heard("Carl", "Ann (1):\n\nanswer 1")
        machines.redis.kill()
        machines.redis.forget()
        machines.redis.start()

        async def ended() -> bool:
            return not await alpha.relays()

        await wait_until_async(ended, PATIENCE, "the budget to be spent")

        async def free() -> bool:
            return not any(session.in_relay for session in await beta.sessions())

        await wait_until_async(free, PATIENCE, "the sessions to be free again")
        (peer,) = await alpha.peers()
        assert (peer.name, peer.refused) == ("beta", {})
        # A caller here is told that a session there has stopped.
        sent = await alpha.send_message(SendMessage(to=f"{carl}@beta", text="work", caller="Ann", message_id="m9"))
        assert (sent.listening, sent.warning) == (True, "")
        await machines.alpha.until_heard(
            "Ann", "[streamrelay] Carl@beta has stopped; what it said is in its own session."
        )
    for name, machine in (("Ann", machines.alpha), ("Bob", machines.beta), ("Carl", machines.beta)):
        for speaker in ("Ann (1)", "Bob@beta (2)", "Carl@beta (3)"):
            head = f"{speaker}:\n\nanswer "
            heard = [text for text in machine.heard(name) if text.startswith(head)]
            assert heard == [f"{head}{number}" for number in range(1, len(heard) + 1)]
            assert not heard or not speaker.startswith(name)


async def test_what_a_machine_does_not_allow_a_peer_is_an_error_there(machines: Machines) -> None:
    machines.alpha.start("Ann"), machines.beta.start("Bob")
    async with machines.alpha.as_node() as alpha, machines.beta.as_node(may_seat=(), may_link=("gamma",)) as beta:
        await until_connected(alpha)
        await until_connected(beta)
        with pytest.raises(NotAllowed, match="beta: node alpha may not seat"):
            await alpha.create_relay(CreateRelay(participants=of("Ann", "Bob@beta")))
        with pytest.raises(NotAllowed, match="beta: node alpha may not link"):
            await alpha.create_link("Ann", "Bob@beta")
        await alpha.send_message(SendMessage(to="Bob@beta", text="hello"))
        await machines.beta.until_heard("Bob", "hello")
