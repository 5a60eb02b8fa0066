"""Plots as SVG, written by hand: groups of horizontal bars in one or several panels, and lines over time."""

from collections.abc import Callable, Sequence
from html import escape

import msgspec

_MARGIN, _HEAD, _BAR, _PITCH = 8, 60, 15, 18
_NUMBER = 45
"""Room for the figure behind a bar."""


class Panel(msgspec.Struct, frozen=True):
    """One scale, and for each group the values of all series; None leaves a bar out."""

    title: str
    groups: Sequence[Sequence[float | None]]
    width: Callable[[float], float]
    """From a value to the length of its bar, in pixels."""
    digits: int = 1


def bars(
    names: Sequence[str], series: Sequence[tuple[str, str]], panels: Sequence[Panel], *, labels: int, span: int
) -> str:
    """Return the SVG: a group of bars for each name, one bar for each series, given by its words and its colour.

    `labels` is the width of the column of names, `span` that of a panel's longest bar, in pixels.
    """
    pitch = _PITCH * len(series) + _PITCH
    starts = [labels + place * (span + _NUMBER) for place in range(len(panels))]
    parts = [
        f'<rect x="{labels + place * 150}" y="14" width="12" height="12" fill="{colour}"/>'
        f'<text x="{labels + 17 + place * 150}" y="25">{escape(words)}</text>'
        for place, (words, colour) in enumerate(series)
    ]
    parts += [
        f'<text x="{start}" y="48">{escape(panel.title)}</text>' for start, panel in zip(starts, panels, strict=True)
    ]
    for group, name in enumerate(names):
        top = _HEAD + group * pitch
        middle = top + _PITCH * len(series) // 2 + 2
        parts.append(f'<text x="{_MARGIN}" y="{middle}">{escape(name)}</text>')
        for start, panel in zip(starts, panels, strict=True):
            for place, ((_, colour), value) in enumerate(zip(series, panel.groups[group], strict=True)):
                if value is None:
                    continue
                y, width = top + place * _PITCH, max(0.0, panel.width(value))
                parts.append(f'<rect x="{start}" y="{y}" width="{width:.0f}" height="{_BAR}" fill="{colour}"/>')
                parts.append(f'<text x="{start + width + 6:.0f}" y="{y + 12}">{value:.{panel.digits}f}</text>')
    full = max(starts[-1] + span + _NUMBER, labels + 150 * len(series))
    height = _HEAD + 10 + pitch * len(names)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{full}" height="{height}" font-family="sans-serif" '
        f'font-size="12"><rect width="{full}" height="{height}" fill="white"/>{"".join(parts)}</svg>\n'
    )


def lines(across: Sequence[float], series: Sequence[tuple[str, str, Sequence[float]]], *, across_name: str) -> str:
    """Return the SVG: a line for each series (words, colour, a value for each place across), from 0 to its highest."""
    width, height, left, top = 720, 240, 50, 34
    last = max(across) or 1.0
    parts = []
    for place, (words, colour, values) in enumerate(series):
        highest = max(values) or 1.0
        points = " ".join(
            f"{left + width * at / last:.1f},{top + height * (1 - value / highest):.1f}"
            for at, value in zip(across, values, strict=True)
        )
        parts.append(f'<rect x="{left + place * 180}" y="8" width="12" height="12" fill="{colour}"/>')
        parts.append(f'<text x="{left + 17 + place * 180}" y="19">{escape(words)} (to {highest:,.0f})</text>')
        parts.append(f'<polyline points="{points}" fill="none" stroke="{colour}" stroke-width="1.5"/>')
    bottom = top + height
    parts.append(f'<path d="M{left},{top} V{bottom} H{left + width}" fill="none" stroke="#666"/>')
    parts.append(f'<text x="{left}" y="{bottom + 18}">0</text>')
    parts.append(f'<text x="{left + width - 90}" y="{bottom + 18}">{last:,.0f} {escape(across_name)}</text>')
    full, tall = left + max(width, 180 * len(series)) + 20, bottom + 30
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{full}" height="{tall}" font-family="sans-serif" '
        f'font-size="11"><rect width="{full}" height="{tall}" fill="white"/>{"".join(parts)}</svg>\n'
    )
