"""The relays of one service; pure."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Self

import msgspec

from streamrelay.errors import TargetNotFound
from streamrelay.events import RelayClosed
from streamrelay.relay.machine import RelayMachine
from streamrelay.relay.registry import SessionAssignments
from streamrelay.relay.rules import Close, Effect, Participant, PublishEvent, Rules, StoredRelay

RELAY = "relay/"


class Relays:
    """Relays by their ids."""

    def __init__(self, seats: SessionAssignments) -> None:
        """Take the session assignments, which include the participants of each relay until they leave."""
        self.all: dict[str, RelayMachine] = {}
        self._seats = seats
        self._changed: set[str] = set()

    @classmethod
    def restored(cls, kept: Mapping[str, bytes], seats: SessionAssignments, life: str = "") -> Self:
        """Restore from the kept values, in a life of its own (`streamrelay.relay.message_ids`)."""
        relays = cls(seats)
        for key, value in kept.items():
            if key.startswith(RELAY):
                relay = RelayMachine.restored(msgspec.json.decode(value, type=StoredRelay), life)
                relays.all[relay.relay_id] = relay
                seats.take(relay.relay_id, [participant.session for participant in _there(relay)])
        return relays

    def changes(self) -> dict[str, bytes | None]:
        """Return the values changed since the last call, by key; None for a deleted one."""
        changed, self._changed = self._changed, set()
        now = {relay_id: self.all.get(relay_id) for relay_id in changed}
        return {
            RELAY + one: None if relay is None else msgspec.json.encode(relay.stored()) for one, relay in now.items()
        }

    @property
    def present(self) -> list[Participant]:
        """The participants of all relays."""
        return [participant for relay in self.all.values() for participant in _there(relay)]

    def found(self, relay_id: str) -> RelayMachine:
        """Return a relay by its id; raises TargetNotFound for an unknown id."""
        if relay_id not in self.all:
            raise TargetNotFound(f"there is no relay {relay_id}")
        return self.all[relay_id]

    def with_pane(self, pane: str) -> list[RelayMachine]:
        """Return the relays that a pane is or was in."""
        return [relay for relay in self.all.values() if any(p.pane == pane for p in relay.participants)]

    def open(self, relay_id: str, participants: Sequence[Participant], rules: Rules) -> RelayMachine:
        """Open a relay; raises SessionTaken for a session in another one, and UsageError for invalid participants."""
        relay = RelayMachine(relay_id, participants, rules)
        self._seats.take(relay_id, [participant.session for participant in participants])
        self.all[relay_id] = relay
        self._changed.add(relay_id)
        return relay

    def follow(self, relay: RelayMachine, effects: Iterable[Effect]) -> tuple[list[Effect], list[str]]:
        """Return a relay's effects with their consequences, and the sessions that have left it."""
        self._changed.add(relay.relay_id)
        result: list[Effect] = []
        for effect in effects:
            if isinstance(effect, Close):
                closed = RelayClosed(
                    relay=relay.relay_id,
                    reason=effect.reason,
                    deliveries=effect.deliveries,
                    traffic=relay.state.traffic,
                )
                result.append(PublishEvent(closed))
            else:
                result.append(effect)
        staying = set() if relay.closed else {participant.session for participant in _there(relay)}
        left = [session for session in self._seats.sessions_of(relay.relay_id) if session not in staying]
        for session in left:
            self._seats.leave(session)
        if relay.closed:
            self.all.pop(relay.relay_id, None)
        return result, left


def _there(relay: RelayMachine) -> list[Participant]:
    return [participant for participant in relay.participants if participant.pane not in relay.state.gone]
