"""Mermaid diagrams in Markdown, drawn as text by termaid; the source stays where it cannot draw one."""

import re

import termaid

MAX_SOURCE = 4_000
"""Characters of a diagram that is drawn: layouts take longer than linearly."""
MAX_WIDTH = 400
"""Columns of a drawing that is kept."""

_FENCE = re.compile(
    r"^(?P<fence>`{3,}|~{3,})[ \t]*mermaid[ \t]*\n(?P<source>.*?)^(?P=fence)[ \t]*$", re.DOTALL | re.MULTILINE
)


def with_diagrams(markdown: str) -> str:
    """Return Markdown whose closed Mermaid fences are replaced by their drawings."""
    return _FENCE.sub(lambda fence: _drawn(fence["source"], fence["fence"]) or fence[0], markdown)


def _drawn(source: str, fence: str) -> str:
    if len(source) > MAX_SOURCE:
        return ""
    try:
        drawing = termaid.render(source).rstrip()
    except Exception:  # noqa: BLE001  # a layout of another's that fails on what a model wrote; its source is shown
        return ""
    lines = drawing.splitlines()
    if not drawing.strip() or fence in drawing or max(map(len, lines)) > MAX_WIDTH:
        return ""
    return f"{fence}text\n{drawing}\n{fence}"
