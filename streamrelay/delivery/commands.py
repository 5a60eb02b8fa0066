"""The command lines of a delivery: checked and carried out in one line, so that nothing can change in between.

The text travels as a quoted argument of `set-buffer`, never through a shell. `paste-buffer -p` brackets it where the
program asked for that, `-r` keeps line feeds, `-d` drops the buffer. The program addressed is compared in the same
line as the paste, and again in the line of the Enter; copy mode, which would swallow keys, is left first.
"""

from streamrelay.control import command_line

REFUSED = "streamrelay-refused"
"""First word of the reply when nothing may be typed; then whether the pane is dead, whether it is synchronised, and the
name of the program that is there."""


def paste_line(pane: str, buffer: str, text: str, program: str) -> str:
    """Return the line that pastes `text` into `pane` if `program` is in its foreground."""
    refuse = command_line(("delete-buffer", "-b", buffer), _refusal(pane))
    paste = command_line(("paste-buffer", "-p", "-r", "-d", "-b", buffer, "-t", pane))
    return command_line(
        ("set-buffer", "-b", buffer, "--", text), *_leave_mode(pane), _checked(pane, program, paste, refuse)
    )


def enter_line(pane: str, program: str) -> str:
    """Return the line that sends Enter to `pane` if `program` is in its foreground."""
    enter = command_line(("send-keys", "-t", pane, "Enter"))
    return command_line(*_leave_mode(pane), _checked(pane, program, enter, command_line(_refusal(pane))))


def _checked(pane: str, program: str, then: str, otherwise: str) -> tuple[str, ...]:
    # A paste into a dead pane crashes tmux 3.3a; an Enter into a synchronised one goes to its neighbours as well.
    addressed = f"#{{==:#{{pane_current_command}},{_format_literal(program)}}}"
    typeable = "#{?pane_dead,0,#{?pane_synchronized,0,1}}"
    condition = f"#{{&&:{addressed},{typeable}}}"
    return ("if-shell", "-F", "-t", pane, condition, then, otherwise)


def _leave_mode(pane: str) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Copy and view mode are cancelled; the others (clock, tree, ...) know no cancelling, and are left by `q`."""
    cancel = command_line(("send-keys", "-t", pane, "-X", "cancel"))
    cancelled = ("if-shell", "-F", "-t", pane, "#{m/r:^(copy|view)-mode$,#{pane_mode}}", cancel)
    return cancelled, ("if-shell", "-F", "-t", pane, "#{pane_in_mode}", command_line(("send-keys", "-t", pane, "q")))


def _refusal(pane: str) -> tuple[str, ...]:
    return (
        "display-message",
        "-p",
        "-t",
        pane,
        f"{REFUSED} #{{?pane_dead,1,0}} #{{?pane_synchronized,1,0}} #{{pane_current_command}}",
    )


def _format_literal(text: str) -> str:
    """Escape what a format would take for its own: `#`, `,` and `}` (tmux 3.3a format.c)."""
    return "".join("#" + character if character in "#,}" else character for character in text)
