"""Process poll: asks tmux which program runs in a pane, only while the pane prints.

tmux sends no notification when another program comes to a pane's foreground; it looks the program up in /proc for each
query (30 us on tmux 3.3a). A tmux subscription would query every pane once a second: with 300 panes ten times the other
costs of an idle server. But a program hardly starts or ends without output, its own or its shell's. The poller
therefore queries a pane once a second while it prints, and once more two seconds after that.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from streamrelay.control import command_line, quote

_EVERY = 1.0
"""Seconds between two rounds."""
_ROUNDS = (1, 3)
"""The rounds after its last output in which a pane is polled."""
_FORMAT = "#{pane_id}\t#{pane_dead}\t#{?pane_pid,#{pane_pid},0}\t#{pane_current_command}"
_QUESTION = command_line(("display-message", "-p", "-t", "{}", _FORMAT))
_PLACE = quote("{}")


@dataclass(frozen=True, slots=True)
class ProcessState:
    """The process state of one pane."""

    pane: str
    dead: bool
    pid: int
    """The process that was started in the pane; 0 if tmux reports none."""
    command: str


def poll_line(panes: Sequence[str]) -> str:
    """Return the line that queries panes; for a missing one tmux reports another pane."""
    return " ; ".join(_QUESTION.replace(_PLACE, quote(pane)) for pane in panes)


def parse_process_states(lines: Sequence[bytes]) -> list[ProcessState]:
    """Parse the replies to `poll_line`."""
    fields = [line.decode(errors="replace").split("\t", 3) for line in lines]
    return [
        ProcessState(one[0], one[1] == "1", int(one[2]), one[3])
        for one in fields
        if len(one) == 4 and one[0].startswith("%") and one[2].isdigit()
    ]


class ProcessPoller:
    """Decides when to poll which panes. It calls `look` with the panes to query; the caller must call `answered`."""

    def __init__(self, look: Callable[[Sequence[str]], None], *, every: float = _EVERY) -> None:
        self._look = look
        self._every = every
        self._passed: dict[str, int] = {}
        """The rounds since the last output of each pane that is still to be polled."""
        self._timer: asyncio.TimerHandle | None = None
        self._asked = False

    def printed(self, pane: str) -> None:
        """Note output of a pane."""
        self._passed[pane] = 0
        self._wait()

    def answered(self) -> None:
        """Note that the last query was answered, or never will be; the next one follows in a second."""
        self._asked = False
        self._wait()

    def stop(self) -> None:
        """Stop polling."""
        self._passed.clear()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _wait(self) -> None:
        if self._passed and self._timer is None and not self._asked:
            self._timer = asyncio.get_running_loop().call_later(self._every, self._ask)

    def _ask(self) -> None:
        self._timer = None
        now = {pane: passed + 1 for pane, passed in self._passed.items()}
        self._passed = {pane: passed for pane, passed in now.items() if passed < _ROUNDS[-1]}
        panes = [pane for pane, passed in now.items() if passed in _ROUNDS]
        if panes:
            self._asked = True
            self._look(panes)
        else:
            self._wait()
