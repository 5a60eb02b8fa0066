"""What is typed to a real shell before our eyes, at a prompt that stood there when the watching began."""

import shutil

import pytest

from streamrelay.events import Text
from streamrelay.testing.waiting import wait_until_async

COLUMNS = 80


@pytest.mark.requirement("DEL-01")
@pytest.mark.skipif(shutil.which("bash") is None, reason="there is no bash here")
@pytest.mark.parametrize("width", [COLUMNS - 1, COLUMNS, COLUMNS + 1, 2 * COLUMNS])
async def test_a_command_that_fills_its_row_swallows_no_output(private_tmux, server, heard, width):
    """Readline writes a line feed behind it that the terminal takes for none: what follows is on the wrapped line."""
    bash = ["bash", "--noprofile", "--norc", "-i"]
    variables = {"PS1": "$ ", "HISTFILE": "/dev/null"}
    pane = private_tmux.new_session("work", bash, columns=COLUMNS, environment=variables)
    await wait_until_async(lambda: private_tmux.run("capture-pane", "-p", "-t", pane).startswith("$"), 20)
    command = "seq 3 #".ljust(width - len("$ "), "x")
    async with server.watch(pane) as stream:
        says = heard(stream)
        private_tmux.run("send-keys", "-l", "-t", pane, command)
        private_tmux.run("send-keys", "-t", pane, "Enter")
        await says.until(lambda s: s.said[-1:] == ["3"])
        assert says.said == ["1", "2", "3"]
        assert [event.text for event in says.of(Text) if event.origin == "typed"] == [command]
