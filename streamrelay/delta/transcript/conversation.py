"""The other kind of program: one that keeps a transcript and a composer on a screen it paints itself.

Nothing it paints is final before its turn is over: rows are redrawn, moved, wiped and painted again. So its words are
read off the document when the turn ends, as what the document says more than it said when the message was sent. A turn
ends when the program is idle, or when it is known to have gone on with the next message.

A message leaves two traces. Between the paste and the Enter its composer shows it, whole or as a placeholder; later
the transcript shows it, whole or as that same placeholder. What a person types leaves the same traces: a draft that
vanishes from the composer and appears above it was submitted.
"""

from collections.abc import Callable, Collection, Sequence, Set
from typing import NamedTuple

from streamrelay.delta.layout.chrome import Chrome, has_bordered_composer
from streamrelay.delta.layout.composer import ComposerReader
from streamrelay.delta.layout.dialog_screen import is_typed_at
from streamrelay.delta.layout.glyphs import is_border, without_marks
from streamrelay.delta.layout.rows import PaintedRow, cells_of
from streamrelay.delta.layout.scrolling import says_something
from streamrelay.delta.messages import (
    MAX_MESSAGES,
    OutstandingMessage,
    drafted_message,
    drafts_shown,
    drafts_vanished,
    shown_late,
    watch_drafts,
)
from streamrelay.delta.pane_state import ComposerView
from streamrelay.delta.profiles import GENERIC, Profile, matches
from streamrelay.delta.transcript.answers import Answer, Passage, message_behind, read_answer, rows_since
from streamrelay.delta.transcript.document import Document
from streamrelay.delta.transcript.echoes import EchoSearch, spelling
from streamrelay.delta.turns import Turns
from streamrelay.vt.engine import Cursor, Engine, Frame

MIN_SNAPSHOT_SECONDS = 0.008
"""Seconds for which a snapshot stays on the screen at least, so that each is looked at; people read more slowly."""
MAX_KEYS = 24
"""Characters that a person types between two snapshots, at most."""


class FinishedAnswers(NamedTuple):
    """What a program answered before it went on with a message that had waited, without having been idle."""

    answer: Answer
    message_id: str
    """The message that it went on with."""


class Conversation:
    """Follows the screen of a program that keeps a transcript."""

    def __init__(self, engine: Engine, turns: Turns) -> None:
        self._engine = engine
        self._turns = turns
        self.profile = GENERIC
        self._document = Document(engine)
        self._chrome = Chrome()
        self._mark = self._document.mark()
        self.rows: list[str] = []
        """The rows of the screen, as they were looked at last."""
        self._cursor = 0
        self._looked = -MIN_SNAPSHOT_SECONDS
        self._forgot = False
        self._rest: list[str] = []
        self.proved = False
        """Whether the program has ever shown what was sent to it: it is one that converses."""
        self._sent: list[OutstandingMessage] = []
        self._cleared: OutstandingMessage | None = None
        """The message last given up for cleared from the composer: half a snapshot may not have shown it."""
        self._answered: OutstandingMessage | None = None
        self._reader = ComposerReader()
        self.in_repaint = False
        """Whether the cursor is not where it rests: what is on the screen is half painted."""
        self._message_mark = ""
        self._draft = ""
        self._trusted = False
        self.typed = False
        """Set when a person's draft was submitted; the reader of this flag resets it."""
        self.works: bool | None = False
        """Whether the screen shows that the program is at work; None where that cannot be told."""
        self.has_worked = False
        self.was_joined = False
        """Whether the conversation had begun before the watching did: an answer, or a message above the composer."""
        self.was_joined_at_work = False
        """Whether an answer had begun then, too, and nothing was read since."""
        self._began_unseen = False
        """Whether the program was there before the watching: how it began is not on the screen."""
        self._worked_on_message = False
        """Whether it was at work while a message stood in the transcript that it had not answered yet."""

    @property
    def has_rows_below(self) -> bool:
        """Whether anything stands below the cursor."""
        return any(self.rows[self._cursor + 1 :])

    @property
    def awaits_draft(self) -> bool:
        """Whether a message is being pasted: what stands in the composer is not a person's."""
        return self._pasted is not None

    @property
    def _pasted(self) -> OutstandingMessage | None:
        """The first message that is being pasted."""
        return next((sent for sent in self._sent if sent.phase == "pasting"), None)

    @property
    def painted_over(self) -> Sequence[Sequence[str]]:
        """The paragraphs that stood on the screen since the last turn was over, and were painted over."""
        return self._document.painted_over.paragraphs()

    @property
    def has_window(self) -> bool:
        """Whether the program shows its transcript in a window of its own on the main screen, where rows are lost."""
        return self._document.has_window

    @property
    def outstanding(self) -> Set[str | None]:
        """The messages that the transcript is to show."""
        return {sent.message_id for sent in self._sent if not sent.abandoned}

    def account_for(self, message_ids: Set[str | None]) -> None:
        """Wait no longer for messages that are known to be answered though the transcript lost them."""
        for sent in self._sent:
            if sent.message_id in message_ids:
                sent.abandoned, sent.during_output = True, False

    @property
    def last_line(self) -> str:
        """The last row that was said so far, as it stands."""
        last = self._last_said()
        return self.rows[last].strip() if last >= 0 else ""

    def _last_said(self) -> int:
        """Return the last row of the screen that is no chrome; -1 where there is none."""
        rows = self.rows
        last = self._chrome.bottom_start(rows, self._cursor) - 1
        while last >= 0 and (not rows[last].strip() or self._is_chrome(rows[last])):
            last -= 1
        return last

    def _is_chrome(self, row: str) -> bool:
        return is_border(row) or self._chrome.is_spinner(row) or matches(self.profile.chrome, row)

    def reset(self, frame: Frame, *, answering: bool) -> None:
        """Go on with a screen whose rows have all moved. During an answer the old rows are known already."""
        keep = self._last_said() + 1 if answering and self.rows else None
        self._cursor = frame.cursor.y
        self._forgot = self._document.restart(frame, keep=keep) and answering
        self.rows = [row.text for row in self._document.screen]
        self.in_repaint = self.proved and not self._composer.is_shown
        if not answering:
            self.settle_down()

    def join(self, column: int, *, is_busy: bool) -> None:
        """The watching begins with this screen, of a program that is at work if it `is_busy` or its screen shows so.

        The cursor is in `column`: what a person had typed stands before it, and a placeholder behind it.
        """
        composer = self._composer.view(self._engine, column)
        if composer.typed and not composer.faint and not matches(self.profile.ready, self.rows[self._cursor]):
            self._draft = self._reader.learn_draft(composer.typed)
        self.was_joined_at_work = is_busy or self._chrome.shows_work(self.rows, self._cursor, self.profile)
        mark = self._mark_of_messages.strip()
        shown = [row.strip() for row in self.rows[: self._top]] if mark else ()
        # What stands between two bars is a box, as that of a greeting.
        is_asked = any(row.startswith(mark) and not row.endswith(mark) for row in shown)
        self.was_joined = self.was_joined_at_work or is_asked
        self._began_unseen = True

    def go_to_work(self) -> None:
        """Note that the program says that it is at work: on a message, or on its own start or a session's return."""
        self.has_worked = True
        if not self.rows or self.proved or self._sent or self._worked_on_message:
            return
        new = [row.text for row in rows_since(*self._transcript())]
        message = message_behind(EchoSearch(new), new, self._mark_of_messages, self.profile)
        if message is not None:
            self._worked_on_message = all(not row.strip() or self._is_chrome(row) for row in new[message.stop :])

    def look_for_work(self) -> bool | None:
        """See whether the screen shows that the program is at work; return whether it did so before."""
        worked, self.works = self.works, self._chrome.shows_work(self.rows, self._cursor, self.profile)
        if self.works:
            self.go_to_work()
        return worked

    def _shows_work(self, draft: str) -> bool | None:
        """Tell whether the program is at work; None where a draft may stand in the place of what says so.

        It does not stand in the place of a spinner.
        """
        if self._chrome.shows_work(self.rows, self._cursor, self.profile):
            return True
        if not draft or self.works is False:
            return False
        return self._chrome.has_spinner(self.rows, self._cursor, self.profile) or None

    def take(
        self,
        frame: Frame,
        now: float,
        *,
        whole: bool,
        stands: bool,
        trusted: bool,
        in_dialog: Callable[[Sequence[str]], bool],
    ) -> bool:
        """Follow a frame; return whether anything reads differently now, in a frame that shows a `whole` snapshot.

        In a flood of repaints snapshots are passed over, but for one that `stands`: the last for a while. What stands
        in the place of the composer `in_dialog` is no draft, and tells nothing of the composer or of work. An editor
        may be on a screen that is not `trusted`.
        """
        self._trusted = trusted
        self._document.take(frame)
        if not whole:
            return False
        if not stands and now < self._looked + MIN_SNAPSHOT_SECONDS and self._document.pass_over(frame.cursor.y):
            return False
        self._looked = now
        self._document.answers = self._turns.is_open or self.waits
        moved, self._cursor = frame.cursor.y != self._cursor, frame.cursor.y
        changed = self._document.look(self._cursor)
        if changed:
            before, self.rows = self.rows, [row.text for row in self._document.screen]
            rows = self.rows
            self.in_repaint = not self._composer.is_shown
            if not in_dialog(rows) and not self.in_repaint:
                self._chrome.observe(before, rows, self._cursor)
                draft = self._read_draft(frame.cursor.x)
                self.works = self._shows_work(draft)
                if self.works:
                    self.go_to_work()
                self._watch_draft(rows, draft)
        elif moved and not self._reader.empty.mark and not self.awaits_draft:
            # A composer that was not seen yet is where the cursor comes to rest after painting it.
            self._draft = self._composer.draft
        is_new = stands and not (self.proved or self._sent or (self._draft and self._reader.empty.mark))
        if is_new and self._composer.held.mark not in {"", self._reader.empty.mark}:
            # A splash or a dialog came first, perhaps, or half of the first snapshot.
            self._learn_composer()
        self._document.look_through_window(self._top, frame.cursor.x, self._message_in)
        return changed

    def _read_draft(self, column: int) -> str:
        """Return what is typed into the composer, with the cursor in `column`.

        Where no composer is known yet, a picture is none: a row without letters and digits. Nor is a row without
        mark and border that stands there at once, the last one of a session that is half printed again: keys come one
        by one.
        """
        composer = self._composer
        draft = composer.draft
        if not self._reader.empty.mark and not (says_something(draft) and self._may_be_draft(draft)):
            return ""
        if composer.knows_placeholder or draft in {"", self._draft} or composer.view(self._engine, column).typed:
            return draft
        composer.learn_empty()
        return ""

    def _may_be_draft(self, draft: str) -> bool:
        """Tell whether a row may be a draft: it is ours, has a mark or border, or is a few keys longer than before."""
        composer = self._composer
        return (
            bool(self._sent or composer.held.mark or composer.is_enclosed) or len(draft) <= len(self._draft) + MAX_KEYS
        )

    def settle_down(self) -> None:
        """Nothing is being answered: what stands on the screen now is old."""
        rows = self.rows
        self._mark = self._document.mark()
        self._rest = rows[: self._top]
        self._chrome.rest(rows, self._cursor)
        if self._is_beside_draft:
            return
        # A message that is being pasted may stand there as its placeholder.
        held = spelling(self._composer.held.text)
        if not self.awaits_draft and not any(sent.may_stand_in(held) for sent in self._sent):
            self._learn_composer()
        self._draft = ""

    @property
    def _is_beside_draft(self) -> bool:
        """Whether a person's draft is in the composer, and a message of ours went past it."""
        messages = self._sent if self._answered is None else [self._answered, *self._sent]
        return bool(self._draft) and any(sent.phase == "past_composer" and sent.message_id for sent in messages)

    def begin(self) -> None:
        """The program is seen to converse: what stands there is old, and what a person typed before was a command."""
        self._sent = [sent for sent in self._sent if sent.message_id is not None]
        if not self._sent:
            self.settle_down()

    def _learn_composer(self) -> None:
        """Nothing is typed: what stands in the composer is no draft, nor was it one."""
        self._composer.learn_empty()
        self._chrome.mark, self._draft = self._reader.empty.mark, ""

    def forget_composer(self) -> None:
        """Another composer begins than the one before, if there was one: a line editor's next line, or a program's."""
        self._reader = ComposerReader()
        self._chrome.mark = ""

    def forget_program(self) -> None:
        """The program is gone, and what it was known by."""
        self.proved = self.works = self.typed = self.has_worked = False
        self.was_joined = self.was_joined_at_work = self._began_unseen = self._worked_on_message = False
        self._sent.clear()
        self._answered = self._cleared = None
        self._draft = self._message_mark = ""
        self._chrome = Chrome()

    def inject(self, message_id: str, text: str) -> None:
        """Note that a message is being pasted."""
        self._add(OutstandingMessage(message_id, text))
        self._draft = ""

    def miss(self) -> None:
        """Note that output was missed: how the composer showed the messages that are sent is not known."""
        for sent in self._sent:
            sent.unwatched |= sent.phase in {"pasting", "submitted"}

    def hand_over(self, message_id: str, text: str, *, during_output: bool) -> None:
        """Note that a message is about to be sent by the program's own API; see `submit`."""
        self._learn_borders()
        self._add(OutstandingMessage(message_id, text, phase="past_composer", during_output=during_output))

    def _add(self, message: OutstandingMessage) -> None:
        if self.waits and self._was_cleared:
            self._mark = self._document.mark()
        # What the program's own API has not taken is pasted after all.
        others = [sent for sent in self._sent if sent.message_id != message.message_id]
        self._sent = [*others, message][-MAX_MESSAGES:]

    def submit(self, message_id: str, *, during_output: bool) -> bool:
        """Note that a message is being submitted; return whether the composer shows anything of it.

        It is submitted `during_output` if the program is printing something that answers no known message.
        """
        self._learn_borders()
        if self._cleared is not None and self._cleared.message_id == message_id:
            self._sent.append(self._cleared)
        self._cleared = None
        for sent in self._sent:
            if sent.message_id == message_id:
                sent.phase, sent.during_output = "submitted", during_output
                sent.shown = self._composer.draft or sent.shown
                if sent.stands_as(self._composer.draft):
                    self._composer.learn_mark()
                return bool(sent.shown)
        return False

    def _learn_borders(self) -> None:
        if self.rows and self._chrome.learn_borders(self.rows, self._cursor) and not self.waits:
            self._chrome.rest(self.rows, self._cursor)

    @property
    def _was_cleared(self) -> bool:
        """Whether the transcript holds less than when the last turn was over, and nothing new."""
        rows = self.rows
        before, now = self._document.since(self._mark)
        transcript = now[: len(now) - len(rows) + self._chrome.bottom_start(rows, self._cursor)]
        held = [sum(bool(row.text.strip()) for row in part) for part in (rows_since(before, transcript), now, before)]
        return not held[0] and held[1] < held[2]

    @property
    def shows_draft(self) -> bool:
        """Whether the composer shows anything that is not there when it is empty."""
        shown = self._composer.held.text
        return bool(shown) and shown != self._reader.empty.text

    @property
    def shows_input(self) -> bool:
        """Whether something is typed or was submitted that the transcript has not shown."""
        return bool(self._draft or self._sent)

    @property
    def _is_composer_empty(self) -> bool:
        """Whether the cursor is in a composer, known by a mark or a border, in which nothing is typed.

        A text that vanished when a person typed and is shown again is the placeholder.
        """
        composer = self._composer
        held, empty = composer.held, composer.empty
        stands_again = any(sent.spells(held.text) for sent in drafts_vanished(self._sent))
        return (held == empty or stands_again) and bool(held.mark or composer.is_bordered)

    def view(self, column: int) -> ComposerView:
        """Return the composer as it stands, with the cursor in `column`."""
        return self._composer.view(self._engine, column) if self.rows else ComposerView()

    def asked_at(self, rows: Sequence[str], cursor: Cursor) -> str:
        """Return the row that ends at the cursor; empty if a person types there or it shows an outstanding message."""
        row = rows[cursor.y] if cursor.y < len(rows) else ""
        if is_typed_at(rows, (cursor.x, cursor.y)) or cells_of(row) > cursor.x:
            return ""
        spelled = spelling(without_marks(row))
        return "" if any(spelled in spelling(sent.text) for sent in self._sent) else row

    @property
    def is_unreadable(self) -> bool:
        """Whether no composer stands where the program is known to have one: where its answer ends is not known."""
        return self.proved and not self._composer.is_shown

    @property
    def has_moved_on(self) -> bool:
        """Whether the transcript reads differently than when the last turn was over."""
        rows = self.rows
        return not self.in_repaint and rows[: self._top] != self._rest

    @property
    def is_heard(self) -> bool:
        """Whether a message that was submitted is in the transcript already, if any is to be there."""
        waiting = [sent for sent in self._sent if sent.waits]
        search = EchoSearch([row.text for row in self._new] if waiting else ())
        return not waiting or any(sent.begins_in(search, self._mark_of_messages) is not None for sent in waiting)

    @property
    def is_answered(self) -> bool:
        """Whether all that was submitted is in the transcript, with words of the program below the last message."""
        submitted = [sent for sent in self._sent if sent.waits]
        if not submitted or self.in_repaint or self.is_unreadable or self._composer.draft:
            return False
        answer = self._read(*self._transcript(), submitted, self._mark_of_messages, cut_off=False)
        return answer.accounted == len(submitted) and answer.has_words

    def read(self, *, certain: bool, trusted: bool, cut_off: bool = False, last: bool = False) -> Answer | None:
        """Return what was answered, as far as it is painted; what is returned will not be returned again.

        None while the answer has not begun: a message that still stands in the composer was not submitted by its
        Enter, and one that a program of this kind has not shown yet is waited for, unless its turn is `certain` to be
        over. What a program says that does not show its messages counts only if it is `trusted` to converse: editors,
        pagers and monitors don't. An answer that was `cut_off` in the middle has no whole line at its end. In the
        `last` snapshot, text above a message that was never submitted is no answer, and is published as output.
        """
        rows = self.rows
        self._document.look_through_window(self._top, None, self._message_in)
        lost = self._document.lost_since(self._mark)
        before, now = self._transcript()
        self.look_for_typed()
        draft = self._composer.draft
        drafted = drafted_message(self._sent, draft)
        waiting = [sent for sent in self._sent if sent.waits and sent is not drafted]
        stands = any(sent.waits for sent in self._sent) and not waiting
        submitted = [sent for sent in self._sent if sent.abandoned or sent in waiting]
        answer = self._read(before, now, submitted, self._mark_of_messages, cut_off=cut_off)
        self._message_mark = answer.mark or self._message_mark
        if self.is_unreadable:
            answer = Answer([Passage("gap", [], rule="unreadable", rows=now)], len(submitted))
        if stands and not (last or (self.proved and certain)):
            return None
        if not (waiting or answer.accounted or trusted or self.proved):
            self.settle_down()
            return Answer([Passage("gap", [], rule="unheard", rows=now)]) if stands else None
        if lost or self._forgot:
            answer.passages.insert(0, Passage("gap", [], lost=lost or None, rule="history"))
            self._forgot = False
            answer.accounted = len(submitted)
        elif waiting and not answer.accounted:
            if self.proved and not certain:
                return None
            answer.accounted = len(submitted)
            if self.proved or not trusted:
                told = self._without_echo(before, now, submitted, cut_off=cut_off)
                if told is None:
                    for sent in submitted:
                        sent.abandoned, sent.during_output = True, False
                answer = told or Answer([Passage("gap", [], rule="unheard", rows=now)])
        else:
            self.proved = self.proved or answer.accounted > 0
        if self.was_joined_at_work:
            self.was_joined_at_work = False
            if not answer.accounted:
                answer.passages.insert(0, Passage("gap", [], rule="begun_before"))
        if answer.accounted:
            self._take_as_answered(submitted[answer.accounted - 1], drafted)
        tail, composer = self._chrome.bottom_start(rows, self._cursor), self._top
        answer.leave_out("status_rows", self._document.screen[tail:composer])
        answer.leave_out("composer", self._document.screen[composer:])
        self.settle_down()
        return answer

    def _take_as_answered(self, last: OutstandingMessage, drafted: OutstandingMessage | None = None) -> None:
        """Wait no longer for this message and for those before it, but for one that the composer holds."""
        self._answered = last
        count = self._sent.index(last) + 1
        kept = [sent for sent in self._sent[:count] if sent.phase == "pasting" or sent is drafted]
        self._sent[:count] = kept
        for sent in self._sent:
            sent.during_output = False

    @property
    def is_at_rest(self) -> bool:
        """Whether the transcript can be read in mid-turn: whole, with an empty composer below it."""
        if self.in_repaint or self.is_unreadable or self._forgot or self.was_joined_at_work:
            return False
        return not (self._composer.draft or self._document.lost_since(self._mark))

    def read_finished(
        self, reached: Collection[int], is_whole: Callable[[int, Sequence[str]], bool]
    ) -> FinishedAnswers | None:
        """Return what was answered above a message that the program has gone on with; it will not be returned again.

        The program is known to have `reached` some of the `submitted` messages, given by number. `is_whole` tells for
        such a number whether the lines of the answer above that message are all. None where the transcript shows no
        such message below a whole answer.
        """
        before, now = self._transcript()
        mark, submitted = self._mark_of_messages, self.submitted
        shown = self._read(before, now, submitted, mark, cut_off=False).answered_before()
        for number, row, _ in [message for message in shown if message.number in reached]:
            finished, message_id = submitted[:number], submitted[number].message_id
            answer = self._read(before, now[:row], finished, mark, cut_off=False)
            if message_id is None or not answer.shown or not is_whole(number, answer.last_lines):
                continue
            above = self._document.mark_above(self._document.since(self._mark)[1][row:])
            if above is None:
                return None
            self._mark, self.proved = above, True
            self._message_mark = answer.mark or self._message_mark
            self._take_as_answered(finished[-1])
            return FinishedAnswers(answer, message_id)
        return None

    def _transcript(self) -> tuple[Sequence[PaintedRow], Sequence[PaintedRow]]:
        """Return the document as it was when the last turn was over and as it is, without the chrome at its end."""
        before, now = self._document.since(self._mark)
        tail = len(self.rows) - self._chrome.bottom_start(self.rows, self._cursor)
        return before, now[: len(now) - tail]

    def _read(
        self,
        before: Sequence[PaintedRow],
        now: Sequence[PaintedRow],
        submitted: Sequence[OutstandingMessage],
        mark: str,
        start: int | None = None,
        *,
        cut_off: bool,
    ) -> Answer:
        # Before the first message it greets, or prints a session again that it goes on with, which may look like work
        # (an agent says *busy* then, and while it starts servers). A person's message may not have been seen before
        # it was answered: an answer comes after work on that, or the program had greeted before the watching began.
        new = [row.text for row in rows_since(before, now)]
        may_answer = self._began_unseen or self._worked_on_message
        is_asked = self.was_joined or (may_answer and _is_answered_below(mark, new, self.profile))
        has_begun = self.proved or (is_asked and self.has_worked) or len(self._sent) > len(submitted)
        return read_answer(
            before,
            now,
            [sent.message for sent in submitted],
            columns=self._document.columns,
            is_spinner=self._chrome.is_spinner,
            profile=self.profile,
            mark=mark,
            start=start,
            wiped=self._mark.wiped,
            greets=not has_begun,
            joined=self.was_joined_at_work,
            cut_off=cut_off,
        )

    def _without_echo(
        self,
        before: Sequence[PaintedRow],
        now: Sequence[PaintedRow],
        submitted: Sequence[OutstandingMessage],
        *,
        cut_off: bool,
    ) -> Answer | None:
        """Read what was said while none of the messages was seen in the transcript, if any of it can be told.

        Of a program that is known to show messages, the message can be among rows that it skipped: what stands behind
        them is its answer, if nothing there looks like a piece of a message. A message that was submitted during output
        that answers no known message has no answer while no row is skipped: all new rows continue that output.
        """
        during_output = any(sent.during_output for sent in submitted)
        search = EchoSearch([row.text for row in now])
        old = next((y for y, (was, row) in enumerate(zip(before, now, strict=False)) if was != row), len(before))
        skipped = next((y for y in range(old, len(now)) if now[y].skipped), None)
        start = old if during_output else skipped
        if (
            start is None
            or not self.proved
            or any(search.shows_any_of(sent.text, start) for sent in self._sent if sent.phase != "pasting")
        ):
            return None
        answer = self._read(
            before,
            now,
            (),
            self._message_mark if during_output else "",
            None if during_output else start,
            cut_off=cut_off,
        )
        answer.accounted = 0 if skipped is None else len(submitted)
        return answer

    def assume_submitted(self) -> bool:
        """The program went to work by itself: a draft that stands or has just vanished was submitted; was there one?"""
        vanished = drafts_vanished(self._sent)
        if not (self._draft or vanished) or not self._reader.empty.mark or self.awaits_draft:
            return False
        if self._draft:
            self._sent.append(OutstandingMessage(None, self._draft, phase="submitted"))
            self._draft = ""
        else:
            vanished[-1].phase = "past_composer"
        return True

    @property
    def is_plain_to_see(self) -> bool:
        """Whether the screen alone shows a program that converses: a composer with borders around the cursor."""
        return bool(self.rows) and has_bordered_composer(self.rows, self._cursor)

    @property
    def has_mark(self) -> bool:
        """Whether the cursor is in a row of text behind a mark."""
        row = self.rows[self._cursor] if self.rows else ""
        return not is_border(row) and bool(self._composer.held.mark)

    @property
    def is_behind_mark(self) -> bool:
        """Whether the cursor is behind a mark, with rows below it that are no border."""
        return self.has_mark and any(row.strip() and not is_border(row) for row in self.rows[self._cursor + 1 :])

    @property
    def is_ready(self) -> bool:
        """Whether the cursor is in the empty composer of an agent with a profile, with rows below it."""
        return bool(self.rows) and matches(self.profile.ready, self.rows[self._cursor]) and self.has_rows_below

    @property
    def waits(self) -> bool:
        """Whether a message was submitted that has not been seen in the transcript."""
        return any(sent.waits for sent in self._sent)

    @property
    def submitted(self) -> list[OutstandingMessage]:
        """The messages that the program has, or had and may still show, and that are not answered so far."""
        return [sent for sent in self._sent if sent.abandoned or sent.waits]

    @property
    def _top(self) -> int:
        """The first row of the composer; 0 while there are no rows."""
        return self._chrome.composer_top(self.rows, self._cursor) if self.rows else 0

    @property
    def _composer(self) -> ComposerReader:
        """The composer as it stands now."""
        return self._reader.look(self.rows, self._top, self._cursor)

    @property
    def _mark_of_messages(self) -> str:
        """What stands in front of messages in the transcript, or else in the composer: mostly it is the same."""
        return self._message_mark or self.profile.message_mark or (self._chrome.mark and self._chrome.mark + " ")

    @property
    def _new(self) -> Sequence[PaintedRow]:
        """The rows of the document, the screen with its composer, that are new since the last turn was over."""
        return rows_since(*self._document.since(self._mark))

    def _new_transcript(self) -> list[str]:
        """Return the text of those rows of it that stand above the composer."""
        below = len(self.rows) - self._top
        return [row.text for row in self._new[:-below]]

    def _message_in(self, rows: Sequence[str]) -> int | None:
        """Return the row in which the message begins that is, or was last, answered, or the end of one too tall."""
        message = next((sent for sent in self._sent if sent.waits), self._answered)
        return message.begins_in(EchoSearch(rows), self._mark_of_messages) if message is not None else None

    def _watch_draft(self, rows: list[str], draft: str) -> None:
        """Notice what a person types into the composer, and that it was submitted."""
        if self.awaits_draft:
            self._watch_pasted(draft)
            return
        if draft == self._draft and not drafts_vanished(self._sent):
            return
        if draft and any(draft == sent.shown for sent in self._sent):
            return
        mark = self._mark_of_messages
        late = shown_late(self._sent, draft, self._new_transcript, mark) if draft and not self._draft else None
        if late is not None:
            late.shown = max(late.shown, draft, key=len)
            return
        self._sent = watch_drafts(self._sent, self._draft, draft)
        self._draft = draft
        if drafts_shown(self._sent, rows[: self._top], mark):
            self.look_for_typed()

    def look_for_typed(self) -> None:
        """See whether the transcript shows a draft that vanished: it was submitted (see `typed`).

        An editor shows what was typed too, where it was typed: it has no composer that stands empty again below that.
        """
        rows = self._new_transcript() if drafts_vanished(self._sent) else []
        if rows and not (self._trusted or self.proved or self._is_composer_empty):
            return
        for sent in drafts_shown(self._sent, rows, self._mark_of_messages):
            sent.phase = "past_composer"
            sent.during_output = self._turns.goes_on or any(other.during_output for other in self._sent)
            self.typed = True

    def _watch_pasted(self, draft: str) -> None:
        """Give up a message that was cleared from the composer, unless its Enter comes after all."""
        pasted = self._pasted
        if pasted is None:
            return
        if draft:
            pasted.shown = draft
        elif pasted.shown:
            self._sent.remove(pasted)
            self._cleared = pasted


def _is_answered_below(mark: str, rows: Sequence[str], profile: Profile) -> bool:
    """Tell whether a message stands behind the mark of messages, and words below it."""
    message = message_behind(EchoSearch(rows), rows, mark, profile)
    return message is not None and any(row.strip() for row in rows[message.stop :])
