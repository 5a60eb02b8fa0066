"""`streamrelay explain`: explains why a line of a recording was reported or left out."""

import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from streamrelay.agents import load_profiles
from streamrelay.errors import UsageError
from streamrelay.recordings import open_recording
from streamrelay.recordings.excerpts import shortened
from streamrelay.recordings.explanation import Explanation, Painted, Painting
from streamrelay.recordings.explanation import explain as explained
from streamrelay.recordings.page import page
from streamrelay.vt.widths import unicode14
from streamrelay_cli.command_entry import EXPLORE, command
from streamrelay_cli.files import write_private
from streamrelay_cli.options import AsJson, Profiles
from streamrelay_cli.output import CommandOutput

WIDTH = 100
"""The width of the output."""
LEAST = 10
"""The least columns for a text, however full its row is."""
MAX_ROWS, MAX_STATES = 3, 6
"""The rows of a line and the states of a row to print; --json has all."""

_LABEL = 10


@command("explain", panel=EXPLORE, place=30)
def explain(
    recording: Annotated[
        Path,
        typer.Argument(
            help="A folder of a recorded session, a control-mode recording (.jsonl, .jsonl.gz) or an asciicast."
        ),
    ],
    text: Annotated[
        str | None,
        typer.Argument(help="Explain in full the lines that contain this text. Default: one row for each line."),
    ] = None,
    turn: Annotated[int | None, typer.Option("--turn", min=0, help="Only lines of this turn.", metavar="N")] = None,
    html: Annotated[
        Path | None,
        typer.Option("--html", help="Write a page for a browser, with the screens.", metavar="FILE"),
    ] = None,
    force: Annotated[bool, typer.Option("--force", help="Replace an existing file.")] = False,
    profiles: Profiles = True,
    as_json: AsJson = False,
) -> None:
    """Explain why each line of a recording became text or was left out.

    The explanation names the rule, the turn, the bytes, and how the row changed over time.
    """
    output = CommandOutput()
    known = [profile.reading for profile in load_profiles()] if profiles else []
    found = explained(open_recording(recording), known)
    lines = found.lines if turn is None else _of_turn(found.lines, turn)
    if text is not None:
        lines = _containing(lines, text)
    if html is not None:
        write_private(html, page("/".join(recording.absolute().parts[-2:]), found._replace(lines=lines)), force=force)
        output.note(f"{len(lines)} {'line is' if len(lines) == 1 else 'lines are'} in {html}")
    elif as_json:
        for line in lines:
            output.json(msgspec.to_builtins(line))
    elif text is None:
        output.lines(_table(lines))
    else:
        output.lines(part for line in lines for part in _in_full(line, text))


def _of_turn(lines: list[Explanation], turn: int) -> list[Explanation]:
    found = [line for line in lines if line.turn == turn]
    if not found:
        turns = sorted({line.turn for line in lines})
        whole = turns == [*range(turns[0], turns[-1] + 1)] if turns else False
        shown = f"{turns[0]} to {turns[-1]}" if whole and len(turns) > 1 else ", ".join(map(str, turns))
        raise UsageError(
            f"no line of this recording belongs to turn {turn}",
            hint=f"its turns: {shown}" if turns else "the recording has no lines; replay it: streamrelay replay",
            data={"turns": turns},
        )
    return found


def _containing(lines: list[Explanation], text: str) -> list[Explanation]:
    found = [line for line in lines if line.contains(text)]
    if not found:
        raise UsageError(
            f"no line of this recording contains {text!r}",
            hint="type it with the same upper and lower case, or leave the text out to list every line",
        )
    return found


def _table(lines: list[Explanation]) -> Iterator[str]:
    yield "    TIME  TURN  SAID AS   RULE              LINE"
    for line in lines:
        row = f"{line.t:8.3f}  {line.turn:4}  {_verdict(line):8}  {line.rule:16}  "
        yield row + _fitted(_on_one_row(line.text), WIDTH - len(row))


def _verdict(line: Explanation) -> str:
    if line.verdict == "unsaid":
        return "(live)" if line.shown_live else "-"
    return line.verdict


def _in_full(line: Explanation, text: str) -> Iterator[str]:
    yield _fitted(_on_one_row(line.text) or "(nothing)", WIDTH)
    if not line.reads(text):
        yield from _labelled("matches", "only by what its row read before")
    yield from _labelled("verdict", _sentence(line))
    yield from _labelled("rule", f"{line.rule}: {line.why}")
    if line.mode:
        yield from _labelled("mode", line.mode)
    yield from _labelled("turn", _turn(line))
    for row in line.rows[:MAX_ROWS]:
        yield from _row(row)
    if len(line.rows) > MAX_ROWS:
        yield from _labelled("", f"... and {len(line.rows) - MAX_ROWS} more rows")
    yield ""


def _sentence(line: Explanation) -> str:
    match line.verdict:
        case "unsaid":
            said = "shown live only, and never said" if line.shown_live else "not said"
        case "activity":
            said = "reported as activity"
        case "gap":
            said = "reported as a gap"
        case "program":
            said = "said as the program's"
        case origin:
            said = f"reported as {origin}"
    message = f", message {line.message_id}" if line.message_id else ""
    event = f", event {line.seq}" if line.seq is not None else ""
    return f"{said} at {line.t:.3f}{message}{event}"


def _turn(line: Explanation) -> str:
    ended = line.turn_ended
    if ended is None:
        return f"{line.turn}, which has no end after this"
    votes = ", ".join(f"{vote.by} {vote.says} since {vote.since:.3f}" for vote in ended.votes)
    certainty = "certain" if ended.certain else "not certain"
    told = f"{line.turn}, ended at {ended.t:.3f} by {ended.reason}, {certainty}; votes: {votes or 'none'}"
    compared = line.witness_compared
    if compared is None:
        return told
    names = ", ".join(compared.witnesses) or compared.reason
    counts = ", ".join(f"{name} {getattr(compared, name)}" for name in ("shown", "filled", "absent", "extra"))
    return f"{told}; the agent's own record ({names}) {compared.outcome}: {counts}"


def _row(row: Painted) -> Iterator[str]:
    shown = row.states
    if len(shown) > MAX_STATES:
        shown = [*shown[: MAX_STATES - 1], shown[-1]]
    for number, state in enumerate(shown):
        if number == MAX_STATES - 1 and len(row.states) > MAX_STATES:
            yield from _labelled("", f"... {len(row.states) - MAX_STATES} more states")
        read = f"{state.t:8.3f}  "
        yield f"  {'row' if not number else '':{_LABEL}}{read}{_fitted(state.text, WIDTH - 2 - _LABEL - len(read))}"
    if row.gone is not None:
        yield from _labelled("", f"{row.gone:8.3f}  (erased)")
    if row.paintings:
        yield from _painting("first by", row.paintings[0])
    if len(row.paintings) > 1:
        yield from _painting("last by", row.paintings[-1])


def _painting(label: str, painting: Painting) -> Iterator[str]:
    yield from _labelled(label, f"{painting.t:8.3f}  bytes {painting.start} to {painting.stop}")
    indent = " " * (2 + _LABEL + 10)
    yield indent + _fitted(painting.bytes, WIDTH - len(indent))


def _labelled(label: str, text: str) -> Iterator[str]:
    indent = " " * (2 + _LABEL)
    yield from textwrap.wrap(
        text,
        WIDTH,
        initial_indent=f"  {label:{_LABEL}}",
        subsequent_indent=indent,
        drop_whitespace=True,
        break_on_hyphens=False,
    )


def _on_one_row(text: str) -> str:
    return text.replace("\n", " ⏎ ").replace("\t", " ⇥ ")


def _fitted(text: str, columns: int) -> str:
    """Return a text cut in its middle to fit into these columns."""
    longest = columns = max(columns, LEAST)
    fitted = text
    while _width(fitted) > columns:
        fitted = shortened(text, longest)
        longest -= 1
    return fitted


def _width(text: str) -> int:
    return len(text) if text.isascii() else len(unicode14().cells(text))
