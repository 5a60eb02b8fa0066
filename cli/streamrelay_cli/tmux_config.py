"""`streamrelay tmux`: prints a tmux configuration that shows conversations, and opens a pane's output in a popup.

tmux expands formats in a key's command only in `run-shell -C`, which then runs the result as a tmux command. So the
lines name a pane by its id, which contains no special characters.
"""

import shlex
import shutil
import sys
from pathlib import Path
from typing import Annotated

import typer

from streamrelay.control import quote
from streamrelay.notifying.notifier import OPTION
from streamrelay_cli.command_entry import SETUP, command
from streamrelay_cli.options import takes_options
from streamrelay_cli.output import CommandOutput

STATUS = f"#{{?{OPTION}, [#{{{OPTION}}}],}}"


@command("tmux", panel=SETUP, place=50)
@takes_options
def tmux_command(
    watch_key: Annotated[
        str, typer.Option("--watch-key", help="The key, after tmux's prefix, that opens a popup with a pane's output.")
    ] = "W",
    link_key: Annotated[
        str, typer.Option("--link-key", help="The key that links a pane with the marked one, in a new window.")
    ] = "B",
    status_only: Annotated[bool, typer.Option("--status", help="Print only the format for a status line.")] = False,
) -> None:
    """Print lines for ~/.tmux.conf: status line, popup, link key.

    The lines show conversations in the status line, open a popup, and bind a key that links panes (docs/tmux.md).
    """
    output = CommandOutput()
    if status_only:
        output.line(STATUS)
        return
    command = _command()
    popup = f"display-popup -E -w 90% -h 80% {quote(f'{command} watch #{{pane_id}}')}"
    # A failing link would close its window before the user can read the error.
    linking = f"{command} link #{{pane_id}} {{marked}} || {{ echo; echo Enter closes; read -r end; }}"
    window = f"new-window -n link {quote(linking)}"
    # By default tmux cuts the status line's right side at 40 columns, which its own format fills.
    status = f"set-option -ga status-right {quote(STATUS)}; set-option -g status-right-length 100"
    output.lines(
        [
            "# streamrelay: streamrelay tmux >>~/.tmux.conf; tmux source-file ~/.tmux.conf",
            "# The status line shows the state of the current pane's conversation.",
            f"if-shell -F '#{{m:*{OPTION}*,#{{status-right}}}}' '' {_word(status)}",
            f"# {watch_key}: shows what the pane's program says, in a popup; Ctrl-C closes it.",
            f"bind-key {_word(watch_key)} run-shell -C {_word(popup)}",
            f"# {link_key}: links the pane with the marked pane (prefix m marks one).",
            f"bind-key {_word(link_key)} run-shell -C {_word(window)}",
        ]
    )


def _word(text: str) -> str:
    """Return a text as one word of a tmux configuration, unquoted if possible."""
    return quote(text) if "'" in text else f"'{text}'"


def _command() -> str:
    """Return this command for a shell, with an absolute path."""
    found = shutil.which(sys.argv[0]) or sys.argv[0]
    return shlex.quote(str(Path(found).absolute())).replace("#", "##")
