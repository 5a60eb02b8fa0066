"""A link between two panes of one server, at work until it is closed."""

import secrets
import time
from collections.abc import Mapping

from streamrelay.errors import StreamrelayError
from streamrelay.events import Event, LinkClosed, LinkSpent, Traffic
from streamrelay.links.link import Link, Party, Policy, Texts
from streamrelay.links.logging import note
from streamrelay.links.registry import LinkRegistry
from streamrelay.panes.inventory import PaneInfo
from streamrelay.panes.publisher import Publish, Publisher
from streamrelay.panes.server import Server
from streamrelay.relay.participants import TypingOptions
from streamrelay.relay.rules import Effect
from streamrelay.relay.runner import RelayRunner
from streamrelay.relay.session import checked_name
from streamrelay.relay.steps import RelayCounts


class LinkSession:
    """One link; a pane is a session here, and its id the session's."""

    def __init__(
        self,
        server: Server,
        a: tuple[str | None, PaneInfo],
        b: tuple[str | None, PaneInfo],
        *,
        policy: Policy | None = None,
        texts: Texts | None = None,
        typing: TypingOptions | None = None,
        attended: bool = True,
    ) -> None:
        """Take two `(title, pane)` pairs; a pane without a title is known by its tmux session's name.

        Where nobody attends who could extend it, a link that is spent is closed, when both sides have been told.
        Raises ShellRefused when one side is a shell and nobody allowed that, UsageError when both are the same.
        """
        typing = typing or TypingOptions(writer="link")
        infos = [info for _, info in (a, b)]
        typing.check(infos)
        self._registry = LinkRegistry(texts)
        first, second = (
            Party(info.pane, info.pane, checked_name(title or info.session_name), info.session_name)
            for title, info in (a, b)
        )
        link_id = f"link-{secrets.token_hex(4)}"
        self.link, self._opening = self._registry.create(first, second, link_id=link_id, at=time.time(), policy=policy)
        self.closed: LinkClosed | None = None
        """How it ended."""
        self._attended = attended
        self._runner = RelayRunner(
            server, self._registry, labels={p.pane: p.title for p in self.link.parties}, typing=typing
        )
        self._infos = infos

    @property
    def counts(self) -> RelayCounts:
        """What was done so far."""
        return self._runner.counts

    @property
    def error(self) -> StreamrelayError | None:
        """What ended the link, where that was not meant."""
        return self._runner.error

    @property
    def traffic(self) -> Mapping[str, Traffic]:
        """What it cost each side so far, by label."""
        link = self.now
        return {} if link is None else link.relay.standing.traffic

    @property
    def now(self) -> Link | None:
        """The link as it stands; None when it is closed."""
        return self._registry.between(*self._sessions)

    @property
    def _sessions(self) -> tuple[str, str]:
        a, b = self.link.parties
        return a.session, b.session

    async def run(self, publish: Publish) -> LinkClosed | None:
        """Link until the link is closed; every event goes to `publish`. Returns how it ended."""
        onward = Publisher(publish)

        def tell(event: Event) -> None:
            self._note(event)
            onward(event)

        await self._runner.run(self._infos, tell, self._opening)
        return self.closed

    def extend(self, deliveries: int) -> None:
        """Add to the budget, and open the link if it is spent."""
        self._runner.decide(lambda now: self._registry.extend(*self._sessions, deliveries, now))

    def close(self, by: str, last_words: str = "") -> None:
        """Close it for one of the sides (its session), which says a last thing; the other one is told."""
        self._runner.decide(lambda _: self._registry.sever(*self._sessions, by=by, last_words=last_words))

    def toggle_pause(self) -> None:
        """Let nothing cross until this is called again; what is said meanwhile crosses then."""
        self._runner.decide(lambda now: self._registry.pause(now, paused=not self._paused))

    def toggle_mute(self, number: int) -> None:
        """Let nothing of what the first or second side says cross, or let it cross again."""

        def decide(_now: float) -> list[Effect]:
            link = self.now
            if link is None or number not in {1, 2}:
                return []
            party = link.parties[number - 1]
            return self._registry.mute(party.session, muted=party.pane not in link.relay.standing.muted)

        self._runner.decide(decide)

    def stop(self) -> None:
        """End the link for the person who attends it."""
        self._runner.decide(lambda _: self._registry.sever(*self._sessions, reason="stopped"))

    @property
    def _paused(self) -> bool:
        link = self.now
        return link is not None and link.relay.standing.paused

    def _note(self, event: Event) -> None:
        note(event, self._registry)
        match event:
            case LinkSpent() if not self._attended:
                self._runner.decide(lambda _: self._registry.sever(*self._sessions, reason="spent"))
            case LinkClosed():
                self.closed = event
            case _:
                pass
