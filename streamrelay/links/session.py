"""Runs one link between two panes of a server until it is closed."""

import secrets
import time
from collections.abc import Mapping

from streamrelay.errors import StreamrelayError
from streamrelay.events import Event, LinkClosed, LinkSpent, Traffic
from streamrelay.links.link import Link, LinkPolicy, NoticeTexts, Party
from streamrelay.links.logging import note
from streamrelay.links.registry import LinkRegistry
from streamrelay.panes.inventory import PaneInfo
from streamrelay.panes.publisher import Publish, Publisher
from streamrelay.panes.server import Server
from streamrelay.relay.participants import TypingOptions
from streamrelay.relay.rules import Effect
from streamrelay.relay.runner import RelayRunner
from streamrelay.relay.session import check_different, checked_name
from streamrelay.relay.steps import RelayCounts


class LinkSession:
    """One link between panes; the session ids are the pane ids here."""

    def __init__(
        self,
        server: Server,
        a: tuple[str | None, PaneInfo],
        b: tuple[str | None, PaneInfo],
        *,
        policy: LinkPolicy | None = None,
        texts: NoticeTexts | None = None,
        typing: TypingOptions | None = None,
        attended: bool = True,
    ) -> None:
        """Take two `(title, pane)` pairs; a pane without a title gets its tmux session's name.

        Without a person who attends and could extend the link, it closes when its budget is spent and both sides have
        got the notice. Raises ShellRefused if one side is a shell without `allow_shell`, and UsageError if both are the
        same pane or have the same title.
        """
        typing = typing or TypingOptions(writer="link")
        infos = [info for _, info in (a, b)]
        typing.check(infos)
        check_different(title or "" for title, _ in (a, b))
        self._registry = LinkRegistry(texts)
        first, second = (
            Party(info.pane, info.pane, checked_name(title or info.session_name), info.session_name)
            for title, info in (a, b)
        )
        link_id = f"link-{secrets.token_hex(4)}"
        self.link, self._opening = self._registry.create(first, second, link_id=link_id, at=time.time(), policy=policy)
        self.closed: LinkClosed | None = None
        """The event with which the link ended."""
        self._attended = attended
        self._runner = RelayRunner(
            server, self._registry, labels={p.pane: p.title for p in self.link.parties}, typing=typing
        )
        self._infos = infos

    @property
    def counts(self) -> RelayCounts:
        """The counts of the link's relay so far."""
        return self._runner.counts

    @property
    def error(self) -> StreamrelayError | None:
        """The error that ended the link, if one did."""
        return self._runner.error

    @property
    def traffic(self) -> Mapping[str, Traffic]:
        """The traffic of each side so far, by label."""
        link = self.now
        return {} if link is None else link.relay.state.traffic

    @property
    def now(self) -> Link | None:
        """The current state of the link; None when it is closed."""
        return self._registry.between(*self._sessions)

    @property
    def _sessions(self) -> tuple[str, str]:
        a, b = self.link.parties
        return a.session, b.session

    async def run(self, publish: Publish) -> LinkClosed | None:
        """Run the link until it is closed; `publish` gets every event. Return the event with which it ended."""
        onward = Publisher(publish)

        def tell(event: Event) -> None:
            self._note(event)
            onward(event)

        await self._runner.run(self._infos, tell, self._opening)
        return self.closed

    def extend(self, deliveries: int) -> None:
        """Add to the budget, and reopen a spent link."""
        self._runner.decide(lambda now: self._registry.extend(*self._sessions, deliveries, now))

    def close(self, by: str, last_words: str = "") -> None:
        """Close the link for one side (its session) after delivering its last words, and notify the other side."""
        self._runner.decide(lambda _: self._registry.close_link(*self._sessions, by=by, last_words=last_words))

    def toggle_pause(self) -> None:
        """Pause the link, or resume it and deliver the output that waited."""
        self._runner.decide(lambda now: self._registry.pause(now, paused=not self._paused))

    def toggle_mute(self, number: int) -> None:
        """Mute the first or second side, or unmute it."""

        def decide(_now: float) -> list[Effect]:
            link = self.now
            if link is None or number not in {1, 2}:
                return []
            party = link.parties[number - 1]
            return self._registry.mute(party.session, muted=party.pane not in link.relay.state.muted)

        self._runner.decide(decide)

    def stop(self) -> None:
        """End the link for the attending person."""
        self._runner.decide(lambda _: self._registry.close_link(*self._sessions, reason="stopped"))

    @property
    def _paused(self) -> bool:
        link = self.now
        return link is not None and link.relay.state.paused

    def _note(self, event: Event) -> None:
        note(event, self._registry)
        match event:
            case LinkSpent() if not self._attended:
                self._runner.decide(lambda _: self._registry.close_link(*self._sessions, reason="spent"))
            case LinkClosed():
                self.closed = event
            case _:
                pass
