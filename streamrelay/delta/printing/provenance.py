"""Who wrote a line: the program, or a person or message whose text it shows.

Every injection is entered in a ledger before it is pasted. A program shows what was typed to it in one of two ways,
and each injection is struck off exactly once, whichever comes first:

*At once*, in the gap between the paste and the Enter: the kernel's echo, or an interpreter's. It can follow a prompt
on the same row, and the program's own output can follow it on the same row (`cat` that reads slowly), so a line may be
part echo and part output. What appears in the gap and spells the injection is echo. Of a message of several lines the
program answers the first while the kernel still echoes the others: those can be torn (torn_echo.py).

Of a message that was sent while output was missing it is not known when its echo was painted. Until the output is read
that tmux kept of it, both ways are looked for.

*Late*, after the Enter, at any delay: a program that has switched the kernel's echo off and paints what it was sent,
behind a mark (`> hello`) or plain. The earliest run of whole lines that spells the injection is the echo. A plain copy
by a program without a composer (it never asked for bracketed paste), which nothing follows before the turn ends, is not
an echo but an answer: a program that shows what it was told says something more.

A second copy is a quote, and genuine. Nothing here looks at a clock: time alone never makes an echo.
"""

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from streamrelay.delta.printing.echo import ShownLine, squeeze
from streamrelay.delta.printing.torn_echo import MAX_ROWS, MIN_LINE, TornEcho
from streamrelay.delta.reasons import Rule
from streamrelay.events import Origin, WitnessName

MIN_TAIL = 100
"""Characters of a message's end by which it is known."""

MAX_SKIPPED = 8
"""Lines of a message after a torn one among which the next whole one is looked for."""

MAX_PENDING = 64
"""Injections remembered without having been seen; older ones are given up."""


class Piece(NamedTuple):
    """A logical line or part of one, and who wrote it."""

    text: str
    origin: Origin
    message_id: str | None = None
    rule: Rule = "passed"
    witnesses: tuple[WitnessName, ...] = ("screen",)


@dataclass(slots=True)
class _Injection:
    message_id: str
    lines: tuple[ShownLine, ...]
    prompt: str
    seen: int = 0
    submitted: bool = False
    painted_at_once: bool = False
    unwatched: bool = False
    """Whether it is unseen, and the output that tmux kept of a gap is being read: it may have been painted at once."""
    line_feed_owed: bool = False
    held: list[str] = field(default_factory=list)
    marked: bool = False
    torn: TornEcho | None = None

    @property
    def is_at_once(self) -> bool:
        """Whether its echo is painted before its Enter takes effect, or was, if it is painted at all."""
        return self.painted_at_once or not self.submitted

    @property
    def may_be_at_once(self) -> bool:
        """Whether its echo may be of that kind."""
        return self.is_at_once or self.unwatched

    def ends_in(self, squeezed: str) -> bool:
        """Tell whether a composer too low for the message shows its end, once or, when it was redrawn, twice."""
        message = "".join(squeeze(line.text) for line in self.lines)
        half = squeezed[: len(squeezed) // 2]
        return len(half) >= MIN_TAIL and (
            message.endswith(squeezed) or (half * 2 == squeezed and message.endswith(half))
        )

    def stands_on(self, open_text: str) -> bool:
        """Tell whether the line to be seen next stands on the open line, where only its line feed is missing."""
        if self.line_feed_owed or self.spelled_out() or not self.lines[self.seen].text:
            return False
        return self.lines[self.seen].find(open_text, self.prompt) is not None

    def spelled_out(self) -> bool:
        return self.seen == len(self.lines)

    def release(self) -> list[Piece]:
        released = [Piece(text, "program", rule="held") for text in self.held]
        self.held, self.seen, self.marked = [], 0, False
        return released

    def release_torn(self) -> list[Piece]:
        torn, self.torn = self.torn, None
        return [] if torn is None else [Piece(row, "program", rule="held") for row in torn.rows]

    def may_tear(self, shown: str) -> bool:
        """Tell quickly whether the line to be seen next may be torn into rows; False is certain."""
        line = self.lines[self.seen].text
        return self.torn is not None or (len(line) >= MIN_LINE and line[0] in shown)

    def take_torn(self, row: str) -> list[Piece] | None:
        """Take a row that may hold a piece of the line to be seen next; None if it does not seem to."""
        line = self.lines[self.seen].text
        row = row.removeprefix(self.prompt) if self.prompt.strip() and not (self.seen or self.torn) else row
        if self.torn is None:
            torn = TornEcho(line, follows_echo=self.seen > 0)
            if len(line) < MIN_LINE or not torn.begins_in(row):
                return None
            self.torn = torn
        said = self.torn.take(row)
        if said is None:
            return self.release_torn() if len(self.torn.rows) >= MAX_ROWS else []
        self.torn = None
        self.seen += 1
        self.painted_at_once = True
        return self._told(said, line)

    def skip_torn(self, row: str) -> list[Piece]:
        """Go on with a later line that is whole in a row: nothing more is to come of the one that is torn."""
        later = self.lines[self.seen + 1 : self.seen + 1 + MAX_SKIPPED] if self.torn is not None else ()
        skipped = next((n for n, line in enumerate(later, 1) if line.text == row and len(row) >= MIN_LINE), 0)
        if self.torn is None or not skipped:
            return []
        line, supposed = self.lines[self.seen].text, self.torn.supposed
        pieces = self._told(supposed, line) if supposed else self.release_torn()
        self.torn = None
        self.seen += skipped
        return pieces

    def _told(self, said: Sequence[str], line: str) -> list[Piece]:
        pieces = [Piece(text, "program", rule="behind_echo") for text in said]
        return [*pieces, Piece(line, "injected", self.message_id, "echo_torn")]

    def echoed(self) -> list[Piece]:
        return [Piece(text, "injected", self.message_id, "echo_late") for text in self.held]


class Ledger:
    """The injections of one pane that have not been seen yet, oldest first."""

    def __init__(self) -> None:
        self._pending: deque[_Injection] = deque(maxlen=MAX_PENDING)
        self._released: list[Piece] = []
        """Lines that were held for messages which are struck off since."""

    def __bool__(self) -> bool:
        """Whether any injection is still to be seen, or lines are held back."""
        return bool(self._pending or self._released)

    def enter(self, message_id: str, text: str, prompt: str) -> None:
        """Note that `text` is being put into the pane while the open line reads `prompt`.

        A message may be pasted anew: who pasted it first may have died before (tests/faults, seed 216). Its echo is
        due once.
        """
        for former in [one for one in self._pending if one.message_id == message_id]:
            self._strike_off(former)
        if len(self._pending) == MAX_PENDING:
            self._strike_off(self._pending[0])
        lines = tuple(ShownLine(line) for line in text.split("\n"))
        self._pending.append(_Injection(message_id, lines, prompt))

    def submit(self, message_id: str, open_text: str) -> bool:
        """Note the Enter; return whether the text was painted at once, given the open line as it stands."""
        shown = self.shows(message_id, open_text)
        for injection in self._pending:
            if injection.message_id == message_id:
                injection.submitted = True
                injection.painted_at_once = shown
        return shown

    def recover(self) -> None:
        """Note that output was missed, and that tmux has all of it: it comes next, in one piece.

        Whether the unseen messages were painted before their Enter is not known: other output may stand behind such an
        echo in its row (tests/faults, seed 39).
        """
        for injection in self._pending:
            injection.unwatched |= not injection.seen

    def shows(self, message_id: str, open_text: str) -> bool:
        """Tell whether a text that is being pasted was painted already, given the open line as it stands."""
        for injection in self._pending:
            if injection.message_id == message_id:
                on_open_line = injection.lines[0].find(open_text, injection.prompt)
                written = open_text.rstrip() != injection.prompt.rstrip()
                return injection.seen > 0 or (on_open_line is not None and written)
        return True

    def awaits(self, message_id: str) -> bool:
        """Tell whether any part of an injection is still to be seen."""
        return any(injection.message_id == message_id for injection in self._pending)

    def in_composer(self, text: str) -> str | None:
        """Strike off the oldest injection whose lines stand in a composer's submitted content, and return its id.

        Pasted without brackets, each line is submitted alone: the lines that stand in the content are struck off one
        by one.
        """
        squeezed = squeeze(text)
        for injection in self._pending:
            lines = injection.lines[injection.seen :]
            if all(line.is_in(squeezed) for line in lines) or injection.ends_in(squeezed):
                self._strike_off(injection)
                return injection.message_id
            if not injection.submitted and lines[0].is_at_end(squeezed):
                injection.seen += 1
                injection.painted_at_once = True
                return injection.message_id
        return None

    def may_concern(self, lines: Sequence[str]) -> bool:
        """Tell quickly whether any of the lines can be explained by an injection; False is certain."""
        shown = "\n".join(lines)
        if self._released:
            return True
        for injection in self._pending:
            if injection.held or injection.line_feed_owed or injection.spelled_out():
                return True
            if injection.lines[injection.seen].may_be_in(shown):
                return True
            if injection.may_be_at_once and injection.may_tear(shown):
                return True
        return False

    @property
    def is_being_read(self) -> bool:
        """Whether a line of a message was shown whose Enter is still to be sent: a program may have read it."""
        return any(injection.seen and not injection.submitted for injection in self._pending)

    @property
    def holding(self) -> bool:
        """Whether lines are held back that only what follows will explain."""
        return any(injection.held for injection in self._pending)

    def attribute(self, line: str, *, has_composer: bool, may_tear: bool = True) -> list[Piece]:
        """Split one passed line by who wrote it. A line that may yet prove to be an echo is held back.

        The echo `may_tear` where the kernel echoes, and no line editor does.
        """
        released, self._released = self._released, []
        for injection in self._pending:
            if injection.may_be_at_once:
                pieces = self._at_once(injection, line, may_tear=may_tear)
                if pieces is not None:
                    return [*released, *pieces]
            released += injection.release_torn()
            if injection.is_at_once:
                break
        return [*released, *self._late(line, has_composer)]

    def without_echo(self, open_text: str) -> str:
        """Return what of the open line is not the echo of an injection that is being shown at once."""
        for injection in self._pending:
            if injection.may_be_at_once:
                if injection.line_feed_owed:
                    return open_text
                found = injection.lines[injection.seen].find(open_text, injection.prompt)
                if found is not None:
                    return open_text[found[1] :]
                if injection.is_at_once:
                    return open_text
        return open_text

    def forget_submitted(self) -> None:
        """Give up what was submitted: a conversation has accounted for it."""
        for injection in [injection for injection in self._pending if injection.submitted]:
            self._strike_off(injection)

    def _strike_off(self, injection: _Injection) -> None:
        self._pending.remove(injection)
        self._released += injection.release_torn()

    @property
    def is_torn(self) -> bool:
        """Whether rows are held because a line may be torn."""
        return any(injection.torn is not None for injection in self._pending)

    def release_torn(self, *, unseen_only: bool = False) -> list[Piece]:
        """Return the rows that were held because a line may be torn: they are the program's.

        With `unseen_only`, those that were held for messages of which nothing was echoed so far.
        """
        released, self._released = self._released, []
        for injection in self._pending:
            if not (unseen_only and injection.painted_at_once):
                released += injection.release_torn()
        return released

    def rest(self, open_text: str) -> list[Piece]:
        """The turn is over: release what was held back, and give up what was shown at once only in part.

        What stands on the open line is not given up: an Enter can take longer than a turn to end.
        """
        released, self._released = self._released, []
        for injection in list(self._pending):
            released += injection.release_torn()
            injection.unwatched = False
            if not injection.submitted or (injection.painted_at_once and injection.stands_on(open_text)):
                continue
            if injection.spelled_out() or injection.painted_at_once:
                self._pending.remove(injection)
            released += injection.release()
        return released

    def _at_once(self, injection: _Injection, line: str, *, may_tear: bool) -> list[Piece] | None:
        if injection.line_feed_owed:
            if line or not injection.submitted:
                return None
            self._pending.remove(injection)
            return []
        skipped = injection.skip_torn(line)
        is_last = injection.seen == len(injection.lines) - 1
        found = injection.lines[injection.seen].find(line, injection.prompt)
        if found is None or (line[found[1] :].strip() and not is_last):
            torn = injection.take_torn(line) if may_tear else None
            if injection.spelled_out():
                self._pending.remove(injection)
            return torn
        start, stop = found
        behind = line[stop:]
        released = [*skipped, *injection.release_torn()]
        injection.seen += 1
        injection.painted_at_once = True
        pieces = [*released, Piece(line[start:stop], "injected", injection.message_id, "echo_at_once")]
        if not is_last:
            return pieces
        if behind.strip():
            injection.line_feed_owed = True
            pieces.append(Piece(behind, "program", rule="behind_echo"))
        else:
            self._pending.remove(injection)
        return pieces

    def _late(self, line: str, has_composer: bool) -> list[Piece]:
        pieces: list[Piece] = []
        for injection in list(self._pending):
            if not injection.submitted or injection.painted_at_once:
                continue
            if injection.spelled_out():
                pieces += injection.echoed()
                self._pending.remove(injection)
                continue
            has_mark = injection.lines[injection.seen].is_whole(line)
            if has_mark is None and injection.held:
                pieces += injection.release()
                has_mark = injection.lines[0].is_whole(line)
            if has_mark is None:
                continue
            injection.held.append(line)
            injection.seen += 1
            injection.marked = injection.marked or has_mark or has_composer
            if injection.spelled_out() and injection.marked:
                pieces += injection.echoed()
                self._pending.remove(injection)
            return pieces
        pieces.append(Piece(line, "program"))
        return pieces
