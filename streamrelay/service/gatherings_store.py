"""The gatherings of one service: those in progress, and the latest finished ones. Pure.

The store keeps a transcript entry by entry as it grows, and writes the rest of a gathering again after each change.
"""

from collections.abc import Mapping
from typing import Self

import msgspec

from streamrelay.errors import InGathering, TargetNotFound
from streamrelay.events import Event
from streamrelay.gathering.circle import Circle, StoredCircle
from streamrelay.gathering.prompts import PromptTexts
from streamrelay.gathering.state import RecordEntry
from streamrelay.relay.registry import SessionAssignments
from streamrelay.relay.rules import Effect

GATHERING = "gathering/"
PAST_KEPT = 50
"""The number of finished gatherings that stay available."""


class GatheringsStore:
    """Gatherings by their ids, oldest first."""

    def __init__(self, seats: SessionAssignments) -> None:
        """Take the session assignments, which include the members of every gathering in progress."""
        self.all: dict[str, Circle] = {}
        self._seats = seats
        self._changed: set[str] = set()
        self._forgotten: dict[str, int] = {}
        self._written: dict[str, int] = {}

    @classmethod
    def restored(
        cls, kept: Mapping[str, bytes], seats: SessionAssignments, texts: PromptTexts, now: float, life: str = ""
    ) -> Self:
        """Restore from the kept values, with the prompts `texts` and a clock that shows `now`.

        The messages have a life of their own (`streamrelay.relay.message_ids`).
        """
        circles = cls(seats)
        states: dict[str, StoredCircle] = {}
        records: dict[str, list[RecordEntry]] = {}
        # The keys are sorted: an entry's key follows its gathering's.
        for key, value in sorted(kept.items()):
            if not key.startswith(GATHERING):
                continue
            gathering_id, is_entry, _ = key.removeprefix(GATHERING).partition("/")
            if is_entry:
                records.setdefault(gathering_id, []).append(msgspec.json.decode(value, type=RecordEntry))
            else:
                states[gathering_id] = msgspec.json.decode(value, type=StoredCircle)
        for gathering_id, stored in sorted(states.items(), key=lambda one: one[1].started_at):
            record = records.get(gathering_id, [])
            circle = circles.all[gathering_id] = Circle.restored(stored, record, texts, now, life)
            circles._written[gathering_id] = len(record)
            if not circle.closed:
                seats.take(gathering_id, [seat.session for seat in circle.present])
        return circles

    def changes(self) -> dict[str, bytes | None]:
        """Return the values changed since the last call, by key; None for a deleted one."""
        changes: dict[str, bytes | None] = {}
        for gathering_id, entries in self._forgotten.items():
            changes[GATHERING + gathering_id] = None
            changes |= dict.fromkeys(_entry_key(gathering_id, number) for number in range(entries))
        for gathering_id in self._changed - self._forgotten.keys():
            circle = self.all[gathering_id]
            changes[GATHERING + gathering_id] = msgspec.json.encode(circle.stored())
            written, record = self._written.get(gathering_id, 0), circle.ceremony.record
            for number in range(written, len(record)):
                changes[_entry_key(gathering_id, number)] = msgspec.json.encode(record[number])
            self._written[gathering_id] = len(record)
        self._changed.clear()
        self._forgotten.clear()
        return changes

    # Which there are

    @property
    def held(self) -> list[Circle]:
        """The gatherings in progress."""
        return [circle for circle in self.all.values() if not circle.closed]

    @property
    def unsettled(self) -> list[Circle]:
        """The finished gatherings whose export or cleanup is not done yet."""
        return [circle for circle in self.all.values() if circle.closed and not circle.settled]

    @property
    def panes(self) -> set[str]:
        """The panes that must be observed."""
        return {seat.pane for circle in self.held for seat in circle.present}

    def found(self, gathering_id: str) -> Circle:
        """Return a gathering by its id; raises TargetNotFound for an unknown id."""
        circle = self.all.get(gathering_id)
        if circle is None:
            raise TargetNotFound(f"there is no gathering {gathering_id}", hint="`streamrelay gather status` lists them")
        return circle

    def of(self, session: str) -> Circle | None:
        """Return the gathering that a session takes part in now."""
        gathering_id = self._seats.relay_of(session) or ""
        circle = self.all.get(gathering_id)
        return None if circle is None or circle.closed else circle

    def last_of(self, rhythm: str) -> Circle | None:
        """Return the latest finished gathering of a rhythm that has a harvest."""
        past = [circle for circle in self.all.values() if circle.closed and circle.ceremony.plan.rhythm == rhythm]
        return next((one for one in reversed(past) if any(e.kind == "harvest" for e in one.ceremony.record)), None)

    def check_may_send(self, session: str, *, to: bool) -> None:
        """Raise InGathering if a session takes part in a gathering; it sends a message, or receives one (`to`)."""
        gathering_id = self._seats.relay_of(session) or ""
        if (circle := self.of(session)) is None:
            if gathering_id.startswith("gathering-"):
                raise InGathering(
                    f"session {session} takes part in {gathering_id}, which another machine keeps: there everything "
                    "goes by the talking piece, and a message beside it is not sent",
                    hint="wait until it is closed" if to else "speak when the piece comes to you: all hear it then",
                    data={"session": session, "gathering": gathering_id},
                )
            return
        name = next(seat.name for seat in circle.seats.values() if seat.session == session)
        who = f"{name} takes part" if to else "you take part"
        raise InGathering(
            f"{who} in the gathering {circle.gathering_id}: there everything goes by the talking piece, and a message "
            "beside it is not sent",
            hint="wait until it is closed" if to else "speak when the piece comes to you: all hear it then",
            data={"session": session, "gathering": circle.gathering_id},
        )

    # What happens

    def add(self, circle: Circle) -> None:
        """Add a gathering; raises SessionTaken if one of its sessions is in another relay or gathering."""
        self._seats.take(circle.gathering_id, [seat.session for seat in circle.seats.values() if seat.session])
        self.all[circle.gathering_id] = circle
        self._changed.add(circle.gathering_id)

    def touch(self, circle: Circle) -> None:
        """Mark a gathering as possibly changed."""
        self._changed.add(circle.gathering_id)

    def with_pane(self, pane: str) -> list[Circle]:
        """Return the gatherings that observe a pane."""
        return [circle for circle in self.held if circle.has(pane)]

    def handle(self, event: Event, now: float) -> list[tuple[Circle, list[Effect]]]:
        """Take an event of a pane; return the effects of each gathering."""
        return [(circle, circle.handle(event, now)) for circle in self.held if circle.concerns(event)]

    def deadline(self) -> float | None:
        """Return when `advance` is due; None without a pending deadline."""
        return min((due for circle in self.held if (due := circle.deadline()) is not None), default=None)

    def advance(self, now: float) -> list[tuple[Circle, list[Effect]]]:
        """Let time pass."""
        due = [circle for circle in self.held if (at := circle.deadline()) is not None and at <= now]
        return [(circle, circle.advance(now)) for circle in due]

    def forget_old(self) -> None:
        """Drop finished gatherings beyond the latest `PAST_KEPT`."""
        past = [gathering_id for gathering_id, circle in self.all.items() if circle.closed and circle.settled]
        for gathering_id in past[: max(0, len(past) - PAST_KEPT)]:
            del self.all[gathering_id]
            self._forgotten[gathering_id] = self._written.pop(gathering_id, 0)


def _entry_key(gathering_id: str, number: int) -> str:
    return f"{GATHERING}{gathering_id}/{number:06d}"
