"""What goes to one peer and what comes from there: each thing once, in order, whatever is lost or comes twice. Pure.

It is what TCP does, over weeks and deaths. What is posted is numbered and waits here, on disk too, until the *other
node* says that it is safe there; that a stream has it is no proof, for a server may lose what it had not written to its
disk. What comes is taken if it is the next one, known if it was taken before, and early if one before it is missing:
then the sender sends again from there.

A number is good for one series (`epoch`). A node whose state is lost begins a later series, which is followed from its
first envelope on; an envelope of an earlier series is an old one. A receiver that lost its state starts at `first`, the
lowest number that is not acknowledged yet.

A loss of power undoes the last commits of a node, which its peer may know already. A *life* is one run of a node's
process. Each envelope names the sender's life and the last number given before it, and the same of each earlier life
that is not acknowledged. Numbers above that are new messages when they come from a new life, although the receiver had
taken such numbers before; envelopes of a past life are old ones. What a receiver lost after it had acknowledged it, its
sender has no more: the receiver counts it as `lost`.

A receiver does not take what exceeds its sender's allowance (`streamrelay.federation.allowance`), and says how long to
wait.
"""

from collections import deque
from collections.abc import Mapping
from typing import Literal, Self

import msgspec

from streamrelay.federation.allowance import MAX_WAIT
from streamrelay.federation.envelope import Envelope
from streamrelay.federation.messages import Ack

WINDOW = 256
"""Envelopes that may be under way at a time; the others wait in order."""
PATIENCE, MAX_TIMEOUT = 3.0, 60.0
"""Seconds after which unacknowledged envelopes are sent again: the first time, and at most."""
MAX_UNACKNOWLEDGED = WINDOW // 4
"""Envelopes that are acknowledged together at most; fewer wait for `ACK_DELAY`, or for other traffic that way."""
ACK_DELAY = 0.02
"""Seconds for which an acknowledgement may wait: each costs two writes to the broker's disk."""

Verdict = Literal["new", "known", "early", "slowed"]
"""What an envelope is: the next one, one that was taken before, one after a missing one, or the next one too soon."""


class ChannelState(msgspec.Struct):
    """How it stands, as it is kept."""

    epoch: int
    last: int = 0
    """The number given last."""
    their_epoch: int = 0
    received: int = 0
    """The last number of theirs that is safe here."""
    their_life: int = 0
    """The life of theirs that it came from, or a later one."""
    lives: tuple[tuple[int, int], ...] = ()
    """The lives of this node that the other one may not know, with the number given last when each began."""


class Channel:
    """One pair of nodes, seen from one of them."""

    def __init__(self, here: str, peer: str, state: ChannelState, *, life: int = 0) -> None:
        """`life` is higher in each process of this node."""
        self.peer = peer
        self.state = state
        self.lost = 0
        """How many of their messages were acknowledged here and are gone, because later commits were undone."""
        self._here = here
        # A life in which nothing was given makes no difference to what the other node may forget.
        known = tuple(one for one in state.lives if one[1] != state.last)
        self._life = max([life, *(earlier + 1 for earlier, _ in state.lives)])
        self._lives = (*known, (self._life, state.last))
        self._waiting: deque[tuple[int, bytes]] = deque()
        self._ready = state.last
        """The last number that is kept, and may be sent."""
        self._sent = state.last
        """The last number that is on its way."""
        self._patience = PATIENCE
        self._since: float | None = None
        """When something was sent or acknowledged last, while something is under way."""
        self._safe = self._taken
        """What is committed of theirs: series, life and last number."""
        self._unacknowledged = 0
        """Envelopes that came since the last acknowledgement."""
        self._came = state.their_epoch
        """The series of the envelope that came last."""
        self._came_in_life = state.their_life
        """The life that it came from."""
        self._is_missing = False
        """Whether one of them was early."""
        self._slow = 0.0
        """Seconds that the sender has to wait, because one of them exceeds its allowance."""
        self._limit = ""
        self.limit = ""
        """The limit for which what waits here waits, as the peer says; empty for none."""
        self._not_before = float("-inf")
        """When more may be sent."""
        self._window = WINDOW
        self._owed_since: float | None = None
        """When the present acknowledgement was first asked for."""

    @classmethod
    def restored(
        cls, here: str, peer: str, state: ChannelState, waiting: Mapping[int, bytes], *, life: int = 0
    ) -> Self:
        """Go on with what was kept: what waits is sent, whether or not it was."""
        channel = cls(here, peer, state, life=life)
        channel._waiting.extend(sorted(waiting.items()))
        channel._sent = channel._first - 1
        return channel

    @property
    def _first(self) -> int:
        return self._waiting[0][0] if self._waiting else self.state.last + 1

    @property
    def _taken(self) -> tuple[int, int, int]:
        return self.state.their_epoch, self.state.their_life, self.state.received

    @property
    def waiting(self) -> int:
        """How much is not known to be safe there."""
        return len(self._waiting)

    @property
    def first_waiting(self) -> int:
        """The lowest number that is not known to be safe there; the next one to be given where nothing waits."""
        return self._first

    @property
    def waiting_bodies(self) -> list[bytes]:
        """What is not known to be safe there, oldest first."""
        return [body for _, body in self._waiting]

    # What goes there

    def post(self, body: bytes) -> int:
        """Give something its number; it is sent when it is `kept`."""
        self.state.last += 1
        self.state.lives = self._lives
        self._waiting.append((self.state.last, body))
        return self.state.last

    def kept(self) -> None:
        """Know that all that was posted and taken would be there after a death."""
        self._ready = self.state.last
        self._safe = self._taken

    def sendable(self, now: float) -> list[Envelope]:
        """Return what is to be sent now; it counts as sent."""
        if now < self._not_before or self._sent >= min(self._ready, self._first + self._window - 1):
            return []
        first, last = self._first, min(self._ready, self._first + self._window - 1)
        # What was acknowledged meanwhile need not be sent, and numbers have no holes.
        after = max(self._sent, first - 1)
        due = [self._waiting[number - first] for number in range(after + 1, last + 1)]
        self._sent = last
        self._since = now
        return [
            Envelope(
                sender=self._here,
                to=self.peer,
                epoch=self.state.epoch,
                number=number,
                first=first,
                life=self._life,
                lives=self._lives,
                body=msgspec.Raw(body),
            )
            for number, body in due
        ]

    def acknowledge(self, ack: Ack, now: float) -> list[int]:
        """Take what they say is safe; return the numbers that are done with.

        Where they say to slow down, half as much is sent at a time, and twice as much again when all of that is taken.
        """
        if ack.epoch != self.state.epoch:
            return []
        if ack.life != self._life:
            if ack.life > self._life:
                # They know a later life: the clock here went back since, and they take what is sent now for older.
                self._life = ack.life + 1
                self._lives = (*self._lives[:-1], (self._life, self._lives[-1][1]))
                self.send_again()
            return []
        self._lives = self._lives[-1:]
        done = []
        while self._waiting and self._waiting[0][0] <= min(ack.up_to, self._sent):
            done.append(self._waiting.popleft()[0])
        if done:
            self._patience, self._since = PATIENCE, now
        if ack.missing or ack.slow:
            self._sent = min(self._sent, max(ack.up_to, self._first - 1))
        if ack.slow:
            self._window = max(self._window // 2, 1) if now >= self._not_before else self._window
            self._not_before, self.limit = now + min(ack.slow, MAX_WAIT), ack.limit
        elif done and self._sent < self._first and self.limit:
            self._window = min(2 * self._window, WINDOW)
            self.limit = self.limit if self._waiting else ""
        return done

    def send_again(self) -> None:
        """Send everything that waits again, because its fate is unknown."""
        self._sent = self._first - 1
        self._since = None

    def overdue(self, now: float) -> bool:
        """Tell whether what is under way should have been acknowledged by now; it is waited longer for next time."""
        if self._sent < self._first or self._since is None or now < self._since + self._patience:
            return False
        self._patience = min(2 * self._patience, MAX_TIMEOUT)
        return True

    # What comes from there

    def take(self, envelope: Envelope, *, wait: float = 0.0, limit: str = "") -> Verdict:
        """Tell what to make of an envelope, and count it if it is new; it is to be acknowledged then.

        With a `wait` the next one is not taken: the acknowledgement asks its sender to wait for so many seconds, and
        names the `limit`.
        """
        self._follow(envelope)
        verdict = self._judge(envelope)
        self._unacknowledged += 1
        self._came, self._came_in_life = envelope.epoch, envelope.life
        if verdict == "new" and wait:
            verdict = "slowed"
            self._slow, self._limit = max(wait, self._slow), limit
        elif verdict == "new":
            if envelope.epoch == self.state.their_epoch:
                self.lost += envelope.number - self.state.received - 1
            self.state.their_epoch, self.state.received = envelope.epoch, envelope.number
            self.state.their_life = envelope.life
        self._is_missing |= verdict == "early"
        return verdict

    def acknowledgement(self, now: float, *, is_sending: bool = False) -> Ack | None:
        """Return the acknowledgement that is due, which then counts as sent; None for none.

        It is due at once where something else goes there (`is_sending`), where an envelope is missing, and where many
        came. It names only what is committed, and waits while something taken is not.
        """
        state = self.state
        if not self._unacknowledged or self._taken != self._safe:
            return None
        if self._owed_since is None:
            self._owed_since = now
        is_urgent = is_sending or self._is_missing or self._slow or self._unacknowledged >= MAX_UNACKNOWLEDGED
        if not is_urgent and now < self._owed_since + ACK_DELAY:
            return None
        is_known = state.their_epoch == self._came
        ack = Ack(
            epoch=self._came,
            up_to=state.received if is_known else 0,
            missing=self._is_missing,
            slow=self._slow,
            limit=self._limit,
            life=state.their_life if is_known else self._came_in_life,
        )
        self._unacknowledged, self._is_missing, self._owed_since = 0, False, None
        self._slow, self._limit = 0.0, ""
        return ack

    @property
    def owes_acknowledgement(self) -> bool:
        """Whether an acknowledgement waits for its time."""
        return self._unacknowledged > 0

    def _follow(self, envelope: Envelope) -> None:
        """Forget the numbers that a later life of theirs does not know to be given."""
        state = self.state
        if envelope.epoch == state.their_epoch and envelope.life > state.their_life:
            begun = (last for life, last in envelope.lives if life > state.their_life)
            state.received = min([state.received, *begun])
            state.their_life = envelope.life

    def _judge(self, envelope: Envelope) -> Verdict:
        state = self.state
        if (envelope.epoch, envelope.life) < (state.their_epoch, state.their_life):
            return "known"
        if envelope.epoch > state.their_epoch:
            return "new" if envelope.number == envelope.first else "early"
        if envelope.number <= state.received:
            return "known"
        is_next = envelope.number in {state.received + 1, envelope.first}
        return "new" if is_next else "early"
