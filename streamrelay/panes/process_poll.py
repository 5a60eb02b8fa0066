"""Process poll: asks tmux which program runs in a pane, only while the pane prints.

tmux sends no notification when another program comes to a pane's foreground; for each query it looks the program up in
/proc (30 us on tmux 3.3a). A tmux subscription would query every pane once a second: with 300 panes that is ten times
the cost of everything else on an idle server. But nearly every start or end of a program causes output, from the
program or from its shell. The poller therefore queries a pane once a second while it prints, and once more two seconds
after that. A pane is also queried once a second while its line may be a question that answers a message. The stream
waits 1.5 s for the first evidence that the program works on, and 3 s for the next.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from streamrelay.control import command_line, quote

_INTERVAL = 1.0
"""Seconds between two rounds."""
_ROUNDS = (1, 3)
"""The rounds in which a pane is polled, counted from its last output or question."""
_FORMAT = "#{pane_id}\t#{pane_dead}\t#{?pane_pid,#{pane_pid},0}\t#{pane_current_command}"
_QUERY = command_line(("display-message", "-p", "-t", "{}", _FORMAT))
_PLACEHOLDER = quote("{}")


@dataclass(frozen=True, slots=True)
class ProcessState:
    """The process state of one pane."""

    pane: str
    dead: bool
    pid: int
    """The process that tmux started in the pane; 0 if tmux reports none."""
    command: str


def poll_line(panes: Sequence[str]) -> str:
    """Return the command line that queries panes; in place of a missing pane tmux reports another one."""
    return " ; ".join(_QUERY.replace(_PLACEHOLDER, quote(pane)) for pane in panes)


def parse_process_states(lines: Sequence[bytes]) -> list[ProcessState]:
    """Parse the replies to `poll_line`."""
    rows = [line.decode(errors="replace").split("\t", 3) for line in lines]
    return [
        ProcessState(pane=row[0], dead=row[1] == "1", pid=int(row[2]), command=row[3])
        for row in rows
        if len(row) == 4 and row[0].startswith("%") and row[2].isdigit()
    ]


class ProcessPoller:
    """Decides when to query which panes.

    It calls `query` with the panes; the caller must call `note_reply` after the reply.
    """

    def __init__(self, query: Callable[[Sequence[str]], None], *, interval: float = _INTERVAL) -> None:
        self._query = query
        self._interval = interval
        self._rounds: dict[str, int] = {}
        """The number of rounds since the last output or question, for each pane that is still to be polled."""
        self._timer: asyncio.TimerHandle | None = None
        self._awaits_reply = False

    def poll(self, pane: str) -> None:
        """Poll a pane in the rounds to come: it has printed, or its line may be a question."""
        self._rounds[pane] = 0
        self._schedule()

    def note_reply(self) -> None:
        """Note that the last query was answered or failed; the next round follows after the interval."""
        self._awaits_reply = False
        self._schedule()

    def stop(self) -> None:
        """Stop polling."""
        self._rounds.clear()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _schedule(self) -> None:
        if self._rounds and self._timer is None and not self._awaits_reply:
            self._timer = asyncio.get_running_loop().call_later(self._interval, self._run_round)

    def _run_round(self) -> None:
        self._timer = None
        rounds = {pane: count + 1 for pane, count in self._rounds.items()}
        self._rounds = {pane: count for pane, count in rounds.items() if count < _ROUNDS[-1]}
        panes = [pane for pane, count in rounds.items() if count in _ROUNDS]
        if panes:
            self._awaits_reply = True
            self._query(panes)
        else:
            self._schedule()
