"""What the figures of many recordings come to."""

import statistics
from collections.abc import Collection
from typing import Self

import msgspec

from benchmarks.fidelity.judging import Judged

WHOLE = 0.999
"""The recall that counts as everything."""
LEAKING = 0.02
"""The share of injected 5-grams above which a recording leaks."""


class Summary(msgspec.Struct, frozen=True):
    """Some recordings, heard in one way."""

    recordings: int
    errors: int
    recall: float
    """Mean, as the next two; what could not be heard counts as nothing heard."""
    lines: float
    source: float
    """Share of the lines of agents that keep a record that came out as their source, Markdown included."""
    noise: float
    """Words a recording."""
    precision: float | None
    """Share of all the words that came out that are truth; None where none came out."""
    whole: int
    """Recordings of which all was heard; the next two count recordings too."""
    leaking: int
    duplicating: int
    end_lag: float | None
    """Median over the recordings that have one, in seconds."""
    ends_missing: int
    early_ends: int
    gaps_missing: int

    @classmethod
    def of(cls, judged: Collection[Judged]) -> Self:
        """Sum up at least one recording."""
        scores = [row.score for row in judged]
        words = sum(score.output_words for score in scores)
        noise = sum(score.noise for score in scores)
        lags = [score.end_lag for score in scores if score.end_lag is not None]
        return cls(
            recordings=len(scores),
            errors=sum(row.error is not None for row in judged),
            recall=statistics.fmean(score.recall for score in scores),
            lines=statistics.fmean(score.lines for score in scores),
            source=sum(score.source_lines for score in scores) / max(1, sum(score.truth_lines for score in scores)),
            noise=noise / len(scores),
            precision=1 - noise / words if words else None,
            whole=sum(score.recall >= WHOLE for score in scores),
            leaking=sum(score.leak > LEAKING for score in scores),
            duplicating=sum(score.dup > 0 for score in scores),
            end_lag=statistics.median(lags) if lags else None,
            ends_missing=sum(score.ends_missing for score in scores),
            early_ends=sum(score.early_ends for score in scores),
            gaps_missing=sum(score.gap_missing for score in scores),
        )
