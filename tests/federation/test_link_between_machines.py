"""Two scripted agents on two machines hear each other over a link, whose budget is counted once and known to both."""

from typing import NoReturn

import pytest

from streamrelay.config.settings import HistoryTable
from streamrelay.counts import deliveries as spent_after
from streamrelay.delivery.message import DeliveryPolicy
from streamrelay.errors import CommandTimeout, NotAllowed, TargetNotFound, UsageError
from streamrelay.events import LinkClosed, LinkCreated, LinkExtended, LinkSpent, Receipt, RelayWithheld
from streamrelay.federation.messages import Wish
from streamrelay.links.link import LinkPolicy
from streamrelay.relay.rules import Rules
from streamrelay.service import remote_sessions
from streamrelay.service.api import SendMessage, StartSession
from streamrelay.service.core import Core
from streamrelay.testing.waiting import wait_until_async
from tests.federation.conftest import Machines, until_connected, until_link, until_no_link
from tests.service.conftest import PATIENCE, journaled


def said(machines: Machines, name: str, machine: str) -> list[str]:
    """What one of the two got but for notices."""
    return [text for text in getattr(machines, machine).heard(name) if not text.startswith("[streamrelay]")]


@pytest.mark.requirement("LNK-07", "NET-02b", "LNK-03")
async def test_each_end_hears_the_output_of_the_other_until_the_budget_is_spent(machines: Machines) -> None:
    ann, bob = machines.alpha.start("Ann"), machines.beta.start("Bob")
    async with machines.services() as (alpha, beta):
        link = await alpha.create_link("Ann", "Bob@beta", LinkPolicy(budget=6))
        assert [party.pane for party in link.parties] == [ann, f"{bob}@beta"]
        image = await until_link(beta, link.link_id)
        assert [party.pane for party in image.parties] == [f"{ann}@alpha", bob]
        await beta.send_message(SendMessage(to="Bob", text="begin", message_id="m0"))
        assert (await until_link(alpha, link.link_id, "spent")).deliveries == 6
        assert (await until_link(beta, link.link_id, "spent")).deliveries == 6
        for service in (alpha, beta):
            assert [event.deliveries for event in await journaled(service, LinkSpent)] == [6]
            assert len(await journaled(service, LinkCreated)) == 1
        notice = "[streamrelay] The link with"
        for machine, name in ((machines.alpha, "Ann"), (machines.beta, "Bob")):
            await wait_until_async(
                lambda machine=machine, name=name: machine.heard(name)[-1].startswith(notice), PATIENCE, "to be told"
            )
    # The first of the scripted answers is to the message that a person sent Bob.
    assert said(machines, "Ann", "alpha") == [f"[From Bob@beta] answer {number}" for number in (1, 2, 3)]
    assert said(machines, "Bob", "beta") == ["begin", *(f"[From Ann@alpha] answer {number}" for number in (1, 2, 3))]


@pytest.mark.requirement("NET-02a")
async def test_the_same_link_is_made_once_whoever_asks(machines: Machines) -> None:
    machines.alpha.start("Ann"), machines.beta.start("Bob")
    async with machines.services() as (alpha, beta):
        link = await alpha.create_link("Bob@beta", "Ann")
        assert [party.title for party in link.parties] == ["Bob@beta", "Ann@alpha"]
        await until_link(beta, link.link_id)
        assert (await beta.create_link("Bob", "Ann@alpha")).link_id == link.link_id
        assert (await alpha.create_link("Ann@alpha", "Bob@beta")).link_id == link.link_id
        assert [each.link_id for each in await beta.links("Bob")] == [link.link_id]


@pytest.mark.requirement("DLV-05c")
async def test_a_peer_cannot_have_a_command_typed_that_this_machine_refuses(machines: Machines) -> None:
    machines.beta.start("Bob")
    async with machines.services() as (alpha, beta):
        beta.configure(
            policy=LinkPolicy(), rules=Rules(), retention=HistoryTable(), typing=DeliveryPolicy(commands="refuse")
        )
        await alpha.send_message(SendMessage(to="Bob@beta", text="/clear", message_id="one", commands="send"))

        async def is_refused() -> bool:
            states = [(one.state, one.reason) for one in await alpha.get_delivery("one")]
            return states == [("failed", "command")]

        await wait_until_async(is_refused, PATIENCE, "beta to refuse it")
        await alpha.send_message(SendMessage(to="Bob@beta", text="hello"))
        await machines.beta.until_heard("Bob", "hello")
    assert machines.beta.heard("Bob") == ["hello"]


@pytest.mark.requirement("LNK-01b")
@pytest.mark.parametrize("ends", ["alpha", "beta"])
async def test_a_session_that_ends_severs_the_link_on_both_machines(machines: Machines, ends: str) -> None:
    machines.alpha.start("Ann"), machines.beta.start("Bob")
    gone, stays, left = ("Ann", "Bob", "beta") if ends == "alpha" else ("Bob", "Ann", "alpha")
    async with machines.services() as (alpha, beta):
        link = await alpha.create_link("Ann", "Bob@beta")
        await until_link(beta, link.link_id)
        machine = getattr(machines, ends)
        machine.tmux.run("kill-session", "-t", f"={gone}")
        await until_no_link(alpha)
        await until_no_link(beta)
        told = f"[streamrelay] {gone}@{ends} has ended, and the link with it. No answer is needed."
        await getattr(machines, left).until_heard(stays, told)
        for service in (alpha, beta):
            (closed,) = await journaled(service, LinkClosed)
            assert (closed.link, closed.reason) == (link.link_id, "session_gone")


@pytest.mark.parametrize("closes", ["alpha", "beta"])
async def test_either_side_closes_it_with_last_words(machines: Machines, closes: str) -> None:
    machines.alpha.start("Ann"), machines.beta.start("Bob")
    by, other, there = ("Ann", "Bob", "beta") if closes == "alpha" else ("Bob", "Ann", "alpha")
    async with machines.services() as (alpha, beta):
        link = await alpha.create_link("Ann", "Bob@beta")
        await until_link(beta, link.link_id)
        service = alpha if closes == "alpha" else beta
        await service.close_link(link.link_id, by=by, last_words="farewell")
        assert not await service.links()
        await getattr(machines, there).until_heard(
            other,
            f"[From {by}@{closes}] farewell",
            f"[streamrelay] {by}@{closes} has closed the link: it delivers nothing more. No answer is needed.",
        )
        await until_no_link(alpha)
        await until_no_link(beta)


async def test_a_link_is_closed_on_both_machines_even_if_the_last_message_is_refused(machines: Machines) -> None:
    machines.alpha.start("Ann")
    bob = machines.beta.start("Bob")
    async with machines.services() as (alpha, beta):
        link = await alpha.create_link("Ann", "Bob@beta")
        await until_link(beta, link.link_id)
        await alpha.pause(True, link.link_id)
        request = SendMessage(to="Ann@alpha", text="farewell", message_id="m1", caller=bob, close_link=True)
        assert not (await beta.send_message(request)).warning
        await until_no_link(alpha)
        await until_no_link(beta)

        async def refused() -> bool:
            return (await beta.get_delivery("m1"))[0].reason == "not_allowed"

        await wait_until_async(refused, PATIENCE, "the message to be refused")
        closed = "[streamrelay] Bob@beta has closed the link: it delivers nothing more. No answer is needed."
        await machines.alpha.until_heard("Ann", closed)
        assert [event.by for event in await journaled(alpha, LinkClosed)] == [link.parties[1].session]


async def test_either_side_extends_and_pauses_it(machines: Machines) -> None:
    machines.alpha.start("Ann"), machines.beta.start("Bob")
    async with machines.services() as (alpha, beta):
        link = await alpha.create_link("Ann", "Bob@beta", LinkPolicy(budget=1))
        await alpha.send_message(SendMessage(to="Ann", text="begin"))
        await until_link(beta, link.link_id, "spent")
        await machines.alpha.until_heard("Ann", notice("Bob@beta", 1))
        # Bob's answer to the last delivery, and to the notice, wait.
        await beta.pause(True, link.link_id)
        await beta.extend_link(link.link_id, 2)
        await until_link(beta, link.link_id, "open")
        assert machines.alpha.heard("Ann")[-1] == notice("Bob@beta", 1)
        await beta.pause(False, link.link_id)
        await machines.alpha.until_heard("Ann", "[From Bob@beta] answer 1")
        await until_link(beta, link.link_id, "spent")


async def test_news_of_a_link_do_not_depend_on_tmux(machines: Machines, monkeypatch: pytest.MonkeyPatch) -> None:
    machines.alpha.start("Ann"), machines.beta.start("Bob")

    async def slow(name: str) -> NoReturn:
        raise CommandTimeout(f"nobody says who {name} is")

    async with machines.services() as (alpha, beta):
        link = await alpha.create_link("Ann", "Bob@beta", LinkPolicy(budget=1))
        await until_link(beta, link.link_id)
        monkeypatch.setattr(beta._core, "find", slow)
        await alpha.extend_link(link.link_id, 2)

        async def known() -> bool:
            return bool(await journaled(beta, LinkExtended))

        await wait_until_async(known, PATIENCE, "the news")
        assert [each.link_id for each in await beta.links()] == [link.link_id]
        assert [each.link_id for each in await alpha.links()] == [link.link_id]


async def test_nothing_is_typed_where_everything_is_paused(machines: Machines) -> None:
    ann = machines.alpha.start("Ann")
    machines.beta.start("Bob")
    async with machines.services() as (alpha, beta):
        await beta.pause(True)
        request = SendMessage(to="Bob@beta", text="hello", message_id="m1", caller=ann, direct=True)
        result = await alpha.send_message(request)

        async def refused() -> bool:
            return (await alpha.get_delivery("m1"))[0].reason == "not_allowed"

        async def paused() -> bool:
            links = [*await alpha.links(), *await beta.links()]
            return all(link.relay.state.paused for link in links)

        await wait_until_async(refused, PATIENCE, "the message to be refused")
        await until_link(beta, result.link)
        await wait_until_async(paused, PATIENCE, "the link to be paused")
        # A person is bound by no pause.
        await alpha.send_message(SendMessage(to="Bob@beta", text="begin"))
        await machines.beta.until_heard("Bob", "begin")
        await beta.pause(False)
        await machines.alpha.until_heard("Ann", "[From Bob@beta] answer 1")
    assert machines.beta.heard("Bob")[0] == "begin"


async def test_a_link_that_is_closed_while_it_is_extended_is_not_there(
    machines: Machines, monkeypatch: pytest.MonkeyPatch
) -> None:
    machines.alpha.start("Ann"), machines.beta.start("Bob")
    wish = remote_sessions.wish

    async def wish_too_late(core: Core, wished: Wish) -> bool:
        done = await wish(core, wished)
        await wish(core, Wish(link=wished.link, what="close"))
        return done

    async with machines.services() as (alpha, beta):
        link = await alpha.create_link("Ann", "Bob@beta")
        await until_link(beta, link.link_id)
        monkeypatch.setattr(remote_sessions, "wish", wish_too_late)
        with pytest.raises(TargetNotFound, match=link.link_id):
            await beta.extend_link(link.link_id, 2)


async def test_who_closes_a_spent_link_does_not_begin_another_on_either_machine(machines: Machines) -> None:
    machines.alpha.start("Ann")
    bob = machines.beta.start("Bob")
    async with machines.services() as (alpha, beta):
        link = await alpha.create_link("Ann", "Bob@beta", LinkPolicy(budget=1, start_sessions=False))
        await until_link(beta, link.link_id)
        with pytest.raises(NotAllowed):
            await beta.start_session(StartSession(agent="sprite", caller=bob))
        await alpha.send_message(SendMessage(to="Ann", text="begin"))
        await until_link(beta, link.link_id, "spent")
        await beta.close_link(link.link_id, by=bob)
        await until_no_link(alpha)
        with pytest.raises(NotAllowed, match="was closed"):
            await beta.send_message(SendMessage(to="Ann@alpha", text="again", caller=bob, direct=True))
        # A person does.
        await beta.create_link("Bob", "Ann@alpha")


def notice(title: str, deliveries: int) -> str:
    return (
        f"[streamrelay] The link with {title} is spent after {spent_after(deliveries)}: it delivers nothing until a "
        "person extends it. No answer is needed."
    )


@pytest.mark.requirement("NET-04e", "REL-05a")
async def test_hops_are_counted_over_both_machines(machines: Machines) -> None:
    machines.alpha.start("Ann"), machines.beta.start("Bob")
    async with machines.services() as (alpha, beta):
        await alpha.create_link("Ann", "Bob@beta", LinkPolicy(budget=0, hops=3, acknowledgements=0))
        await beta.send_message(SendMessage(to="Bob", text="begin"))

        async def withheld() -> list[RelayWithheld]:
            return await journaled(alpha, RelayWithheld)

        (event,) = await wait_until_async(withheld, PATIENCE, "the chain to end")
        assert (event.reason, event.speaker) == ("hops", "Ann@alpha (1)")
        assert said(machines, "Ann", "alpha") == ["[From Bob@beta] answer 1", "[From Bob@beta] answer 2"]


@pytest.mark.requirement("NET-01")
async def test_a_message_is_delivered_elsewhere_and_its_receipts_come_back(machines: Machines) -> None:
    ann = machines.alpha.start("Ann")
    bob = machines.beta.start("Bob")
    async with machines.services() as (alpha, beta):
        request = SendMessage(to="Bob@beta", text="hello", message_id="m1", caller=ann, direct=True)
        result = await alpha.send_message(request)
        assert (result.delivery.pane, result.delivery.state, result.warning) == (f"{bob}@beta", "queued", "")
        await until_link(beta, result.link)
        await machines.beta.until_heard("Bob", "[From Ann@alpha] hello")

        async def states() -> list[str]:
            found = [event for event in await journaled(alpha, Receipt) if event.message_id == "m1"]
            return [event.state for event in found if found[-1].state == "answered"]

        assert await wait_until_async(states, PATIENCE, "the answer") == [
            "queued", "pasted", "painted", "submitted", "turn_started", "answered",
        ]  # fmt: skip
        assert (await alpha.get_delivery("m1"))[0].state == "answered"
        # Asked for again it is what it was.
        assert (await alpha.send_message(request)).delivery.state == "answered"
        await machines.alpha.until_heard("Ann", "[From Bob@beta] answer 1")
    assert machines.beta.heard("Bob").count("[From Ann@alpha] hello") == 1


async def test_an_id_that_somebody_elsewhere_was_sent_is_for_nobody_else_there(machines: Machines) -> None:
    bob = machines.beta.start("Bob")
    machines.beta.start("Carl")
    async with machines.services() as (alpha, _):
        await alpha.send_message(SendMessage(to="Bob@beta", text="hello", message_id="m1"))
        for same in ("Bob@beta", f"{bob}@beta"):
            again = await alpha.send_message(SendMessage(to=same, text="hello", message_id="m1"))
            assert again.delivery.pane == "Bob@beta"
        with pytest.raises(UsageError, match="m1 was used for a message to Bob@beta"):
            await alpha.send_message(SendMessage(to="Carl@beta", text="hello", message_id="m1"))
        with pytest.raises(UsageError, match="m1 was used for another text"):
            await alpha.send_message(SendMessage(to="Bob@beta", text="another", message_id="m1"))
        await alpha.send_message(SendMessage(to="Carl@beta", text="hello", message_id="m2"))
        await machines.beta.until_heard("Carl", "hello")
    assert machines.beta.heard("Bob") == ["hello"]


@pytest.mark.requirement("LNK-01c")
async def test_a_caller_that_cannot_be_heard_is_a_warning_elsewhere_too(machines: Machines) -> None:
    machines.beta.start("Bob")
    async with machines.services() as (alpha, _):
        sent = await alpha.send_message(SendMessage(to="Bob@beta", text="hello", caller="%99", direct=True))
        assert "%99 cannot be heard" in sent.warning
        assert sent.link == ""
        await machines.beta.until_heard("Bob", "hello")


@pytest.mark.requirement("NET-02b")
async def test_only_the_name_of_a_peer_is_another_machine(machines: Machines) -> None:
    machines.alpha.start("dev@example")
    machines.beta.start("Bob")
    async with machines.services() as (alpha, _):
        result = await alpha.send_message(SendMessage(to="dev@example", text="hello"))
        assert result.delivery.pane == machines.alpha.panes["dev@example"]
        with pytest.raises(TargetNotFound):
            await alpha.send_message(SendMessage(to="Bob@gamma", text="hello"))


async def test_a_session_that_is_not_there_is_an_error_at_once_or_a_warning_later(
    machines: Machines, caplog: pytest.LogCaptureFixture
) -> None:
    ann = machines.alpha.start("Ann")
    async with machines.services() as (alpha, _):
        with pytest.raises(TargetNotFound, match="beta"):
            await alpha.create_link("Ann", "Nobody@beta")
        with pytest.raises(TargetNotFound, match="beta"):
            await alpha.send_message(SendMessage(to="Nobody@beta", text="hello"))
    async with machines.alpha.as_node() as alpha:
        await until_connected(alpha)
        request = SendMessage(to="Nobody@beta", text="hello", message_id="m1", caller=ann, direct=True)
        result = await alpha.send_message(request)
        assert "beta is unreachable" in result.warning
        assert "No link is made" in result.warning
        async with machines.beta.as_node():

            async def failed() -> bool:
                return (await alpha.get_delivery("m1"))[0].state == "failed"

            await wait_until_async(failed, PATIENCE, "the receipt")
    warnings = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    assert "m1: failed on beta: target_not_found" in warnings


async def test_a_shell_elsewhere_is_not_typed_into(machines: Machines) -> None:
    machines.alpha.start("Ann")
    pane = machines.beta.tmux.new_session("shell", ["/bin/sh"])
    async with machines.services() as (alpha, _):
        with pytest.raises(TargetNotFound, match="shell"):
            await alpha.create_link("Ann", f"{pane}@beta")


async def test_links_with_a_machine_that_is_no_peer_any_more_are_gone(machines: Machines) -> None:
    machines.alpha.start("Ann"), machines.beta.start("Bob")
    async with machines.services() as (alpha, beta):
        link = await alpha.create_link("Ann", "Bob@beta")
        await until_link(beta, link.link_id)
    for machine in (machines.alpha, machines.beta):
        async with machine.as_node(peers=("gamma",)) as service:
            await until_no_link(service)
            assert (await service.send_message(SendMessage(to=next(iter(machine.panes)), text="hello"))).delivery.state
