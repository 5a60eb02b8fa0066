"""Where a stream of bytes may be cut so that every frame is one the program meant to show.

A frame that shows half a repaint makes wrong lines, so the screen is looked at only at these places:

* after the end of a synchronized update, after bracketed paste is switched, around a switch of the alternate screen;
* at the end of whatever was read, as long as the program is *linear*: it has not moved the cursor to another row
  except by printing. A row that a linear program left behind cannot change any more, wherever the read was cut;
* before the first movement to another row, because the rows above it are still the linear program's, unless nothing
  was printed since the last look (a repaint that follows another, as a spinner's: half of all looks);
* before a shell's mark (OSC 133 or 633), and after the blanks with which a shell ends a line left unfinished;
* before a program hides the cursor: from there on it *paints*, and nothing on the screen is final before it has shown
  the cursor again and rested (programs tidy up after showing it);
* after a rest: `SETTLE` seconds without output, not before `MAX_UPDATE` where a synchronized update has begun and
  not ended; or `CALM` bytes without such a movement.

Moving within the row (CR, BS, CUF, CUB, CHA, EL ...) keeps a program linear: the row it works on is still open.
"""

import re
from collections.abc import Generator, Iterator
from typing import Literal, NamedTuple

SETTLE = 0.012
"""Seconds without output after which a repaint counts as finished (coarser cuts lost rows on recorded agents)."""

MAX_UPDATE = 0.15
"""Seconds from the beginning of a synchronized update in which its end is waited for, as terminals do more or less."""

CALM = 4096
"""Bytes without a movement to another row after which a program is linear again, though it never rested."""

MAX_STRETCH = 1 << 18
"""Bytes after which a program that neither rests nor calms down is looked at all the same: history is bounded."""

MAX_PIECE = 1 << 16
"""Bytes fed at once: what a frame holds is bounded by it."""

MAX_SEQUENCE = 640
"""Bytes of an unfinished sequence carried over to the next read; longer ones are none of those below."""

# Every byte of every pane passes here: `re` takes a third of the time of `regex`, and looking past colours first half
# of what is left.
_VERTICAL = rb"[8Mc]|\[[0-9;]*+[ABEFHfJLMSTdru]"
_OTHERS = (
    rb"|\[\?(?P<modes>[0-9;]*+)(?P<switch>[hl])"
    rb"|\](?:133|633);(?P<mark>[A-C]|D(?:;[0-9]{0,3})?)(?=[;\x07\x1b]))"
)
_LANDMARK = re.compile(rb"\x1b(?!\[[0-9;:]*+m)(?:(?P<vertical>" + _VERTICAL + rb")" + _OTHERS)
_LANDMARK_IN_REPAINT = re.compile(rb"\x1b(?:(?P<vertical>c|\[3J)" + _OTHERS)
"""Without movements: a repaint is full of them, so inside one they are no landmarks."""
_LAST_MOVEMENT = re.compile(rb"(?s:.*)\x1b(?:" + _VERTICAL + rb")")
# Groups that may fail halfway are greedy: see vt/tokens.py.
_STYLES = rb"(?:\x1b\[[0-9;:]*+m)+"
_ROW_ERASED = re.compile(rb"\n(?:" + _STYLES + rb")?\x1b\[0?K(?:" + _STYLES + rb")?\Z")
"""Matches a line feed and a row erased behind it, at the end of a read."""
MAX_ERASURE = 64
"""The most bytes of such an end, styles included."""
_END_MARK = _STYLES + rb"(?P<end>[^\x00-\x20\x1b\x7f]{1,12}+)(?:" + _STYLES + rb"|\x0f)+"
_PADDING = rb"(?P<padding> {16,}+)\r(?:(?P=end))? +\r"
_LANDMARK_OR_ENDED_LINE = re.compile(_LANDMARK.pattern + rb"|" + _END_MARK + _PADDING)
_BLANKS, _OVERWRITTEN = b" " * 16 + b"\r", re.compile(rb" {16}\r[^\x00-\x20]{0,12} +\r")
"""What an ended line has in it: without, the landmarks are found in a third of the time."""
_WITHIN_ROW = re.compile(rb"(?:\r|\x1b\[[0-9;:?]*+[@CDGKPXhlm])*+")
"""What prints nothing and leaves the row alone that the cursor is in, as a repaint begins that erases the last one."""
_UNFINISHED = re.compile(rb"\x1b(?:\[[?]?[0-9;:]*|\](?:[136]{1,3}(?:;[A-D]?(?:;[0-9]{0,3})?)?)?)?\Z")
_FINISHED = re.compile(rb"\x1b\[\??[0-9;:]*[@-ln-~]")
"""A sequence that is whole, and no style: none is unfinished that begins with it, or before it."""
_UNFINISHED_END = re.compile(
    _STYLES + rb"(?:[^\x00-\x20\x1b\x7f]{1,12}(?:(?:" + _STYLES + rb"|\x0f)+ *(?:\r[^\x00-\x1f\x7f]{0,14})?)?)?"
    rb"(?:\x1b(?:\[[0-9;:]*)?)?\Z"
)
_SYNCHRONIZED, _BRACKETED_PASTE, _CURSOR_SHOWN = b"2026", b"2004", b"25"
_WIPES = frozenset({b"\x1b[3J", b"\x1bc"})
_ALTERNATE = frozenset({b"1049", b"1047", b"47"})
_HOMING = frozenset({b"6", b"3"})
"""Origin mode and 132 columns: switching them takes the cursor home."""

_KEY_MODES = frozenset({b"1", b"1000", b"1002", b"1003"})
"""Cursor keys in application mode, and the mouse: programs that read lines have no use for them."""

_LANDMARK_MODES = _ALTERNATE | _HOMING | {_SYNCHRONIZED, _BRACKETED_PASTE, _CURSOR_SHOWN}


class EndedLine(NamedTuple):
    """What a shell prints before its prompt so that the prompt begins on a row of its own (zsh, fish).

    A mark that shows an unfinished line, and as many blanks as bring the cursor to another row if it was not in the
    first column; otherwise the prompt overwrites the mark.
    """

    mark: str
    blanks: int


class FrameCutter:
    """Cuts reads into the pieces after which a frame may be taken."""

    def __init__(self) -> None:
        self.linear = True
        self.painting = False
        """Whether the program hid its cursor and may still repaint what it printed since."""
        self.at_landmark = False
        """Whether the piece last yielded ends where the program meant it to, and not where a read did."""
        self.at_switch = False
        """Whether that end is a switch of the screen or of bracketed paste: what follows it means something else."""
        self.is_left = False
        """Whether the alternate screen is shown right behind the piece last yielded."""
        self.more = False
        """Whether the same read goes on behind the piece last yielded."""
        self.at_wipe = False
        """Whether the piece last yielded ends with a wipe of history (`CSI 3J`, a reset)."""
        self.at_last_repaint = False
        """Whether the piece last yielded ends where a line editor that has withdrawn erased what it showed."""
        self._may_repaint: Literal["", "withdrawn", "above"] = ""
        """Whether a line editor may still erase what it shows: it has withdrawn, and has moved above its last row."""
        self.mark = ""
        """The mark of a shell's (OSC 133, 633) that stands behind the piece last yielded, where one does."""
        self.ended_line: EndedLine | None = None
        """How a shell ended an unfinished line, where the piece last yielded ends with that."""
        self.moved = False
        """Whether the program has moved the cursor to another row, but by printing, since it last read a line."""
        self.moved_since_rest = False
        """The same, since the last rest."""
        self._erases_row = False
        """Whether the last read ends in a row that the program came to by a line feed, and erased."""
        self.key_modes: set[bytes] = set()
        """What the program has asked for of `_KEY_MODES`: it reads keys."""
        self._released_keys = True
        """Whether it had asked for none of them at some time since the last `take_keys_released`."""
        self.keeps_transcript = False
        """Whether the program has answered on a screen that it paints: one that withdraws bracketed paste leaves."""
        self.hidden = False
        """Whether the program has hidden the cursor."""
        self.ends_snapshots = False
        """Whether the program says where a snapshot ends: it has ended a synchronized update on this screen."""
        self._only_printed = True
        """Whether the program has only printed since the last frame was taken."""
        self._updates = False
        """Whether a synchronized update has begun and not ended."""
        self._update_began: float | None = None
        """When it was read that it had, or one before it to which none has ended."""
        self._carried = b""
        self._taken: int | None = None
        """Behind which place, counted from the beginning of the current read, nothing has been printed since the last
        whole snapshot; None if something has."""
        # Where the last movement was and where the stretch began, counted from the beginning of the current read.
        self._last_move = 0
        self._stretch_began = 0

    def prints(self, data: bytes) -> bool:
        """Whether as much of `data` may be fed without being cut as is nothing but printed lines.

        A program that just prints sends little else, and the terminal looks for it anyway.
        """
        return self.linear and not self.hidden and len(data) <= MAX_PIECE

    def printed(self, data: bytes) -> None:
        """Note that this was nothing but printed lines: it has no landmark, and may end in the beginning of one."""
        carried = len(self._carried)
        scanned = self._carried + data if self._taken is not None else b""
        self._carry(data)
        self._carry_taken(scanned, carried)
        self.at_landmark = self.at_switch = self.more = False

    def _carry(self, data: bytes) -> None:
        self._erases_row = data.endswith((b"K", b"m")) and _ROW_ERASED.search(data, len(data) - MAX_ERASURE) is not None
        if data.endswith(b"\n"):
            self._carried = b""
            return
        begun = self._carried + data if len(data) < MAX_SEQUENCE else data
        window = max(0, len(begun) - MAX_SEQUENCE)
        if _BLANKS[:-1] not in begun[window:]:
            window = max(0, len(begun) - MAX_SEQUENCE // 10)
        last = begun.rfind(b"\x1b", window)
        if last < 0 or _FINISHED.match(begun, last):
            self._carried = b""
            return
        unfinished = _UNFINISHED_END.search(begun, window) or _UNFINISHED.search(begun, window)
        self._carried = unfinished[0] if unfinished else b""

    def pieces(self, data: bytes) -> Iterator[tuple[bytes, bool]]:
        """Yield `(piece, complete)`: feed the piece, and take a frame if `complete`. The pieces make up `data`."""
        for start in range(0, len(data), MAX_PIECE):
            stop = start + MAX_PIECE
            self.more = stop < len(data)
            yield from self._pieces(data[start:stop])

    def _pieces(self, data: bytes) -> Iterator[tuple[bytes, bool]]:
        carried = len(self._carried)
        scanned = self._carried + data if carried else data
        start = 0
        ends_line = _BLANKS in scanned and _OVERWRITTEN.search(scanned) is not None
        landmarks = _LANDMARK_OR_ENDED_LINE if ends_line else _LANDMARK
        position = 0
        # A flood of plain text has no landmark, and `in` knows that ten times as fast.
        while b"\x1b" in scanned:
            if not (self.linear or self._may_repaint or ends_line) and len(data) < self._calm_at:
                landmark = _LANDMARK_IN_REPAINT.search(scanned, position)
                stop = len(scanned) if landmark is None else landmark.start()
                if movement := _LAST_MOVEMENT.match(scanned, position, stop):
                    self._last_move = movement.end() - carried
            else:
                landmark = landmarks.search(scanned, position)
            if landmark is None:
                break
            position = landmark.end()
            after = position - carried
            if self._may_repaint and self._erases(landmark, data[start : max(0, landmark.start() - carried)]):
                self.at_landmark, self.at_last_repaint = False, True
                self.linear = True
                yield data[start:after], True
                self.at_last_repaint = False
                start = after
                continue
            goes_on = landmark.lastgroup == "vertical" and not self.linear and after < self._calm_at
            if goes_on and landmark[0] not in _WIPES:
                # The commonest by far, in the midst of a repaint.
                self._last_move = after
                continue
            before = max(0, landmark.start() - carried)
            if not (self.linear or self.hidden) and before >= self._calm_at:
                start = yield from self._calmed(data, start)
            self.at_landmark, self.at_switch = True, False
            if landmark["vertical"] is not None:
                if self.linear:
                    if not self._is_taken(scanned, carried, landmark.start()):
                        yield data[start:before], True
                        start = before
                    self._stretch_began = before
                self._move()
                self._only_printed = False
                self._last_move = after
                if landmark[0] in _WIPES:
                    self.at_landmark, self.at_wipe = False, True
                    yield data[start:after], False
                    self.at_wipe = False
                    start = after
                continue
            if landmark.lastgroup in {"mark", "padding"}:
                # Whatever the program painted, it is the shell that goes on.
                self.at_landmark = False
                self.linear = self.linear or not self.painting
                stop = before
                if landmark.lastgroup == "mark":
                    self.mark = landmark["mark"].decode()
                else:
                    stop = after
                    self.ended_line = EndedLine(landmark["end"].decode("utf-8", "replace"), len(landmark["padding"]))
                yield data[start:stop], True
                self.ended_line, self.mark = None, ""
                start = stop
                continue
            modes = {mode.lstrip(b"0") for mode in landmark["modes"].split(b";")}
            is_set = landmark["switch"] == b"h"
            if not modes.isdisjoint(_KEY_MODES):
                self.key_modes = self.key_modes | (modes & _KEY_MODES) if is_set else self.key_modes - modes
                self._released_keys = self._released_keys or not self.key_modes
            if modes.isdisjoint(_LANDMARK_MODES):
                continue
            changes_screen = not modes.isdisjoint(_ALTERNATE)
            hides = _CURSOR_SHOWN in modes and not is_set
            moves = hides or not modes.isdisjoint(_HOMING)
            self.at_switch = changes_screen
            if changes_screen or (moves and self.linear):
                if changes_screen or not self._is_taken(scanned, carried, landmark.start()):
                    self.is_left = changes_screen and is_set
                    yield data[start:before], True
                    self.is_left = False
                    start = before
                self._stretch_began = before
                self._only_printed = False
            if moves:
                self._move()
                self._last_move = after
            if _CURSOR_SHOWN in modes:
                self.hidden = hides
                self.painting = self.painting or hides
                self._last_move = self._stretch_began = after
            ends_repaint = _SYNCHRONIZED in modes and not is_set
            if _SYNCHRONIZED in modes:
                self._updates = is_set
            if ends_repaint or changes_screen:
                self.ends_snapshots = ends_repaint
            if changes_screen or ends_repaint or _BRACKETED_PASTE in modes:
                if _BRACKETED_PASTE in modes:
                    self.painting = False
                    self.key_modes.clear()
                    self.moved = self.moved and (is_set or self.keeps_transcript)
                    self.at_switch = True
                yield data[start:after], True
                self._may_repaint = "withdrawn" if _BRACKETED_PASTE in modes and not is_set else ""
                start = self._taken = after
                self.linear = not self.painting
        if self._may_repaint and b"\n" in data[start:]:
            self._may_repaint = ""
        self._carry(data)
        if not (self.linear or self.hidden) and len(data) >= self._calm_at:
            start = yield from self._calmed(data, start)
        self.at_landmark = self.at_switch = False
        if self._taken != len(data):
            yield data[start:], self.linear
        self._carry_taken(scanned, carried)
        self._last_move -= len(data)
        self._stretch_began -= len(data)

    def _erases(self, landmark: re.Match[bytes], before: bytes) -> bool:
        """Whether a line editor that has withdrawn erases what it showed: moves up and erases below (zle)."""
        movement = landmark[0][-1:] if landmark["vertical"] is not None else b""
        was_above, self._may_repaint = self._may_repaint == "above", ""
        if b"\n" in before:
            return False
        if movement in {b"M", b"A"}:
            self._may_repaint = "above"
        return was_above and landmark[0] in {b"\x1b[J", b"\x1b[0J"}

    def _calmed(self, data: bytes, start: int) -> Generator[tuple[bytes, bool], None, int]:
        calm = max(0, self._calm_at)
        self._rest()
        self.at_landmark, self.at_switch = True, False
        yield data[start:calm], True
        self._taken = calm
        return calm

    def _is_taken(self, scanned: bytes, carried: int, stop: int) -> bool:
        """Whether a whole snapshot was taken that shows the same as one at `stop` would."""
        return self._taken is not None and _WITHIN_ROW.fullmatch(scanned, carried + self._taken, stop) is not None

    def _carry_taken(self, scanned: bytes, carried: int) -> None:
        unfinished = len(self._carried)
        self._taken = -unfinished if self._is_taken(scanned, carried, len(scanned) - unfinished) else None

    @property
    def _calm_at(self) -> int:
        """Where in the current read the program counts as linear again, if it has not moved by then."""
        return min(self._last_move + CALM, self._stretch_began + MAX_STRETCH)

    @property
    def has_painted(self) -> bool:
        """Whether the program has moved to another row other than by printing since the last rest, or erased a new one.

        Line editors erase each row that they come to.
        """
        return self.moved_since_rest or self._erases_row

    @property
    def is_unsettled(self) -> bool:
        """Whether what the screen shows may be half of a repaint."""
        return not self.linear or self.painting or self.hidden

    def rests_at(self, last_output: float) -> float:
        """Return when the program rests, if it prints nothing more; to be asked after every read.

        `last_output` is the time of that read, as what is returned is: seconds of the stream.
        """
        if not self._updates:
            self._update_began = None
            return last_output + SETTLE
        if self._update_began is None:
            self._update_began = last_output
        return max(last_output + SETTLE, self._update_began + MAX_UPDATE)

    def note_frame(self) -> bool:
        """Note that a frame is taken; return whether the program has only printed since the last one."""
        only_printed, self._only_printed = self._only_printed, self.linear
        return only_printed

    def begin(self, *, hidden: bool) -> None:
        """Begin on a screen whose cursor the program has `hidden`, or not."""
        self.hidden = self.painting = self.moved = hidden
        self.settle()

    def _move(self) -> None:
        """The program moves the cursor to another row other than by printing, or is about to."""
        self.linear, self.moved, self.moved_since_rest = False, True, True

    def take_keys_released(self) -> bool:
        """Return whether the program read no keys at some time since the last call, as after a picker; forget that."""
        released, self._released_keys = self._released_keys or not self.key_modes, False
        return released

    def settle(self) -> None:
        """The program rests: what the screen shows is meant, if it has shown its cursor. A whole snapshot is taken."""
        self._taken = -len(self._carried)
        self._updates, self._update_began = False, None
        if not self.hidden:
            self._rest()
        self.moved_since_rest = self._erases_row = False

    def _rest(self) -> None:
        self.linear = True
        self.painting = False
