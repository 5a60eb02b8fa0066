"""A pane's terminal device, as the writer of the pane needs it.

The state of a device on another machine is unknown, so the writer assumes the safe case: a question for a secret waits
for a person, whatever the echo is, and a program without bracketed paste may read whole lines. The writer cannot notice
a program there that never reads, or that leaves with unread input.
"""

from streamrelay.delivery.tty_input import hides_input, reads_lines
from streamrelay.panes.foreground import shell_works
from streamrelay.panes.pipeline import PanePipeline
from streamrelay.panes.server import Server


class TerminalDevice:
    """The terminal device of a watched pane; another one after `respawn-pane`."""

    def __init__(self, server: Server, pipeline: PanePipeline) -> None:
        self._server = server
        self._pipeline = pipeline

    @property
    def is_here(self) -> bool:
        """Whether the device belongs to this machine."""
        return self._server.is_here

    @property
    def path(self) -> str:
        """The device's path; empty if it is not accessible."""
        return self._server.terminal(self._pipeline.info)

    @property
    def shell_works(self) -> bool:
        """Whether the pane's first program is a shell of this machine that runs a command."""
        return self.is_here and shell_works(self._pipeline.info.pid)

    @property
    def hides_input(self) -> bool:
        """Whether the device hides typed text, as for a password."""
        return hides_input(self.path) if self.is_here else True

    @property
    def reads_lines(self) -> bool:
        """Whether the device may cut long lines."""
        return reads_lines(self.path) if self.is_here else not self._pipeline.pane_state.asks_for_paste
