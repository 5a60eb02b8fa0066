"""The self-check on a live pane, through a control client: what it sees, what it counts, and the way back."""

import asyncio
from typing import Any

from streamrelay.control import ControlClient, PaneOutput, Tmux
from streamrelay.panes.selfcheck import SelfCheck, Verdict
from streamrelay.panes.snapshot import read_snapshot, snapshot_line
from streamrelay.testing.tmux import PrivateTmux
from streamrelay.testing.waiting import wait_until_async
from streamrelay.vt import TmuxScreen
from streamrelay.vt.comparing import divergences

PROGRAM = (
    "stty raw -echo; printf 'one \\033[31mred\\033[m\\r\\ntwo'; read x; printf '\\r\\n\\344\\270\\226 three'; read x"
)


async def test_a_screen_that_went_wrong_is_seen_and_seeded_again(private_tmux: PrivateTmux) -> None:
    pane = private_tmux.new_session("checked", ["sh", "-c", PROGRAM], columns=30, lines=5)
    screen = TmuxScreen(30, 5)
    seeded = asyncio.Event()

    def handle(events: Any, _read_at: float) -> None:
        for event in events:
            if isinstance(event, PaneOutput) and seeded.is_set():
                screen.feed(event.data)

    tmux = Tmux(private_tmux.binary, socket_path=str(private_tmux.socket_path))
    client = ControlClient(tmux, "checked", handle, transport="pipes")
    await client.open()
    check = SelfCheck()

    async def ask() -> Verdict:
        answer: asyncio.Future[Verdict | None] = asyncio.get_running_loop().create_future()
        client.request(snapshot_line(pane), lambda result: answer.set_result(check.judge(screen, blocks(result))))
        async with asyncio.timeout(10):
            verdict = await answer
        assert verdict is not None
        return verdict

    def seed(result: Any) -> None:
        snapshot = read_snapshot(blocks(result))
        assert snapshot is not None
        screen.seed(snapshot)
        seeded.set()

    try:
        client.request(snapshot_line(pane), seed)
        async with asyncio.timeout(10):
            await seeded.wait()
        private_tmux.run("send-keys", "-t", pane, "C-j")
        await wait_until_async(lambda: "世 three" in screen.text(), message="the pane printed nothing")
        assert (await ask()).divergences == ()
        assert (check.looks, check.diverged) == (1, 0)
        screen.feed(b"\x1b[Hnobody printed this")
        verdict = await ask()
        assert {found.aspect for found in verdict.divergences} == {"text", "cursor"}
        assert (check.looks, check.diverged) == (2, 1)
        screen.seed(verdict.snapshot)
        assert divergences(screen, verdict.snapshot) == ()
        assert (await ask()).divergences == ()
    finally:
        await client.aclose()


def blocks(result: Any) -> list[Any]:
    return [block.lines for block in result.blocks]


def test_a_pane_that_is_gone_is_no_divergence() -> None:
    check = SelfCheck()
    assert check.judge(TmuxScreen(10, 2), []) is None
    assert (check.looks, check.diverged) == (0, 0)
