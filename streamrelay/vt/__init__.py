"""tmux's own screen, rendered from the bytes a pane prints.

    bytes -> tokens -> dispatch -> cursor, editing, printing -> state, grid -> rows

`TmuxScreen` is the engine, and a `pyte.HistoryScreen`; the seam between bytes and screens is
`streamrelay.vt.engine`.

The names here load on first use: a program that needs only the table of widths is spared pyte.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from streamrelay.vt.rendering import Rendering, render
    from streamrelay.vt.screen import TmuxScreen

__all__ = ["Rendering", "TmuxScreen", "render"]

if not TYPE_CHECKING:  # a type checker reads the imports above, and reports a name that does not exist

    def __getattr__(name: str) -> object:
        """Load a name on first use; raise AttributeError for any other name."""
        if name not in __all__:
            raise AttributeError(f"module 'streamrelay.vt' has no attribute {name!r}")
        from streamrelay.vt import rendering, screen

        value = getattr(screen if name == "TmuxScreen" else rendering, name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    """List the loaded names and those that load on access."""
    return sorted({*globals(), *__all__})
