"""A link between scripted agents on real panes: what they really got, to the last word of the link."""

import asyncio
import logging
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

import streamrelay
from streamrelay.agents import parse_profile
from streamrelay.errors import PaneGone, ShellRefused, UsageError
from streamrelay.events import Event, LinkClosed, LinkCreated, LinkExtended, LinkSpent, RelayDelivered, RelayWithheld
from streamrelay.links.link import LinkPolicy
from streamrelay.links.session import LinkSession
from streamrelay.relay.participants import TypingOptions
from streamrelay.testing.agent import PROFILE, read_got
from streamrelay.testing.tmux import PrivateTmux
from streamrelay.testing.waiting import wait_until_async

pytestmark = pytest.mark.smoke

PATIENCE = 40.0


class Linked:
    """Two scripted agents, Ann and Bob, and the link between them."""

    def __init__(self, tmux: PrivateTmux, folder: Path) -> None:
        self.tmux = tmux
        self._folder = folder
        self.panes: dict[str, str] = {}
        self.events: list[Event] = []
        self.session: LinkSession
        self.running: asyncio.Future[LinkClosed | None]

    async def start(self, name: str, *options: str) -> None:
        log = self._folder / name
        words = [sys.executable, "-m", "streamrelay.testing.agent", "--log", str(log), "--works", "0.2", *options]
        self.panes[name] = self.tmux.new_session(name, words, columns=100, lines=40)
        await wait_until_async(lambda: any(got.kind == "ready" for got in read_got(log)), PATIENCE)

    def heard(self, name: str) -> list[str]:
        return [got.text for got in read_got(self._folder / name) if got.kind == "message"]

    def types(self, name: str, text: str) -> None:
        self.tmux.run("send-keys", "-l", "-t", self.panes[name], text)
        self.tmux.run("send-keys", "-t", self.panes[name], "Enter")

    def of(self, kind: type[Event]) -> list[Event]:
        return [event for event in self.events if isinstance(event, kind)]

    async def until(self, predicate: Callable[[], object], message: str) -> None:
        await wait_until_async(lambda: predicate() or self.running.done(), PATIENCE, message)
        assert predicate(), f"{message}: {self.session.error}"

    @asynccontextmanager
    async def link(self, policy: LinkPolicy) -> AsyncIterator[LinkSession]:
        sprite = parse_profile("sprite", PROFILE, source="sprite.toml")
        async with streamrelay.connect(
            tmux=self.tmux.binary, socket_path=self.tmux.socket_path, profiles=[sprite]
        ) as server:
            first, second = [(name, await server.find(pane)) for name, pane in self.panes.items()]
            self.session = LinkSession(server, first, second, policy=policy)
            self.running = asyncio.ensure_future(self.session.run(self.events.append))
            try:
                await self.until(lambda: self.of(LinkCreated), "the link")
                yield self.session
            finally:
                self.running.cancel()
                await asyncio.gather(self.running, return_exceptions=True)


@pytest.fixture
def linked(private_tmux: PrivateTmux, tmp_path: Path) -> Linked:
    return Linked(private_tmux, tmp_path)


@pytest.mark.requirement("LNK-01d", "LNK-02", "LNK-03", "LNK-05a")
async def test_a_budget_is_spent_extended_and_the_link_closed_by_one_side(linked, caplog):
    caplog.set_level(logging.DEBUG, "streamrelay.links")
    await linked.start("Ann")
    await linked.start("Bob")
    async with linked.link(LinkPolicy(budget=3)) as session:
        linked.types("Ann", "begin")
        await linked.until(lambda: linked.of(LinkSpent), "the budget to be spent")
        await linked.until(
            lambda: all(any("is spent" in text for text in linked.heard(name)) for name in ("Ann", "Bob")),
            "both to be told",
        )
        assert len(linked.of(RelayDelivered)) == 3
        assert linked.heard("Bob")[0] == "[From Ann] answer 1"
        assert linked.heard("Ann")[1] == "[From Bob] answer 1"
        assert session.now.state == "spent"
        assert {label: side.sent for label, side in session.traffic.items()} == {"Ann (1)": 2, "Bob (2)": 1}
        assert session.counts.deliveries == 3

        session.extend(2)
        await linked.until(lambda: len(linked.of(LinkSpent)) == 2, "the budget to be spent again")
        assert [event.budget for event in linked.of(LinkExtended)] == [5]
        assert [event.message_id[-2:] for event in linked.of(RelayDelivered)] == ["-1", "-2", "-3", "-4", "-5"]

        session.close(by=linked.panes["Bob"], last_words="Goodbye.")
        closed = await asyncio.wait_for(linked.running, PATIENCE)
        assert (closed.reason, closed.by, closed.deliveries) == ("closed", linked.panes["Bob"], 5)
        await linked_heard(linked, "Ann", "[From Bob] Goodbye.")
        await linked_heard(linked, "Ann", "Bob has closed the link")
        assert closed.traffic["Ann (1)"].sent + closed.traffic["Bob (2)"].sent == 5
        assert session.traffic == {}
    created, titles, *delivered = [record for record in caplog.records if record.name == "streamrelay.links.logging"]
    panes = linked.panes["Ann"], linked.panes["Bob"]
    assert (created.levelno, created.getMessage().split(" ", 1)[1]) == (
        logging.INFO,
        "links {} and {}, budget 3".format(*panes),
    )
    assert (titles.levelno, titles.getMessage().split(": ", 1)[1]) == (logging.DEBUG, "the titles are 'Ann' and 'Bob'")
    assert delivered[0].levelno == logging.DEBUG
    assert "delivery 1, 2 left" in delivered[0].getMessage()
    assert not any("answer" in record.getMessage() for record in caplog.records)


async def linked_heard(linked: Linked, name: str, words: str) -> None:
    await wait_until_async(lambda: any(words in text for text in linked.heard(name)), PATIENCE, words)


@pytest.mark.requirement("LNK-04")
async def test_a_checkpoint_does_not_cross_and_the_survivor_of_two_is_told(linked):
    await linked.start("Ann", "--answer", "[checkpoint] saved")
    await linked.start("Bob")
    async with linked.link(LinkPolicy()) as session:
        linked.types("Ann", "save yourself")
        await linked.until(lambda: linked.of(RelayWithheld), "the checkpoint to be noticed")
        assert [event.reason for event in linked.of(RelayWithheld)] == ["checkpoint"]
        assert session.now.deliveries == 0
        linked.tmux.run("kill-pane", "-t", linked.panes["Ann"])
        closed = await asyncio.wait_for(linked.running, PATIENCE)
    assert closed.by == linked.panes["Ann"]
    assert closed.reason in {"pane_gone", "session_gone"}
    assert isinstance(session.error, PaneGone)
    assert linked.of(RelayDelivered) == []
    await linked_heard(linked, "Bob", "[streamrelay] Ann has ended, and the link with it.")
    assert linked.heard("Bob") == ["[streamrelay] Ann has ended, and the link with it. No answer is needed."]


@pytest.mark.requirement("REL-05b")
async def test_two_polite_agents_come_to_rest(linked):
    await linked.start("Ann", "--answer", "Thanks, and have a great day!")
    await linked.start("Bob", "--answer", "You are welcome.")
    async with linked.link(LinkPolicy(budget=0)):
        linked.types("Ann", "thank Bob")
        await linked.until(lambda: linked.of(RelayWithheld), "the dampener")
    (withheld,) = linked.of(RelayWithheld)
    assert withheld.reason == "acknowledgement"
    assert "turn 3 in a row" in withheld.why
    # Whether the person's word is read before or after the answer to it, two go out behind it.
    assert len(linked.of(RelayDelivered)) in {2, 3}


async def test_a_muted_side_is_not_heard_until_it_is_unmuted(linked):
    await linked.start("Ann")
    await linked.start("Bob")
    async with linked.link(LinkPolicy(budget=1)) as session:
        session.toggle_mute(2)
        await linked.until(lambda: [*session.now.relay.state.muted] == [linked.panes["Bob"]], "the mute")
        linked.types("Bob", "begin")
        await linked.until(lambda: linked.of(RelayWithheld), "the output of a muted side")
        assert [(event.speaker, event.reason) for event in linked.of(RelayWithheld)] == [("Bob (2)", "muted")]
        assert linked.of(RelayDelivered) == []
        session.toggle_mute(2)
        await linked.until(lambda: not session.now.relay.state.muted, "the end of the mute")
        linked.types("Bob", "again")
        await linked.until(lambda: linked.heard("Ann"), "its next output")
        assert linked.heard("Ann")[0] == "[From Bob] answer 2"


async def test_what_cannot_be_linked_is_refused_before_anything_is_done(private_tmux):
    one = private_tmux.new_session("one", ["cat"])
    shell = private_tmux.new_session("shell", ["sh"])
    async with streamrelay.connect(tmux=private_tmux.binary, socket_path=private_tmux.socket_path) as server:
        cat, sh = await server.find(one), await server.find(shell)
        with pytest.raises(ShellRefused):
            LinkSession(server, (None, cat), (None, sh))
        with pytest.raises(UsageError):
            LinkSession(server, (None, cat), (None, cat))
        with pytest.raises(UsageError):
            LinkSession(server, ("a\nb", cat), (None, sh), typing=TypingOptions(allow_shell=True))
