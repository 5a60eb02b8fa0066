"""Fidelity: `python -m benchmarks.fidelity --help`, and docs/benchmarks.md for what the figures mean.

`scoring` judges events against the truth; `polling` and `stripping` are the ways that the stream is compared with.
"""

from benchmarks.fidelity.command import measure, options

__all__ = ["measure", "options"]
