"""A relay between panes of one server: its participants, and what people decide while it runs."""

import secrets
from collections.abc import Mapping, Sequence

from streamrelay.delivery.message import Policy
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
        policy: Policy | None = None,
        outbox: Outbox | None = None,
    ) -> None:
        """Take `(name, pane)` pairs; a pane without a name is known by its session's, numbers follow the order.

        `budget` is the number of deliveries after which the relay ends, 0 for none; `rules` are all of its rules, and
        the budget is one of them. With an `outbox` what is said outlives this process until it is delivered. Raises
        ShellRefused when a shell takes part and nobody allowed that, UsageError when names or panes are not different.
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
        """What was done so far."""
        return self._runner.counts

    @property
    def error(self) -> StreamrelayError | None:
        """What ended the relay, where that was not meant."""
        return self._runner.error

    @property
    def traffic(self) -> Mapping[str, Traffic]:
        """What it cost each participant so far, by label."""
        return self._machine.standing.traffic

    @property
    def is_stopped(self) -> bool:
        """Whether a person has stopped it."""
        return self._runner.reason == "stopped"

    @property
    def participants(self) -> tuple[Participant, ...]:
        """Who takes part, those who have left included."""
        return self._machine.participants

    async def run(self, publish: Publish) -> RelayClosed:
        """Relay until the relay ends; every event of the relay goes to `publish`. Returns how it ended."""
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
            traffic=self._machine.standing.traffic,
        )
        publish(closed)
        return closed

    def toggle_pause(self) -> None:
        """Pause the relay, or let it go on; what is said into a pause goes out after it."""
        self._runner.decide(lambda now: self._machine.pause(now, paused=not self._machine.standing.paused))

    def toggle_mute(self, number: int) -> None:
        """Mute the participant with this number, or let it be heard again."""

        def decide(_now: float) -> list[Effect]:
            panes = [participant.pane for participant in self._machine.participants if participant.number == number]
            muted = self._machine.standing.muted
            return [effect for pane in panes for effect in self._machine.mute(pane, muted=pane not in muted)]

        self._runner.decide(decide)

    def stop(self) -> None:
        """End the relay."""
        self._runner.decide(lambda _: self._machine.close())


def checked_name(name: str) -> str:
    """Return a name that can be shown to listeners; raises UsageError for one that cannot."""
    if not name.strip() or len(name) > 64 or any(character < " " or character in "()" for character in name):
        raise UsageError(
            f"{name!r} is no name for a participant", hint="a name has no parentheses and no control characters"
        )
    return name


def _named(participants: Sequence[tuple[str | None, PaneInfo]]) -> list[Participant]:
    names = [checked_name(name or info.session_name) for name, info in participants]
    return [
        Participant(
            info.session, info.pane, name if names.count(name) == 1 else info.address, number, info.session_name
        )
        for number, (name, (_, info)) in enumerate(zip(names, participants, strict=True), 1)
    ]
