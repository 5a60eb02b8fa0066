"""The command lines of a delivery: checked and carried out in one line, so that nothing can change in between.

The text travels as a quoted argument of `set-buffer`, never through a shell. `paste-buffer -p` brackets it where the
program asked for that, `-r` keeps line feeds, `-d` drops the buffer. The program addressed is compared in the same
line as the paste, and again in the line of the Enter; copy mode, which would swallow keys, is left first.

A program that asked for bracketed paste and does not any more is leaving, though it still is in the foreground: what is
typed now its shell reads, line by line. tmux 3.8 can compare that in the same line (`bracket_paste_flag`); to an older
one the flag is empty. So the place of the cursor is compared as well: no program leaves without moving it, if only to
the next line. A moved cursor means that the program printed something that the decision did not see.

The same line writes down what it did, in options of the pane, because the sender may be dead by then:

    @streamrelay_pasted    0001732248000123456 m1
    @streamrelay_entered   0001732248000123456 m1 1        (the attempt)

The number in front rises with every message. A line whose mark is not above the one that stands there does nothing, so
a line that was on its way when its sender was killed, and that its successor sends again, is carried out once. tmux
compares the marks as text (`#{<:}`, 3.2), which is why the number has leading zeros.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from streamrelay.control.quoting import command_line

_REFUSED = "streamrelay-refused"

PASTED, ENTERED = "@streamrelay_pasted", "@streamrelay_entered"
QUERY_MARKS = f"#{{start_time}}\t#{{{PASTED}}}\t#{{{ENTERED}}}"
"""What asks for the marks of a pane, and for when its server was started."""


@dataclass(frozen=True, slots=True)
class DeliveryMark:
    """What a delivery is known by in a pane: `number` rises from message to message."""

    number: int
    message_id: str

    def __str__(self) -> str:
        return f"{self.number:019d} {self.message_id}"


@dataclass(frozen=True, slots=True)
class Seen:
    """What of a program has to be as it was seen: see on top."""

    asks: bool = False
    """It asked for bracketed paste."""
    cursor: tuple[int, int] | None = None
    """Column and row, from 0; None where it may be anywhere."""


@dataclass(frozen=True, slots=True)
class PaneRefusal:
    """What tmux found in the pane when it typed nothing."""

    dead: bool
    synchronized: bool
    again: bool
    """The mark was set already: it is typed."""
    leaving: bool
    """The program does not ask for bracketed paste any more."""
    moved: bool
    """The cursor is not where it was seen."""
    program: str


def paste_line(pane: str, buffer: str, text: str, program: str, mark: DeliveryMark, *, seen: Seen = Seen()) -> str:
    """Return the line that pastes `text` into `pane` if `program` is in its foreground, and still as it was seen."""
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
    """Return the line that sends the `key` that submits to `pane` if `program` is there, and still as it was seen."""
    again = _not_above(ENTERED, f"{mark} {attempt}")
    enter = command_line(("send-keys", "-t", pane, key), ("set-option", "-p", "-t", pane, ENTERED, f"{mark} {attempt}"))
    return command_line(
        *_leave_mode(pane), _checked(pane, program, again, enter, command_line(_refusal(pane, again, seen)), seen=seen)
    )


def keys_line(pane: str, program: str, keys: Sequence[str], *, seen: Seen = Seen()) -> str:
    """Return the line that presses `keys` in `pane` if `program` is there, and still as it was seen."""
    press = command_line(("send-keys", "-t", pane, *keys))
    refuse = command_line(_refusal(pane, "0", seen))
    return command_line(*_leave_mode(pane), _checked(pane, program, "0", press, refuse, seen=seen))


def read_refusal(lines: Sequence[bytes]) -> PaneRefusal | None:
    """Read what a line of these printed; None where it has typed, or something else was printed."""
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
    """Copy and view mode are cancelled; the others (clock, tree, ...) know no cancelling, and are left by `q`."""
    cancel = command_line(("send-keys", "-t", pane, "-X", "cancel"))
    cancelled = ("if-shell", "-F", "-t", pane, "#{m/r:^(copy|view)-mode$,#{pane_mode}}", cancel)
    return cancelled, ("if-shell", "-F", "-t", pane, "#{pane_in_mode}", command_line(("send-keys", "-t", pane, "q")))


def _refusal(pane: str, again: str, seen: Seen) -> tuple[str, ...]:
    flags = f"#{{?pane_dead,1,0}} #{{?pane_synchronized,1,0}} {again} {_LEAVING} {_moved(seen)}"
    return ("display-message", "-p", "-t", pane, f"{_REFUSED} {flags} #{{pane_current_command}}")


def _format_literal(text: str) -> str:
    """Escape what a format would take for its own: `#`, `,` and `}` (tmux 3.3a format.c)."""
    return "".join("#" + character if character in "#,}" else character for character in text)
