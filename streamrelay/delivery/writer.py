"""The only writer of a pane: carries out the machine's decisions and reports the results to it.

While the program waits for a person (a password, a confirmation), the writer types neither text nor Enter. If a program
leaves its input unread for `read_timeout` seconds, the writer reports that and types no more, because tmux would keep
the rest in memory. If a program leaves with unread text, it gets no Enter, and the writer discards the text from its
terminal (unread_input.py). With an outbox, a message and the receipts before it are on disk before the writer types.

If the user allows the program's own API (agents/lanes), the writer hands messages to it instead of typing them. The
pane records the id of such a message before the API gets it, so that after a crash the API can be asked for it.
"""

import asyncio
import math
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from typing import NoReturn

from streamrelay.agents.lanes.lane import Handed, Lane
from streamrelay.delivery.commands import (
    QUERY_MARKS,
    DeliveryMark,
    Seen,
    enter_line,
    hand_over_line,
    paste_line,
    read_refusal,
)
from streamrelay.delivery.errors import program_left, refusal_error, target_not_reading
from streamrelay.delivery.inflight import ComposerText, ReportState
from streamrelay.delivery.machine import (
    CANCELLED,
    NO_REPLY,
    SUPERSEDED,
    DeliveryMachine,
    Effect,
    Enter,
    HandOver,
    PaneView,
    Paste,
)
from streamrelay.delivery.message import DeliveryPolicy, Message, Progress, check_message_id
from streamrelay.delivery.outbox import Outbox, OutboxEntry, next_number, server_key
from streamrelay.delivery.read_watch import until_left_unread
from streamrelay.delivery.recovery import DeliveryMarks, Fate, enters, fate
from streamrelay.delivery.sanitise import removed_from, sanitised
from streamrelay.delivery.spool import spool
from streamrelay.delivery.state import state_folder
from streamrelay.delivery.terminal import TerminalDevice
from streamrelay.delivery.unread_input import UnreadInput
from streamrelay.delivery.validation import is_spooled, rejection_reason
from streamrelay.delta.prompt_detection import asks_for_secret
from streamrelay.errors import PaneGone, ProgramLeft, ShellRefused, StorageError, StreamrelayError
from streamrelay.events import DeliveryState, Event
from streamrelay.panes.listeners import never
from streamrelay.panes.pipeline import PanePipeline
from streamrelay.panes.server import Server
from streamrelay.panes.shells import is_shell
from streamrelay.panes.tasks import until_first

READ_TIMEOUT = 30.0
_LEAVING = 0.02
"""Seconds until the stream has output that tmux has processed already: the program is leaving, or has painted."""
_SHELL_LOOKS = 0.1
"""Seconds between two checks whether a shell still runs a command, since a command may end without output."""
_SHELL_RETURNS = 1.5
"""Seconds until tmux notices that the shell is in the foreground again."""
_LANDING = 0.001
"""Seconds between two checks whether tmux has written typed text."""
_FOLLOWS = 0.25
"""Seconds between two questions to a program's own API what became of its messages."""
_LANE_LOST = 10.0
"""Seconds without a reply of that API after which the fate of its messages is unknown."""
_STREAM_LAG = 5.0
"""Seconds that a receipt waits, after the API has reported an answer, for the stream to have the answer's text."""
_MAX_MOVED = 25
"""How often in a row a moved cursor puts typing off; a program that paints that much is not leaving."""


class PaneWriter:
    """Types into one pane, for all senders of this process."""

    def __init__(
        self,
        server: Server,
        pipeline: PanePipeline,
        *,
        program: str,
        report: Callable[[Progress], None],
        policy: DeliveryPolicy | None = None,
        outbox: Outbox | None = None,
        allow_shell: bool = False,
        read_timeout: float = READ_TIMEOUT,
    ) -> None:
        """Type only to `program`: the foreground command that was checked, not another one that replaced it.

        Raises ShellRefused for a shell unless the caller allowed shells.
        """
        if is_shell(program) and not allow_shell:
            raise ShellRefused(
                f"pane {pipeline.info.pane} ({pipeline.info.address}) runs {program}, a shell",
                data={"pane": pipeline.info.pane},
            )
        self._server = server
        self._pipeline = pipeline
        self._pane = pipeline.info.pane
        self._program = program
        self._allow_shell = allow_shell
        self._shell_worked_at = -math.inf
        """When an allowed shell last ran a command."""
        self._report = report
        self._policy = policy or DeliveryPolicy()
        self._outbox = outbox
        self._read_timeout = read_timeout
        self._machine = DeliveryMachine(self._policy)
        self._marks: dict[str, DeliveryMark] = {}
        self._injected: set[str] = set()
        """The messages whose paste the stream expects, but not yet their Enter."""
        self._files: dict[str, str] = {}
        self._last_number = 0
        self._server_key = ""
        self._last_typed: float | None = None
        self._terminal = TerminalDevice(server, pipeline)
        self._unread = UnreadInput(self._terminal.path)
        self._moved = 0
        self._news = asyncio.Event()
        self._progressed = asyncio.Event()
        self._running = False
        self._lane: Lane | None = None
        self._handed: dict[str, Handed] = {}
        """The messages that the program's own API has, and whose answer it has not reported."""
        self._in_composer: ComposerText | None = None
        """What the outbox knows of a text in the composer."""
        self._broken = ""
        """The code of the error with which `run` has ended."""

    @property
    def program(self) -> str:
        """The foreground command that it types to."""
        return self._program

    @property
    def idle(self) -> bool:
        """Whether each message is submitted or has failed."""
        return self._machine.idle

    @property
    def rests(self) -> bool:
        """Whether it is idle and no answer is pending."""
        return self._machine.rests

    def is_unsettled(self, message_id: str) -> bool:
        """Return whether it has this message, new or recovered, and may still report another state of it."""
        return message_id in self._machine.unsettled_ids

    async def recover(self) -> list[OutboxEntry]:
        """Take over the messages that an earlier writer of this pane left in the outbox, and return them.

        Call it before `put`. A message to a server that has ended, or whose fate is unknown, becomes unconfirmed.
        """
        marks = await self._read_marks()
        if self._outbox is None:
            return []
        # An earlier writer of this process may have reported states that are not written yet.
        await self._outbox.flush()
        for lost in await self._outbox.orphans(self._server.info.address, server=self._server_key):
            self._outbox.note(lost.number, "unconfirmed", "server_lost")
        unfinished = await self._outbox.unfinished(server=self._server_key, pane=self._pane)
        for entry in unfinished:
            if fate(entry.mark, marks) == "handed":
                await self._recover_handed(entry, marks)
            else:
                self._recover(entry, marks)
        await self._recall(self._outbox, marks)
        await self._outbox.flush()
        return unfinished

    async def _recall(self, outbox: Outbox, marks: DeliveryMarks) -> None:
        """Know again the last text that was pasted here, if it was left in the composer of this program."""
        entry = await outbox.in_composer(server=self._server_key, pane=self._pane)
        if entry is None or entry.program != self._program or marks.pasted != str(entry.mark):
            return
        if entry.state in {"turn_started", "answered"}:
            return
        attempts = enters(entry.mark, marks)
        if entry.is_open and not attempts:
            return  # `_recover` goes on with it.
        self._marks[entry.message_id] = entry.mark
        self._in_composer = ComposerText(entry.message_id, entry.composer)
        if not attempts:
            self._injected.add(entry.message_id)
            self._pipeline.inject(entry.message_id, entry.composer)
        self._machine.recall(self._in_composer, attempts, self._now() - max(0.0, time.time() - entry.changed))

    async def put(self, message: Message) -> bool:
        """Queue a message; return False if it cannot be delivered or is known already, as its receipt says.

        With an outbox, the message is on disk when this returns. Raises UsageError for an invalid id (allowed are
        letters, digits and `_.:@-`, at most 128).
        """
        check_message_id(message.message_id)
        removed = removed_from(message.text)
        policy = message.policy or self._policy
        message = replace(message, text=sanitised(message.text), head=sanitised(message.head), policy=policy)
        mark: DeliveryMark | None = None
        if self._outbox is not None:
            if not self._server_key:
                await self._read_marks()
            entry, is_new = await self._outbox.put(
                message,
                server=self._server_key,
                pane=self._pane,
                program=self._program,
                removed=removed,
                above=self._last_number,
            )
            if not is_new:
                # Reported but not stored: a state that arrives meanwhile is newer.
                now = await self._outbox.current(entry)
                self._report(Progress(now.message_id, self._pane, now.state, self._now(), now.reason, file=now.file))
                return False
            mark = entry.mark
        mark = mark or DeliveryMark(next_number(self._last_number), message.message_id)
        self._last_number = max(self._last_number, mark.number)
        self._let_go()
        self._marks[message.message_id] = mark
        if reason := self._broken or self._unfit(message):
            self._tell(message.message_id, "failed", reason, removed)
            return False
        effects = self._machine.put(message, self._now())
        self._carry_out(effects, removed)
        self._news.set()
        return not any(isinstance(effect, ReportState) and effect.state == "failed" for effect in effects)

    async def claim(self, message: Message) -> None:
        """Bind an id that the sender chose to its text; raises UsageError if it was used for another one here."""
        check_message_id(message.message_id)
        if self._outbox is not None:
            if not self._server_key:
                await self._read_marks()
            await self._outbox.claim(message.message_id, message.text, server=self._server_key, pane=self._pane)

    def withdraw(self, message_id: str, reason: str = SUPERSEDED) -> None:
        """Withdraw a message that is not pasted: its receipt says `failed` with that reason."""
        self._carry_out(self._machine.withdraw(message_id, reason))
        self._news.set()

    async def cancel(self, message_id: str) -> None:
        """Cancel a message unless tmux has pasted it; return when its receipt says which of the two it is.

        A message without a waiting caller, and one of an unknown id, stay as they are.
        """
        self.withdraw(message_id, CANCELLED)
        while self._running and self._machine.is_pasting(message_id):
            self._progressed.clear()
            await self._progressed.wait()

    async def run(self) -> None:
        """Deliver until cancelled; raises ProgramLeft, TargetNotReading, PaneGone or tmux's error.

        Raises StorageError if the outbox cannot be written. The messages then stay in it as they are, for `recover`.
        """
        self._pipeline.add_listener(self._hear, never)
        self._running = True
        try:
            await until_first(self._deliver_all(), self._watch_reading(), self._follow_handed())
        except StorageError as error:
            self._broken = error.code
            raise
        except StreamrelayError as error:
            self._broken = error.code
            self._carry_out(self._machine.stop(error.code))
            raise
        finally:
            self._running = False
            self._progressed.set()
            self._pipeline.remove_listener(self._hear)
            if self._lane is not None:
                lane, self._lane = self._lane, None
                await lane.close()

    def stop(self, reason: str) -> None:
        """End all messages after `run` has ended: those without their answer become unconfirmed."""
        self._carry_out(self._machine.stop(reason))

    async def finish(self) -> None:
        """Wait until each message is submitted or has failed; never returns once `run` has raised."""
        while self._broken or not self._machine.idle:
            self._progressed.clear()
            await self._progressed.wait()

    # Typing

    async def _deliver_all(self) -> NoReturn:
        while True:
            self._news.clear()
            if self._pipeline.closed and not self._machine.idle:
                raise PaneGone(f"pane {self._pane} was closed", data={"pane": self._pane})
            if not self._machine.idle:
                self._check_program()
                look = self._look()
                if look.pane_state.withdrawn and self._unread.may_be_unread(self._now()):
                    await self._take_back()
                    continue
                effects = self._machine.look(look, self._now())
                self._carry_out(effects)
                for effect in effects:
                    if isinstance(effect, HandOver):
                        await self._hand_over(effect.message, look)
                    elif isinstance(effect, Paste):
                        await self._paste(effect.message, look)
                    elif isinstance(effect, Enter):
                        await self._enter(effect, look)
                if any(isinstance(effect, HandOver | Paste | Enter) for effect in effects):
                    continue
                # A message may be finished without a report: its text has vanished from the composer.
                self._progressed.set()
            await self._until_something_happens()

    def _check_program(self) -> None:
        """Check that the checked program, or its shell, is still in the foreground; raises ProgramLeft."""
        command = self._pipeline.info.command
        if self._allow_shell and self._terminal.shell_works:
            self._shell_worked_at = self._now()
        elif self._shell_works and is_shell(command):
            self._program, self._shell_worked_at = command, -math.inf
        elif command != self._program and not self._shell_works:
            self._unread.take_back()
            raise program_left(self._pane, self._program, command)

    @property
    def _shell_works(self) -> bool:
        """Whether an allowed shell runs a command, or did so a moment ago."""
        return self._now() < self._shell_worked_at + _SHELL_RETURNS

    async def _until_something_happens(self) -> None:
        due = None if self._machine.idle else self._machine.deadline()
        if self._shell_works and not self._machine.idle:
            due = self._now() + _SHELL_LOOKS if due is None else min(due, self._now() + _SHELL_LOOKS)
        waiting = [asyncio.ensure_future(self._news.wait())]
        if not self._machine.idle:
            waiting.append(asyncio.ensure_future(self._pipeline.changed()))
        try:
            timeout = None if due is None else max(0.0, due - self._now())
            await asyncio.wait(waiting, timeout=timeout, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in waiting:
                task.cancel()

    def _look(self) -> PaneView:
        """Return a view of the pane; the terminal's echo also reveals questions for a secret with unknown words."""
        self._pipeline.look()
        pane_state = self._pipeline.pane_state
        if asks_for_secret(self._pipeline.open_line) and self._terminal.hides_input:
            pane_state = pane_state.asking_for("password")
        if self._shell_works:
            pane_state = replace(pane_state, withdrawn=True)
        profile = self._server.profile(pane_state.profile)
        has_lane = profile is not None and self._server.is_here
        lane = profile.delivery.lane_for(self._server.lane) if profile is not None and has_lane else "paste"
        return PaneView(pane_state, profile, self._pipeline.last_output, self._pipeline.cursor, lane)

    async def _take_back(self) -> None:
        """Discard unread text of a leaving program, so that its shell does not read it."""
        if self._unread.take_back():
            self._carry_out(self._machine.taken_back())
        else:
            await asyncio.sleep(_LANDING)

    def _seen(self, look: PaneView) -> Seen:
        """Return the state that must not change before typing; the cursor of a printing program may move."""
        pane_state = look.pane_state
        firm = (pane_state.asks_for_paste or pane_state.converses) and self._moved < _MAX_MOVED
        return Seen(pane_state.asks_for_paste, look.cursor if firm else None)

    async def _paste(self, message: Message, look: PaneView) -> None:
        """Paste a message; its echo can arrive in the same read as tmux's confirmation."""
        if is_spooled(message, self._paste_limit):
            path, message = await asyncio.to_thread(spool, message, self._pane, state_folder("spool"))
            self._files[message.message_id] = str(path)
        if self._outbox is not None:
            await self._outbox.flush()
        mark = self._marks[message.message_id]
        buffer = f"streamrelay-{self._pane[1:]}-{mark.number}"
        line = paste_line(self._pane, buffer, message.text, self._program, mark, seen=self._seen(look))
        if message.message_id not in self._injected:
            self._injected.add(message.message_id)
            self._pipeline.inject(message.message_id, message.text)
        written = self._now()
        if await self._typed(line, mark, {"enter", "submitted"}):
            self._unread.typed(self._now())
            self._carry_out(self._machine.pasted(written), at=written)

    async def _enter(self, enter: Enter, look: PaneView) -> None:
        if self._unread.may_be_unread(self._now()):
            # The reader of the text also reads the Enter: both would go to the shell if the program left without them.
            self._carry_out(self._machine.put_off())
            await asyncio.sleep(_LEAVING)
            return
        message_id = enter.message.message_id
        if message_id in self._injected:
            self._injected.discard(message_id)
            self._pipeline.submit(message_id)
        key = look.profile.delivery.submit_key if look.profile is not None else "Enter"
        mark, seen = self._marks[message_id], self._seen(look)
        line = enter_line(self._pane, self._program, mark, attempt=enter.attempt, key=key, seen=seen)
        if await self._typed(line, mark, {"submitted"}):
            # A line editor ends its request when it has read this; input that waits soon after comes from a person.
            self._unread.typed(self._now(), arrives_in=0.0)
            self._carry_out(self._machine.entered(self._now()))

    async def _typed(self, line: str, mark: DeliveryMark, typed: Collection[Fate]) -> bool:
        """Let tmux type a line; return False if it did not. Raises an error that rules typing out.

        `typed` are the states in which the line has typed the text already: an earlier writer sent it, or the
        connection ended before tmux answered.
        """
        result = await self._server.command(self._pane, line, repeatable=True)
        refusal = next((read for block in result.blocks if (read := read_refusal(block.lines)) is not None), None)
        if refusal is None:
            self._moved = 0
            self._last_typed = self._now()
            return True
        error = refusal_error(refusal, self._pane, self._program)
        if error is not None:
            self._unread.take_back()
            self._carry_out(self._machine.refused(error.code))
            raise error
        if refusal.again:
            if fate(mark, await self._read_marks()) in typed:
                return True
            # A writer on another machine has a clock that is ahead of this one.
            self._carry_out(self._machine.refused("overtaken", "unconfirmed"))
            return False
        self._moved = self._moved + 1 if refusal.moved and not refusal.leaving else 0
        self._carry_out(self._machine.put_off())
        await asyncio.sleep(_LEAVING)
        return False

    # The program's own API

    async def _open_lane(self) -> Lane | None:
        """Return the program's native lane; None if its profile names none."""
        profile = self._server.profile(self._pipeline.pane_state.profile)
        name = None if profile is None else profile.delivery.native
        if self._lane is None and name is not None:
            # The clients import more than all the rest, and most messages are typed.
            from streamrelay.agents.lanes.choice import native_lane

            self._lane = native_lane(name, self._pipeline.info.pid)
        return self._lane

    async def _hand_over(self, message: Message, look: PaneView) -> None:
        """Hand a message to the program's own API, if exactly one conversation of it is on the screen."""
        lane = await self._open_lane()
        asked = f"display-message -p -t {self._pane} '#{{pane_title}}'"
        title = await self._server.command(self._pane, asked, repeatable=True)
        shown = b"".join(title.lines[:1]).decode(errors="replace")
        address = "no_server" if lane is None else await lane.find(shown)
        if lane is None or isinstance(address, str):
            self._carry_out(self._machine.no_lane(types=look.lane == "auto"))
            return
        handed = lane.reference(address)
        mark = self._marks[message.message_id]
        if self._outbox is not None:
            await self._outbox.flush()
        await self._server.command(self._pane, hand_over_line(self._pane, mark, str(handed)), repeatable=True)
        self._pipeline.hand_over(message.message_id, message.text)
        match await lane.hand_over(handed, message.text):
            case "taken":
                self._handed[message.message_id] = handed
                self._carry_out(self._machine.handed_over(self._now(), is_held=address.is_busy))
                self._news.set()
            case "not_sent":
                self._carry_out(self._machine.no_lane(types=look.lane == "auto"))
            case "unknown":
                self._carry_out(self._machine.refused(NO_REPLY, "unconfirmed"))

    async def _follow_handed(self) -> NoReturn:
        """Report what the program's own API says of the messages that it has."""
        replied = self._now()
        while True:
            await asyncio.sleep(_FOLLOWS)
            if not self._handed or self._lane is None:
                replied = self._now()
                continue
            states = await self._lane.states(list(self._handed.values()))
            if states is None:
                if self._now() >= replied + _LANE_LOST:
                    self._handed.clear()
                    self._carry_out(self._machine.lane_lost())
                continue
            replied = self._now()
            if "answered" in states.values():
                await self._until_told()
            for message_id, handed in list(self._handed.items()):
                answering = states.get(handed.reference, "held")
                if answering == "answered":
                    self._handed.pop(message_id, None)
                self._carry_out(self._machine.lane_reports(message_id, answering))

    async def _until_told(self) -> None:
        """Wait until the stream has told the answer, which the screen shows after the API reports it."""
        until = self._now() + _STREAM_LAG
        while self._pipeline.pane_state.answers and self._now() < until:  # noqa: ASYNC110  # nothing tells of its end
            await asyncio.sleep(_FOLLOWS)

    async def _recover_handed(self, entry: OutboxEntry, marks: DeliveryMarks) -> None:
        """Ask the program's own API whether it has a message; without a reply its fate is unknown."""
        self._marks[entry.message_id] = entry.mark
        self._last_number = max(self._last_number, entry.number)
        handed = Handed.parse(marks.handed.removeprefix(f"{entry.mark} "))
        lane = await self._open_lane()
        taken = None if lane is None or handed is None else await lane.was_taken(handed)
        if taken:
            self._tell(entry.message_id, "submitted", "restarted")
        else:
            self._tell(entry.message_id, "unconfirmed", NO_REPLY)

    # Events of the pane

    def _hear(self, events: Sequence[Event]) -> None:
        for event in events:
            self._carry_out(self._machine.handle(event, self._now()))

    def _carry_out(
        self, effects: Sequence[Effect], removed: dict[str, int] | None = None, at: float | None = None
    ) -> None:
        for effect in effects:
            if isinstance(effect, ReportState):
                self._tell(effect.message_id, effect.state, effect.reason, removed, at)
        self._note_composer()

    def _note_composer(self) -> None:
        """Let the outbox know which text the composer may hold, for a later writer of the pane."""
        before, now = self._in_composer, self._machine.composer_text
        self._in_composer = now
        if self._outbox is None or before == now:
            return
        if before is not None and (now is None or now.message_id != before.message_id):
            self._outbox.note_composer(self._marks[before.message_id].number, "")
        if now is not None:
            self._outbox.note_composer(self._marks[now.message_id].number, now.shown)

    def _tell(
        self,
        message_id: str,
        state: DeliveryState,
        reason: str = "",
        removed: dict[str, int] | None = None,
        at: float | None = None,
    ) -> None:
        file = self._files.get(message_id)
        mark = self._marks.get(message_id)
        if self._outbox is not None and mark is not None:
            self._outbox.note(mark.number, state, reason, file)
        at = self._now() if at is None else at
        self._report(Progress(message_id, self._pane, state, at, reason, removed or {}, file))
        self._progressed.set()

    def _let_go(self) -> None:
        """Forget finished messages, since a writer lives as long as its pane."""
        still = self._machine.message_ids
        self._injected &= still
        self._marks = {each: mark for each, mark in self._marks.items() if each in still}
        self._files = {each: file for each, file in self._files.items() if each in still}

    def _unfit(self, message: Message) -> str:
        return rejection_reason(message, message.policy or self._policy, self._terminal, limit=self._paste_limit)

    @property
    def _paste_limit(self) -> int | None:
        """The most characters to paste into this program; longer texts are spooled."""
        profile = self._server.profile(self._pipeline.pane_state.profile)
        return profile.delivery.paste_limit if profile is not None else None

    # Recovery

    async def _read_marks(self) -> DeliveryMarks:
        asked = f"display-message -p -t {self._pane} '{QUERY_MARKS}'"
        answer = await self._server.command(self._pane, asked, repeatable=True)
        started, *marked = answer.lines[-1].decode(errors="replace").split("\t")
        info = self._server.info
        self._server_key = server_key(info.address, info.pid, started)
        marks = DeliveryMarks(*marked[:3])
        # Another clock may have numbered them: tmux types nothing whose mark is not above.
        self._last_number = max(self._last_number, marks.highest)
        return marks

    def _recover(self, entry: OutboxEntry, marks: DeliveryMarks) -> None:
        self._marks[entry.message_id] = entry.mark
        self._last_number = max(self._last_number, entry.number)
        match fate(entry.mark, marks):
            case "send" | "enter" as found if entry.program != self._program:
                # The former program may have read the pasted text, or the one that is there now.
                self._tell(entry.message_id, "failed" if found == "send" else "unconfirmed", ProgramLeft.code)
            case "send" if reason := self._unfit(entry.message):
                self._tell(entry.message_id, "failed", reason)
            case "send":
                # Its time limit counts from when it was first queued.
                self._carry_out(self._machine.put(entry.message, self._now() - entry.age))
            case "enter":
                if entry.state == "queued":
                    self._tell(entry.message_id, "pasted")
                self._injected.add(entry.message_id)
                self._pipeline.inject(entry.message_id, entry.text)
                self._machine.resume(entry.message, self._now())
            case "submitted":
                self._tell(entry.message_id, "submitted", "restarted")
            case "unconfirmed":
                self._tell(entry.message_id, "unconfirmed", "overtaken")
        self._news.set()

    async def _watch_reading(self) -> NoReturn:
        """Raise TargetNotReading for a program that never reads its input."""
        tty = lambda: self._terminal.path if self._last_typed is not None else ""  # noqa: E731
        unread = await until_left_unread(tty, self._read_timeout)
        raise target_not_reading(self._pane, self._program, unread, self._read_timeout)

    @staticmethod
    def _now() -> float:
        return asyncio.get_running_loop().time()
