"""Commands of a control client from plain threads."""

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from streamrelay.control import BlockingCommands, ControlClient, Tmux
from streamrelay.errors import BadCommand, CommandFailed, ConnectionLost, ServerLost
from streamrelay.testing.tmux import PrivateTmux
from streamrelay.threads import LoopThread


class Lent:
    """A control client on a loop's thread, and the commands that it lent."""

    def __init__(self, tmux: PrivateTmux, session: str) -> None:
        self.loop = LoopThread("test")
        self.client, self.commands = self.loop.wait(
            self._open(Tmux(tmux.binary, socket_path=tmux.socket_path), session)
        )

    async def _open(self, tmux: Tmux, session: str) -> tuple[ControlClient, BlockingCommands]:
        client = ControlClient(tmux, session, lambda _events, _at: None)
        await client.open(await tmux.probe())
        return client, client.lend()

    def close(self) -> None:
        self.commands.end()
        self.loop.wait(self.client.aclose())
        self.loop.close()


@pytest.mark.requirement("BRG-03b")
def test_each_thread_gets_the_answer_to_its_own_command(private_tmux: PrivateTmux) -> None:
    pane = private_tmux.new_session("work", ["cat"])
    lent = Lent(private_tmux, "work")
    try:
        with ThreadPoolExecutor(8) as threads:
            answers = [
                *threads.map(lambda n: lent.commands.run(f"display-message -p {n} ; display-message -p x"), range(100))
            ]
        assert [answer.text for answer in answers] == [f"{n}\nx" for n in range(100)]
        refused = lent.commands.run("kill-pane -t %9999")
        assert isinstance(refused.error, CommandFailed)
        with pytest.raises(BadCommand):
            lent.commands.run("two\nlines")
        # What tmux says on its own does not disturb the answers, read early or late.
        for n in range(50):
            lent.commands.run(f"rename-window -t {pane} name-{n}")
        lent.commands.drain()
        assert lent.commands.run("display-message -p '#{window_name}'").text == "name-49"
    finally:
        lent.close()
    with pytest.raises(ServerLost):
        lent.commands.run("display-message -p late").unwrap()


@pytest.mark.requirement("BRG-03b")
def test_the_end_of_tmux_or_of_the_connection_answers_what_waits(private_tmux: PrivateTmux) -> None:
    private_tmux.new_session("work", ["cat"])
    lent = Lent(private_tmux, "work")
    try:
        waiting = threading.Thread(target=lambda: answers.append(lent.commands.run("wait-for never")))
        answers: list[object] = []
        waiting.start()
        lent.commands.drain()  # it reads nothing while a command runs, and does not wait
        lent.commands.end()
        waiting.join(30)
        assert [type(getattr(answer, "error", None)) for answer in answers] == [ConnectionLost]
    finally:
        lent.close()
    other = Lent(private_tmux, "work")
    try:
        private_tmux.run("kill-server")
        assert isinstance(other.commands.run("display-message -p there").error, ServerLost)
    finally:
        other.close()
