"""Another client detaches the control clients of a tmux server just when one of them has something to write."""

from collections.abc import Callable
from pathlib import Path

import pytest

from streamrelay.control import ControlClient
from streamrelay.control.requests import OnReply
from streamrelay.testing.tmux import PrivateTmux


def drop_clients(tmux: PrivateTmux) -> None:
    """Detach the clients that stay on hubs."""
    for line in tmux.run("list-clients", "-F", "#{client_session} #{client_name}").splitlines():
        session, name = line.split()
        if session.startswith("streamrelay-"):
            tmux.run("detach-client", "-t", name)


class Dropping:
    """Detaches the clients `left` times, whenever one is about to write a line that contains all of some words."""

    def __init__(
        self,
        tmux: PrivateTmux,
        patch: pytest.MonkeyPatch,
        *words: str,
        left: int = 1,
        runs_in: Path | None = None,
        dropped: Callable[[int], None] = lambda left: None,
    ) -> None:
        """With a folder `runs_in`, tmux runs the line first: it answers before it lets a client go, so the line takes
        another way. `dropped` is called after each time with how many are left.
        """
        self.left = left
        request = ControlClient.request

        def send(client: ControlClient, line: str, on_reply: OnReply) -> None:
            if self.left and all(word in line for word in words):
                self.left -= 1
                if runs_in is not None:
                    (runs_in / "line").write_text(line)
                    tmux.run("source-file", str(runs_in / "line"))
                drop_clients(tmux)
                dropped(self.left)
            request(client, line, on_reply)

        patch.setattr(ControlClient, "request", send)
