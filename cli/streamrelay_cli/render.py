"""`streamrelay render`: renders terminal output to a screen, and recordings to an animation."""

import sys
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from streamrelay import vt
from streamrelay.errors import RecordingError
from streamrelay.recordings import is_recording, open_recording
from streamrelay.recordings.animation import Animation, animate, final_screen, still
from streamrelay.recordings.svg import svg as animated_svg
from streamrelay.vt.rendering import rendering_of
from streamrelay_cli.command_entry import EXPLORE, command
from streamrelay_cli.files import write_private
from streamrelay_cli.options import AsJson
from streamrelay_cli.output import CommandOutput

STANDARD_INPUT = Path("-")
PICTURE = "Moving picture"
MAX_PAUSE = 3.0


@command("render", panel=EXPLORE, place=40)
def render(
    file: Annotated[Path, typer.Argument(help="Terminal output or a recording; - for standard input.")],
    columns: Annotated[int, typer.Option("-c", "--columns", min=1, max=10_000, help="Width in cells.")] = 80,
    lines: Annotated[int, typer.Option("-l", "--lines", min=1, max=10_000, help="Height in rows.")] = 24,
    as_json: AsJson = False,
    svg: Annotated[
        Path | None,
        typer.Option(
            "--svg",
            metavar="FILE",
            rich_help_panel=PICTURE,
            help="Write an animated SVG of a recording (.cast, .jsonl, .jsonl.gz or a folder) or of one screen.",
        ),
    ] = None,
    force: Annotated[bool, typer.Option("--force", rich_help_panel=PICTURE, help="Replace an existing file.")] = False,
    title: Annotated[
        str | None,
        typer.Option("--title", rich_help_panel=PICTURE, help="Title of the drawn window; the file's name by default."),
    ] = None,
    pane: Annotated[
        str | None,
        typer.Option("--pane", metavar="%N", rich_help_panel=PICTURE, help="The pane, if the recording has several."),
    ] = None,
    start: Annotated[
        float, typer.Option("--from", metavar="SECONDS", min=0, rich_help_panel=PICTURE, help="Begin at this time.")
    ] = 0.0,
    stop: Annotated[
        float | None,
        typer.Option("--until", metavar="SECONDS", min=0, rich_help_panel=PICTURE, help="End at this time."),
    ] = None,
    speed: Annotated[
        float, typer.Option("--speed", min=0.01, max=100, rich_help_panel=PICTURE, help="Play this many times as fast.")
    ] = 1.0,
    max_pause: Annotated[
        float,
        typer.Option("--max-pause", metavar="SECONDS", min=0, rich_help_panel=PICTURE, help="Shorten pauses to this."),
    ] = MAX_PAUSE,
) -> None:
    """Render terminal output or a recording: as a screen of text, or as an animation.

    It prints the history and the final screen; --json adds the cursor. With --svg it writes an animated SVG instead,
    which a browser plays and a README shows.
    """
    output = CommandOutput()
    if svg is not None:
        if is_recording(file):
            animation = animate(
                open_recording(file), pane=pane, start=start, stop=stop, speed=speed, max_pause=max_pause
            )
        else:
            animation = still(_read(file), columns, lines)
        write_private(svg, animated_svg(animation, title=file.name if title is None else title), force=force)
        output.note(_summary(animation, svg))
        return
    if is_recording(file):
        rendering = rendering_of(final_screen(open_recording(file), pane=pane))
    else:
        rendering = vt.render(_read(file), columns=columns, lines=lines)
    if as_json:
        output.json(msgspec.to_builtins(rendering))
    else:
        output.lines([*rendering.history, *rendering.screen])


def _read(file: Path) -> bytes:
    try:
        return sys.stdin.buffer.read() if file == STANDARD_INPUT else file.read_bytes()
    except OSError as error:
        raise RecordingError(
            f"cannot read {file}: {error.strerror}", hint="check the name of the file and its permissions"
        ) from error


def _summary(animation: Animation, svg: Path) -> str:
    screens, seconds = len(animation.screens), animation.screens[-1].t
    size = f"{animation.columns}x{animation.lines}, {svg.stat().st_size / 1000:.0f} kB"
    return f"{svg}: 1 screen, {size}" if screens == 1 else f"{svg}: {screens} screens in {seconds:.1f} s, {size}"
