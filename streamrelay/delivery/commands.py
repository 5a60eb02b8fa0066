"""The tmux command lines of a delivery: each checks and types in one line, so that nothing can change in between.

The text travels as a quoted argument of `set-buffer`, never through a shell. `paste-buffer -p` brackets it if the
program asked for that, `-r` keeps line feeds, `-d` drops the buffer. The line with the paste compares the foreground
program, and so does the line with the Enter. Both leave copy mode first, which would swallow the keys.

A program that has switched bracketed paste off is leaving, although it is still in the foreground: its shell will read
text typed now, line by line. tmux 3.8 can compare the flag in the same line (`bracket_paste_flag`); in older versions
it is empty. So the line compares the cursor as well, because every program moves it when it leaves. A moved cursor
means that the program printed something after the decision.

The line also records what it did, in options of the pane, because the sender may be dead by then:

    @streamrelay_pasted    0001732248000123456 m1
    @streamrelay_entered   0001732248000123456 m1 1        (the attempt)
    @streamrelay_handed    0001732248000123456 m1 LANE ... (before a message is handed to the program's own API)

The number rises with every message. A line does nothing unless its mark is higher than the recorded one. So a line that
was in flight when its sender was killed runs only once, although the successor sends it again. tmux compares the marks
as text (`#{<:}`, 3.2), so the number has leading zeros.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from streamrelay.control.quoting import command_line

_REFUSED = "streamrelay-refused"

PASTED, ENTERED, HANDED = "@streamrelay_pasted", "@streamrelay_entered", "@streamrelay_handed"
QUERY_MARKS = f"#{{start_time}}\t#{{{PASTED}}}\t#{{{ENTERED}}}\t#{{{HANDED}}}"
"""The format for the marks of a pane and the start time of its server."""


@dataclass(frozen=True, slots=True)
class DeliveryMark:
    """The mark of a delivery in a pane: `number` rises from message to message."""

    number: int
    message_id: str

    def __str__(self) -> str:
        return f"{self.number:019d} {self.message_id}"


@dataclass(frozen=True, slots=True)
class Seen:
    """The state of a program that must be unchanged at the moment of typing (see the module)."""

    asks: bool = False
    """Whether it asked for bracketed paste."""
    cursor: tuple[int, int] | None = None
    """Column and row, from 0; None if the cursor may move."""


@dataclass(frozen=True, slots=True)
class PaneRefusal:
    """The state in which tmux found the pane when it typed nothing."""

    dead: bool
    synchronized: bool
    again: bool
    """Whether the mark was set already, so that the text is typed."""
    leaving: bool
    """Whether the program has switched bracketed paste off."""
    moved: bool
    """Whether the cursor has moved."""
    program: str


def paste_line(pane: str, buffer: str, text: str, program: str, mark: DeliveryMark, *, seen: Seen = Seen()) -> str:
    """Return the line that pastes `text` into `pane` if `program` is in its foreground in the state `seen`."""
    again = _not_above(PASTED, str(mark))
    refuse = command_line(("delete-buffer", "-b", buffer), _refusal(pane, again, seen))
    paste = command_line(
        ("paste-buffer", "-p", "-r", "-d", "-b", buffer, "-t", pane),
        ("set-option", "-p", "-t", pane, PASTED, str(mark)),
    )
    return command_line(
        ("set-buffer", "-b", buffer, "--", text),
        *_leave_mode(pane),
        _checked(pane, program, again, paste, refuse, seen=seen),
    )


def enter_line(
    pane: str, program: str, mark: DeliveryMark, *, attempt: int = 1, key: str = "Enter", seen: Seen = Seen()
) -> str:
    """Return the line that sends the submitting `key` to `pane` if `program` is there in the state `seen`."""
    again = _not_above(ENTERED, f"{mark} {attempt}")
    enter = command_line(("send-keys", "-t", pane, key), ("set-option", "-p", "-t", pane, ENTERED, f"{mark} {attempt}"))
    return command_line(
        *_leave_mode(pane), _checked(pane, program, again, enter, command_line(_refusal(pane, again, seen)), seen=seen)
    )


def hand_over_line(pane: str, mark: DeliveryMark, handed: str) -> str:
    """Return the line that records in the pane that a message is about to be handed to the program's own API."""
    return command_line(("set-option", "-p", "-t", pane, HANDED, f"{mark} {handed}"))


def keys_line(pane: str, program: str, keys: Sequence[str], *, seen: Seen = Seen()) -> str:
    """Return the line that presses `keys` in `pane` if `program` is there, and still as it was seen."""
    press = command_line(("send-keys", "-t", pane, *keys))
    refuse = command_line(_refusal(pane, "0", seen))
    return command_line(*_leave_mode(pane), _checked(pane, program, "0", press, refuse, seen=seen))


def read_refusal(lines: Sequence[bytes]) -> PaneRefusal | None:
    """Parse the reply to one of these lines; None if the line has typed, or the reply is something else."""
    words = lines[0].decode(errors="replace").split(" ", 6) if lines else []
    if len(words) < 7 or words[0] != _REFUSED:
        return None
    dead, synchronized, again, leaving, moved = (word == "1" for word in words[1:6])
    return PaneRefusal(dead, synchronized, again, leaving, moved, words[6])


_LEAVING = "#{==:#{bracket_paste_flag},0}"


def _not_above(option: str, mark: str) -> str:
    return f"#{{>=:#{{{option}}},{_format_literal(mark)}}}"


def _moved(seen: Seen) -> str:
    if seen.cursor is None:
        return "0"
    column, row = seen.cursor
    return f"#{{!=:#{{cursor_x}} #{{cursor_y}},{column} {row}}}"


def _checked(pane: str, program: str, again: str, then: str, otherwise: str, *, seen: Seen) -> tuple[str, ...]:
    # A paste into a dead pane crashes tmux 3.3a; an Enter into a synchronised one goes to its neighbours as well.
    addressed = f"#{{==:#{{pane_current_command}},{_format_literal(program)}}}"
    typeable = "#{?pane_dead,0,#{?pane_synchronized,0,1}}"
    stays = f"#{{?{_LEAVING if seen.asks else 0},0,#{{?{_moved(seen)},0,1}}}}"
    condition = f"#{{&&:#{{&&:{addressed},{typeable}}},#{{?{again},0,{stays}}}}}"
    return ("if-shell", "-F", "-t", pane, condition, then, otherwise)


def _leave_mode(pane: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return the commands that leave a mode: `cancel` for copy and view mode, `q` for all others (clock, tree, ...)."""
    cancel = command_line(("send-keys", "-t", pane, "-X", "cancel"))
    cancelled = ("if-shell", "-F", "-t", pane, "#{m/r:^(copy|view)-mode$,#{pane_mode}}", cancel)
    return cancelled, ("if-shell", "-F", "-t", pane, "#{pane_in_mode}", command_line(("send-keys", "-t", pane, "q")))


def _refusal(pane: str, again: str, seen: Seen) -> tuple[str, ...]:
    flags = f"#{{?pane_dead,1,0}} #{{?pane_synchronized,1,0}} {again} {_LEAVING} {_moved(seen)}"
    return ("display-message", "-p", "-t", pane, f"{_REFUSED} {flags} #{{pane_current_command}}")


def _format_literal(text: str) -> str:
    """Escape the characters that are special in a format: `#`, `,` and `}` (tmux 3.3a format.c)."""
    return "".join("#" + character if character in "#,}" else character for character in text)
