"""A pane's terminal device, as the writer of the pane needs it.

Of one on another machine nothing can be told. Then it is taken for what does no harm: a question for a secret is asked
of a person, whatever the echo is, and a program that did not ask for bracketed paste may read whole lines. A program
there that never reads, or leaves with something unread, is not noticed.
"""

from streamrelay.delivery.foreground import shell_works
from streamrelay.delivery.tty_input import hides_input, reads_lines
from streamrelay.panes.pipeline import PanePipeline
from streamrelay.panes.server import Server


class TerminalDevice:
    """The terminal device of a watched pane; another one after `respawn-pane`."""

    def __init__(self, server: Server, pipeline: PanePipeline) -> None:
        self._server = server
        self._pipeline = pipeline

    @property
    def is_here(self) -> bool:
        """Whether it is one of this machine."""
        return self._server.is_here

    @property
    def path(self) -> str:
        """Where it is; empty where it cannot be had."""
        return self._server.terminal(self._pipeline.info)

    @property
    def shell_works(self) -> bool:
        """Whether the pane's first program is a shell of this machine that runs a command."""
        return self.is_here and shell_works(self._pipeline.info.pid)

    @property
    def hides_input(self) -> bool:
        """Whether what is typed may not be echoed, as for a password."""
        return hides_input(self.path) if self.is_here else True

    @property
    def reads_lines(self) -> bool:
        """Whether it may cut long lines."""
        return reads_lines(self.path) if self.is_here else not self._pipeline.standing.asks_for_paste
