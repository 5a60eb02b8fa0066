"""tmux's own screen, rendered from the bytes a pane prints.

    bytes -> tokens -> dispatch -> cursor, editing, printing -> state, grid -> rows

`TmuxScreen` is the engine, and a `pyte.HistoryScreen`; the seam between bytes and screens is
`streamrelay.vt.engine`.
"""

from streamrelay.vt.rendering import Rendering, render
from streamrelay.vt.screen import TmuxScreen

__all__ = ["Rendering", "TmuxScreen", "render"]
