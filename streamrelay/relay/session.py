"""A relay between panes of one server: its participants and the user's controls."""

import secrets
from collections.abc import Iterable, Mapping, Sequence

from streamrelay.delivery.message import DeliveryPolicy
from streamrelay.delivery.outbox import Outbox
from streamrelay.delivery.writer import READ_TIMEOUT
from streamrelay.errors import StreamrelayError, UsageError
from streamrelay.events import RelayClosed, RelayOpened, Traffic
from streamrelay.panes.inventory import PaneInfo
from streamrelay.panes.publisher import Publish, Publisher
from streamrelay.panes.server import Server
from streamrelay.relay.machine import RelayMachine
from streamrelay.relay.participants import TypingOptions
from streamrelay.relay.rules import Effect, Participant, PublishEvent, Rules
from streamrelay.relay.runner import RelayRunner
from streamrelay.relay.steps import RelayCounts


class RelaySession:
    """One relay between panes of one server."""

    def __init__(
        self,
        server: Server,
        participants: Sequence[tuple[str | None, PaneInfo]],
        *,
        allow_shell: bool = False,
        budget: int = 0,
        rules: Rules | None = None,
        read_timeout: float = READ_TIMEOUT,
        policy: DeliveryPolicy | None = None,
        outbox: Outbox | None = None,
    ) -> None:
        """Take `(name, pane)` pairs; a pane without a name gets its session's name, and numbers follow the order.

        `budget` is the number of deliveries after which the relay ends, 0 for none; `rules` are all of its rules, and
        the budget is one of them. With an `outbox` what is said outlives this process until it is delivered. Raises
        ShellRefused for a shell without `allow_shell`, and UsageError for equal names or panes.
        """
        typing = TypingOptions(allow_shell, read_timeout, policy, outbox)
        infos = [info for _, info in participants]
        typing.check(infos)
        self.relay_id = f"relay-{secrets.token_hex(4)}"
        self._machine = RelayMachine(self.relay_id, _named(participants), rules or Rules(budget=budget))
        labels = {participant.pane: participant.label for participant in self._machine.participants}
        self._runner = RelayRunner(server, self._machine, labels=labels, typing=typing)
        self._infos = infos

    @property
    def counts(self) -> RelayCounts:
        """The relay's counters."""
        return self._runner.counts

    @property
    def error(self) -> StreamrelayError | None:
        """The error that ended the relay; None after a normal end."""
        return self._runner.error

    @property
    def traffic(self) -> Mapping[str, Traffic]:
        """Each participant's traffic so far, by label."""
        return self._machine.state.traffic

    @property
    def is_stopped(self) -> bool:
        """Whether the user stopped the relay."""
        return self._runner.reason == "stopped"

    @property
    def participants(self) -> tuple[Participant, ...]:
        """The participants, including those that have left."""
        return self._machine.participants

    async def run(self, publish: Publish) -> RelayClosed:
        """Run the relay to its end and pass each of its events to `publish`; return the last event."""
        publish = Publisher(publish)
        labels = tuple(participant.label for participant in self._machine.participants)
        await self._runner.run(
            self._infos, publish, [PublishEvent(RelayOpened(relay=self.relay_id, participants=labels))]
        )
        reason = self._runner.reason if self.error is None else self.error.code
        closed = RelayClosed(
            relay=self.relay_id,
            reason=reason,
            deliveries=self._machine.deliveries,
            traffic=self._machine.state.traffic,
        )
        publish(closed)
        return closed

    def toggle_pause(self) -> None:
        """Pause or resume the relay; output that arrives during the pause goes out after it."""
        self._runner.decide(lambda now: self._machine.pause(now, paused=not self._machine.state.paused))

    def toggle_mute(self, number: int) -> None:
        """Mute or unmute the participant with this number."""

        def decide(_now: float) -> list[Effect]:
            panes = [participant.pane for participant in self._machine.participants if participant.number == number]
            muted = self._machine.state.muted
            return [effect for pane in panes for effect in self._machine.mute(pane, muted=pane not in muted)]

        self._runner.decide(decide)

    def stop(self) -> None:
        """End the relay."""
        self._runner.decide(lambda _: self._machine.close())


def checked_name(name: str) -> str:
    """Return a valid participant name; raises UsageError for an invalid one."""
    if not name.strip() or len(name) > 64 or any(character < " " or character in "()" for character in name):
        raise UsageError(
            f"invalid participant name: {name!r}",
            hint="use 1 to 64 characters without parentheses and control characters",
        )
    return name


def check_different(names: Iterable[str]) -> None:
    """Raise UsageError for two participants with one name, in upper or lower case; empty names are left out."""
    taken = set[str]()
    for name in filter(None, names):
        if name.casefold() in taken:
            raise UsageError(
                f"two participants have the name {name}",
                hint="the name identifies a participant; give each a different one",
                data={"fault": "duplicate_name", "name": name},
            )
        taken.add(name.casefold())


def _named(participants: Sequence[tuple[str | None, PaneInfo]]) -> list[Participant]:
    check_different(name or "" for name, _ in participants)
    names = [checked_name(name or info.session_name) for name, info in participants]
    return [
        Participant(
            info.session,
            info.pane,
            name if given or names.count(name) == 1 else info.address,
            number,
            info.session_name,
        )
        for number, (name, (given, info)) in enumerate(zip(names, participants, strict=True), 1)
    ]
