"""The figures as tables and as a plot, and the page and the part of a document that hold them."""

import re
from collections.abc import Mapping, Sequence
from itertools import cycle

from benchmarks.fidelity.judging import Judged
from benchmarks.fidelity.summary import Summary
from benchmarks.measuring import Table
from benchmarks.plotting import Panel, bars

COLOURS = {
    "stream": "#2b6cb0",
    "with witnesses": "#2f855a",
    "stream without profiles": "#63b3ed",
    "polling": "#dd6b20",
    "polling at once": "#f6ad55",
    "stripping": "#999999",
}
READER_COLOURS = ("#805ad5", "#d53f8c", "#38b2ac", "#b7791f")
"""The colours of other projects' readers, in their order; the fifth reader has that of the first."""
PLOT = "fidelity.svg"
_BLOCK = re.compile(r"(<!-- fidelity: [^\n]*-->\n).*?(<!-- end of fidelity -->)", re.DOTALL)

Summaries = Mapping[str, Summary]


def total_table(totals: Summaries, kind: str = "") -> Table:
    """Return one row for each way; `kind` tells which recordings they are."""
    size = max(total.recordings for total in totals.values())
    return Table(
        f"Fidelity over {size} {kind + ' ' if kind else ''}recordings",
        (
            "heard by", "recall", "all heard", "exact lines", "source lines", "noise words a run", "leaking",
            "duplicating", "end of turn", "ends missing", "early ends", "gaps missing", "errors",
        ),
        [
            (
                way, f"{total.recall:.3f}", str(total.whole), f"{total.lines:.3f}", f"{total.source:.3f}",
                f"{total.noise:.1f}",
                str(total.leaking), str(total.duplicating), _seconds(total.end_lag), str(total.ends_missing),
                str(total.early_ends), str(total.gaps_missing), str(total.errors),
            )
            for way, total in totals.items()
        ],
    )  # fmt: skip


def program_table(programs: Mapping[str, Summaries]) -> Table:
    """Return one row for each program: recall, exact lines and noise in every way."""
    ways = _ways(programs)
    return Table(
        "By program: recall / exact lines / noise words a run",
        ("program", "runs", *ways),
        [
            (
                program,
                str(summaries[ways[0]].recordings),
                *(f"{one.recall:.3f} / {one.lines:.2f} / {one.noise:.1f}" for one in map(summaries.get, ways) if one),
            )
            for program, summaries in programs.items()
        ],
    )


def recording_table(way: str, judged: Sequence[Judged]) -> Table:
    """Return one row for each recording, heard in one way."""
    return Table(
        f"Every recording: {way}",
        ("recording", "recall", "lines", "noise", "leak", "dup", "gaps", "end of turn", "missing", "early"),
        [
            (
                row.recording, f"{row.score.recall:.3f}", f"{row.score.lines:.3f}", str(row.score.noise),
                f"{row.score.leak:.3f}", str(row.score.dup),
                f"{row.score.gaps}{', missing' if row.score.gap_missing else ''}", _seconds(row.score.end_lag),
                str(row.score.ends_missing), str(row.score.early_ends),
            )
            for row in judged
            if row.way == way
        ],
    )  # fmt: skip


def error_tables(judged: Sequence[Judged]) -> list[Table]:
    """Return what could not be heard and why, if there is anything."""
    rows = [(row.recording, row.way, _cell(row.error)) for row in judged if row.error is not None]
    return [Table("Could not be heard", ("recording", "heard by", "error"), rows)] if rows else []


def plot(programs: Mapping[str, Summaries]) -> str:
    """Return recall and precision by program as an SVG."""
    ways = _ways(programs)
    recall = [[summaries[way].recall for way in ways] for summaries in programs.values()]
    precision = [[summaries[way].precision for way in ways] for summaries in programs.values()]

    colours = COLOURS | dict(zip((way for way in ways if way not in COLOURS), cycle(READER_COLOURS), strict=False))

    def width(share: float) -> float:
        return 220 * share

    return bars(
        [*programs],
        [(way, colours[way]) for way in ways],
        [
            Panel("recall: share of what was said that came out", recall, width, digits=3),
            Panel("precision: share of what came out that was said", precision, width, digits=3),
        ],
        labels=110,
        span=250,
    )


def page(totals: Sequence[Table], programs: Table, recordings: Sequence[Table]) -> str:
    """Return all tables as a Markdown page beside its plot."""
    plotted = f"![Recall and precision by program]({PLOT})"
    parts = ["# Fidelity", *(table.markdown() for table in totals), plotted, programs.markdown()]
    return "\n\n".join((*parts, *(table.markdown() for table in recordings))) + "\n"


def with_block(document: str, totals: Sequence[Table], programs: Table) -> str:
    """Return a document whose generated part is that of this run; raises ValueError where it has no such part."""
    figures = "\n\n".join(table.markdown() for table in totals)
    block = f"\n{figures}\n\n![Recall and precision by program]({PLOT})\n\n{programs.markdown()}\n\n"
    replaced, times = _BLOCK.subn(lambda marks: marks[1] + block + marks[2], document)
    if times != 1:
        raise ValueError("the document has no part between <!-- fidelity: ... --> and <!-- end of fidelity -->")
    return replaced


def _ways(programs: Mapping[str, Summaries]) -> list[str]:
    return [*next(iter(programs.values()))]


def _seconds(lag: float | None) -> str:
    return "-" if lag is None else f"{lag:+.2f} s"


def _cell(text: str) -> str:
    """Return a text that may hold anything as one cell of a table."""
    return " ".join(text.replace("|", "/").split())
