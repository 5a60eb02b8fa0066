"""`streamrelay render`: bytes to the screen they make."""

import sys
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from streamrelay import vt
from streamrelay.errors import RecordingError
from streamrelay_cli.options import AsJson
from streamrelay_cli.output import Output

STANDARD_INPUT = Path("-")


def render(
    file: Annotated[Path, typer.Argument(help="A file of terminal output, - for standard input.")],
    columns: Annotated[int, typer.Option("-c", "--columns", min=1, max=10_000, help="Width in cells.")] = 80,
    lines: Annotated[int, typer.Option("-l", "--lines", min=1, max=10_000, help="Height in rows.")] = 24,
    as_json: AsJson = False,
) -> None:
    """Print the history and the final screen that a file of terminal output makes; with --json the cursor too."""
    output = Output()
    try:
        data = sys.stdin.buffer.read() if file == STANDARD_INPUT else file.read_bytes()
    except OSError as error:
        raise RecordingError(f"{file} cannot be read: {error.strerror}") from error
    rendering = vt.render(data, columns=columns, lines=lines)
    if as_json:
        output.json(msgspec.to_builtins(rendering))
    else:
        output.lines([*rendering.history, *rendering.screen])
