"""The pipeline of one pane: its stream (`panes.live`) from start to end, and the queries that keep the stream exact.

It begins with tmux's current screen, or continues where an earlier process ended. After a gap it queries tmux
(`panes.gap_recovery`); the reply has its exact place in the stream. It ends with the pane.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace

from streamrelay.delta.inputs import Began, Ended, HandedOver, Missed, Output, Pasted, Ran, Reseeded, Resized, Submitted
from streamrelay.delta.profiles import Profile
from streamrelay.events import ClosedReason
from streamrelay.panes.final_output import RESTED, FinalOutput
from streamrelay.panes.gap_recovery import GapRecovery
from streamrelay.panes.injections import InjectionLog
from streamrelay.panes.inventory import PaneInfo
from streamrelay.panes.live import InputRecorder, PaneRuntime
from streamrelay.panes.log import PaneLog, Past
from streamrelay.panes.recovery import TmuxRows, read_held
from streamrelay.panes.scheduler import RenderScheduler
from streamrelay.panes.selfcheck import SelfCheck, SelfCheckResult
from streamrelay.panes.snapshot import SNAPSHOT_BLOCKS, read_generation, read_snapshot
from streamrelay.panes.tasks import in_slices
from streamrelay.panes.witness import WitnessSource
from streamrelay.vt import TmuxScreen
from streamrelay.vt.comparison import divergences
from streamrelay.vt.engine import Cursor, Snapshot
from streamrelay.vt.widths import Widths, unicode14


class PanePipeline(PaneRuntime):
    """The stream of one pane, from its first screen to its end."""

    def __init__(
        self,
        info: PaneInfo,
        profiles: Sequence[Profile] = (),
        *,
        rendering: RenderScheduler[PaneRuntime],
        widths: Widths | None = None,
        record_input: InputRecorder | None = None,
        injections: InjectionLog | None = None,
        witnesses: WitnessSource | None = None,
    ) -> None:
        """Open the pipeline of a pane (see `PaneRuntime`)."""
        super().__init__(
            info,
            profiles,
            rendering=rendering,
            widths=widths,
            record_input=record_input,
            injections=injections,
            witnesses=witnesses,
        )
        self._missing = GapRecovery(self._screen)
        self._respawned = False
        self.awaits_screen = False
        """Whether the pane has a new size, and tmux's screen in that size was not read yet."""

    async def resume(self, past: Past) -> None:
        """Continue where an earlier process ended: replay its entries, so that the stream repeats the same events.

        A replay of many entries takes seconds, so it gives the loop to others in between: nothing else may enter the
        stream before it is over. The next query asks tmux for the output since the last entry, and the stream's clock
        stands still until the answer.
        """
        self.phase = "resuming"
        self._began = past.began
        command, record_input, self._record_input = self.info.command, self._record_input, None
        async for entry in in_slices(past.entries):
            if isinstance(entry, Began | Ran):
                command = entry.command
            elif isinstance(entry, Pasted | Submitted | HandedOver):
                self._past_messages[entry.message_id] = not isinstance(entry, Pasted)
            if isinstance(entry, HandedOver):
                self._handed.add(entry.message_id)
            self._enter(entry)
        self.info = replace(self.info, command=command)
        self._record_input = record_input
        self._missing.note("detached")
        if self._injections is not None:
            self._hear_of(self._injections.begin(since=self._began + self._stream.now))

    def renew(self, snapshot: Snapshot, log: PaneLog, renewed: Callable[[], None]) -> bool:
        """Start a new stream with a new log from tmux's current screen; return False if the pane is not idle.

        It calls `renewed` between the last event of the old stream and the first one of the new.
        """
        self.catch_up()
        if not self.rests or self.phase != "live" or self.answers:
            return False
        asks_for_paste = self.pane_state.asks_for_paste
        self._began = self._loop.time()
        self._screen = TmuxScreen(self.info.columns, self.info.lines, widths=self._widths)
        self._missing = GapRecovery(self._screen)
        self._stream = self._new_stream()
        if self._witness is not None:
            self._witness.renew()
        self._past_messages.clear()
        log.begin(self._began)
        self._record_input = log.take
        self.phase = "connecting"
        renewed()
        self.seed(snapshot)
        if asks_for_paste:
            # A snapshot does not contain it.
            self._enter(Output(self._now(), self.info.pane, b"\x1b[?2004h"))
        return True

    def seed(self, snapshot: Snapshot) -> None:
        """Start, or restart, with tmux's screen at this place of the stream."""
        self.catch_up()
        self.awaits_screen = False
        now, info = self._now(), self.info
        if self.phase != "connecting":
            respawned, self._respawned = self._respawned, False
            self._enter(Reseeded(now, info.pane, snapshot, respawned))
            if respawned and snapshot.modes.bracketed_paste:
                self._enter(Output(now, info.pane, b"\x1b[?2004h"))
        else:
            self.phase = "live"
            widths = unicode14() if self._widths is None else self._widths
            self._enter(
                Began(
                    now, info.pane, info.session_name, info.command, info.title, snapshot,
                    widths=widths.differing, quirks=widths.quirks,
                )
            )  # fmt: skip
            if self._injections is not None:
                self._hear_of(self._injections.begin())

    def update(self, info: PaneInfo) -> None:
        """Take tmux's current data of the pane; if its program was replaced, the pane needs a new seed."""
        if self.seeded and self.info.is_replaced_by(info):
            self.catch_up()
            self._respawned = True
            if self.paints:
                # The stream took the new program's first output for repaints of the old one, and did not report it.
                screen = self._screen
                rows, wrapped = (b"",) * screen.lines, (False,) * screen.lines
                total = screen.history_total
                self.seed(Snapshot(screen.columns, screen.lines, rows, wrapped, Cursor(0, 0), history_total=total))
                self._lose("respawned")
                self._respawned = True
        super().update(info)

    def output(self, data: bytes, read_at: float) -> None:
        """Take bytes of the pane, read at `read_at` (loop time); the scheduler renders them at this pane's turn.

        Bytes count only while the pane is live or moved. While a query is pending they are dropped, because its reply
        comes after them and contains them.
        """
        if self.phase in {"live", "moved"}:
            super().output(data, read_at)

    def check(self, selfcheck: SelfCheck, reply: Sequence[Sequence[bytes]]) -> SelfCheckResult | None:
        """Compare the screen with tmux's at this place of the stream; continue with tmux's if they differ.

        Earlier text may then come from a wrong screen, so the stream reports a `gap`.
        """
        self.catch_up()
        if not self.seeded:
            return None
        verdict = selfcheck.judge(self._screen, reply)
        if verdict is not None and verdict.divergences:
            self._enter(Missed(self._now(), self.info.pane, "divergence"))
            self._missing.generation = read_generation(reply)
            self.seed(verdict.snapshot)
        self._set_timer()
        return verdict

    def missed(self, reason: str) -> None:
        """Note that output is missing from here on, until `answer`; a gap has this `reason`."""
        self.catch_up()
        if self.seeded:
            self._lose(reason)

    def _lose(self, reason: str) -> None:
        self._missing.note(reason)
        if self.phase == "live":
            self.phase = "moved" if reason == "moved" else "recovering"

    def disconnected(self) -> None:
        """Note that the connection has ended: pending queries stay unanswered, and output is missing from here on."""
        self._missing.disconnected()
        self.missed("detached")

    @property
    def has_moved(self) -> bool:
        """Whether output may arrive late because the pane has moved."""
        return self.phase == "moved"

    def resized(self, columns: int, lines: int) -> None:
        """Note that the pane's cell has this size from here on; tmux is asked for its screen afterwards."""
        screen = self._screen
        if self.phase == "live" and self.info.fills_cell and (columns, lines) != (screen.columns, screen.lines):
            self.catch_up()
            self.awaits_screen = True
            self._enter(Resized(self._now(), self.info.pane, columns, lines))

    def moved(self, info: PaneInfo) -> None:
        """Note that the pane has moved to the place in `info`; its output may arrive late until `arrived`."""
        self.missed("moved")
        if self.seeded:
            for entry in self._missing.moved(info, self._now()):
                self._enter(entry)
        self.update(info)

    def arrived(self, blocks: Sequence[Sequence[bytes]]) -> bool | None:
        """Return whether all output of a moved pane has arrived, by tmux's replies to `place_line`.

        Return None if the pane has moved or changed again; a later notification handles that.
        """
        self.catch_up()
        held = read_held(blocks, 0)
        if held is None or not self.has_moved:
            return False
        size = (held.snapshot.columns, held.snapshot.lines)
        if list(blocks[0]) != [self.info.window.encode()] or size != (self._screen.columns, self._screen.lines):
            return None
        if not self._missing.arrived(held):
            return False
        self.phase = "live"
        if divergences(self._screen, held.snapshot):
            self._missing.generation = held.generation
            self.seed(held.snapshot)
        return True

    def paused(self) -> bool:
        """Note that tmux paused the pane; return False if a pending reply contains the dropped output anyway."""
        if self.phase == "connecting" or self._missing.ends_pause:
            return False
        self.missed("paused")
        return True

    def question(self) -> str:
        """Return the command line that queries the pane's state and, after a gap, the missing output.

        The caller must send it and pass the reply to `answer`, or call `take_back` if it could not send it.
        """
        return self._missing.question(self.info.pane, self._loop.time(), seeded=self.phase != "connecting")

    def take_back(self) -> None:
        """Note that the last `question` was not sent, so no reply follows."""
        self._missing.take_back()

    def answer(self, blocks: Sequence[Sequence[bytes]]) -> bool:
        """Start or continue with tmux's reply to `question` at this place of the stream; False if the pane is gone."""
        known = self._take_up(blocks)
        if self.phase == "resuming":
            self.phase = "live" if self._missing.reason is None else "recovering"
            self._set_timer()
        return known

    def _take_up(self, blocks: Sequence[Sequence[bytes]]) -> bool:
        asked = self._missing.answered()
        if asked.depth is not None:
            return self._go_on(read_held(blocks, asked.depth))
        current = blocks[-SNAPSHOT_BLOCKS:]
        snapshot = read_snapshot(current)
        # A gap that began after this query has its own later query, which starts from the stream's place by then.
        if snapshot is not None and self.phase in {"connecting", "live"}:
            self._missing.generation = read_generation(current)
            self.seed(snapshot)
        return snapshot is not None

    def _go_on(self, held: TmuxRows | None) -> bool:
        """Report the missing output, and continue with the current screen."""
        if held is None or self.closed:
            return held is not None
        # An earlier query may have been answered first; this one has skipped the output since then.
        self._lose("paused")
        self._recover(held)
        self.seed(held.snapshot)
        if held.title != self._screen.title or (self.paints and self._stream.answers):
            # Programs show by their titles whether they are at work; an answer may have come and ended meanwhile.
            title = "".join(character for character in held.title if character.isprintable())
            self._enter(Output(self._now(), self.info.pane, f"\x1b]2;{title}\x07".encode()))
        return True

    def _recover(self, held: TmuxRows) -> bool:
        """Report the recoverable output, or a gap for the rest; return True if nothing is lost."""
        now, at = self._loop.time(), self._now()
        entries, whole = self._missing.recover(held, self.info.pane, now, at, paints=self.paints)
        for entry in entries:
            self._enter(entry)
        if self.phase in {"moved", "recovering"}:
            self.phase = "live"
        return whole

    def finalize(self, last: FinalOutput | None) -> None:
        """Close the stream of an ended program, with the final output from its remaining pane."""
        self.catch_up()
        if last is None or not self.seeded:
            self.close("pane_gone")
            return
        if self.paints:
            heard = last.shows(self._screen.text())
        else:
            self._missing.note("tail")
            heard = self._recover(last.held)
        rested = self._loop.time() - (self.last_output or self._began) > RESTED
        self.close("pane_gone", status=last.status, tail_certain=heard and rested)

    def close(self, reason: ClosedReason, *, status: int | None = None, tail_certain: bool = False) -> None:
        """End the stream, after its last events."""
        self.catch_up()
        if self.closed:
            return
        if self.phase == "connecting":
            self.discard()
            return
        # A pane that left its window and is nowhere has ended; its end reports whether all its output was heard.
        if self._missing.reason is not None and not self.has_moved:
            self._enter(Missed(self._now(), self.info.pane, self._missing.reason))
        self.phase = "closed"
        self._enter(Ended(self._now(), self.info.pane, reason, status, tail_certain))
        if self._injections is not None and reason in {"pane_gone", "session_gone", "server_lost"}:
            self._injections.discard()
        self._record_input = None
        self._listeners.leave()
