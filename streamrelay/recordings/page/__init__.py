"""Renders the explanation of a recording as one HTML page that loads nothing from elsewhere.

Pane output may attack the page that shows it. The page's content security policy allows only its own script and style,
by their hashes. Text enters the page as ASCII JSON without `<`. The script (page.js) writes it into text nodes only,
and spells out characters that are invisible or reverse the text.
"""

import base64
import hashlib
import html
import json
from importlib import resources
from string import Template
from typing import Any

from streamrelay.recordings.excerpts import escaped
from streamrelay.recordings.explanation import ExplainedRecording, Explanation, Screens
from streamrelay.recordings.paint_log import PaintLog
from streamrelay.recordings.painted_rows import Span
from streamrelay.recordings.timeline import TimelineSnapshot

_TOO_MANY = " Only some of its snapshots are shown: {left_out} more were left out."


def page(name: str, explained: ExplainedRecording) -> str:
    """Return the page for a recording called `name`; `explained.lines` may be a selection of its lines."""
    files = resources.files(__name__)
    style, script, frame = ((files / f"page.{kind}").read_text("utf-8") for kind in ("css", "js", "html"))
    policy = f"default-src 'none'; style-src {_hash(style)}; script-src {_hash(script)}; base-uri 'none'"
    left_out = sum(screens.timeline.left_out for screens in explained.panes.values())
    lines = explained.lines
    last = max((line.t for line in lines), default=0.0)
    about = f"{len(lines)} lines in {last:.1f} s: which became text, by which rule, and from which bytes."
    return Template(frame).substitute(
        title=html.escape(_plain(name)),
        about=about + (_TOO_MANY.format(left_out=left_out) if left_out else ""),
        policy=policy,
        style=style,
        script=script,
        data=_json(_data(explained)),
    )


def _hash(text: str) -> str:
    return f"'sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}'"


def _plain(name: str) -> str:
    return "".join(character if character.isprintable() else "\ufffd" for character in name)


def _json(value: object) -> str:
    """Return JSON that is safe inside HTML: without `<`, no `</script>` or `<!--` can end it."""
    text = json.dumps(value, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _data(explained: ExplainedRecording) -> dict[str, Any]:
    ends = {id(line.turn_ended): line.turn_ended for line in explained.lines if line.turn_ended is not None}
    numbers = {key: number for number, key in enumerate(ends)}
    return {
        "lines": [_line(line, numbers.get(id(line.turn_ended))) for line in explained.lines],
        "ends": [
            {
                "t": end.t,
                "reason": end.reason,
                "certain": end.certain,
                "votes": [(vote.by, vote.says, vote.since) for vote in end.votes],
            }
            for end in ends.values()
        ],
        "panes": {pane: _pane(screens) for pane, screens in explained.panes.items()},
    }


def _line(line: Explanation, end: int | None) -> dict[str, Any]:
    return {
        "t": line.t,
        "pane": line.pane,
        "turn": line.turn,
        "verdict": line.verdict,
        "text": line.text,
        "rule": line.rule,
        "why": line.why,
        "message": line.message_id,
        "seq": line.seq,
        "live": line.shown_live,
        "rows": sorted({row.number for row in line.rows}),
        "end": end,
    }


def _pane(screens: Screens) -> dict[str, Any]:
    log, timeline = screens
    spans: dict[Span, int] = {}
    rows = [
        [
            (state.t, state.text, [part for length, span in state.runs for part in (length, _number_of(span, spans))])
            for state in row.states
        ]
        for row in log.lines
    ]
    return {
        "rows": rows,
        "spans": [_span(log, span) for span in spans],
        "snapshots": _snapshots(log, timeline.snapshots),
        "marks": timeline.marks,
    }


def _number_of(span: Span, spans: dict[Span, int]) -> int:
    """Return the number of a span in `spans`; a new span gets the next number."""
    return spans.setdefault(span, len(spans))


def _span(log: PaintLog, span: Span) -> tuple[float, int, int, str]:
    start, stop = span
    return log.time_of(start), start, stop, escaped(memoryview(log.output)[start:stop])


def _snapshots(log: PaintLog, snapshots: list[TimelineSnapshot]) -> list[tuple[float, int, list[tuple[int, int, int]]]]:
    """Return each snapshot as its time, its height, and the rows that changed since the snapshot before.

    A changed row is its place on the screen, the number of its line, and the number of that line's state; a row that
    became empty has -1 for both.
    """
    numbers = {line: number for number, line in enumerate(log.lines)}
    described: list[tuple[float, int, list[tuple[int, int, int]]]] = []
    before: dict[int, tuple[int, int]] = {}
    for snapshot in snapshots:
        now = {y: (numbers[place[0]], place[1]) for y, place in enumerate(snapshot.rows) if place is not None}
        changes = [(y, *now.get(y, (-1, -1))) for y in range(len(snapshot.rows)) if now.get(y) != before.get(y)]
        described.append((snapshot.t, len(snapshot.rows), changes))
        before = now
    return described
