"""The self-check on a live pane, through a control client: what it sees, what it counts, and the way back."""

import asyncio
from typing import Any

import pytest

import streamrelay
from streamrelay.control import ControlClient, PaneOutput, Tmux
from streamrelay.errors import PaneGone
from streamrelay.events import Gap
from streamrelay.panes.selfcheck import SelfCheck, SelfCheckResult
from streamrelay.panes.snapshot import read_snapshot, snapshot_line
from streamrelay.testing.tmux import PrivateTmux
from streamrelay.testing.waiting import wait_until_async
from streamrelay.vt import TmuxScreen
from streamrelay.vt.comparison import divergences

pytestmark = pytest.mark.smoke

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

    async def ask() -> SelfCheckResult:
        answer: asyncio.Future[SelfCheckResult | None] = asyncio.get_running_loop().create_future()
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


def corrupt(server: Any, pane: str) -> TmuxScreen:
    """Have the pane's screen go wrong, as a defect of the terminal would."""
    screen: TmuxScreen = server.pipeline(pane)._screen
    screen.feed(b"\x1b[Hnobody printed this")
    return screen


async def test_a_watched_pane_that_went_wrong_goes_on_with_the_screen_of_tmux(
    private_tmux: PrivateTmux, server: Any, heard: Any
) -> None:
    pane = private_tmux.new_session("checked", ["sh", "-c", "stty -echo; echo one; while read x; do echo $x; done"])
    await wait_until_async(lambda: "one" in private_tmux.run("capture-pane", "-p", "-t", pane))
    async with server.watch(pane) as stream:
        says = heard(stream)
        private_tmux.run("send-keys", "-t", pane, "two", "Enter")
        await says.until(lambda it: "two" in it.said)
        verdict = await server.check(pane)
        assert verdict is not None
        assert verdict.divergences == ()
        screen = corrupt(server, pane)
        verdict = await server.check(pane)
        assert verdict is not None
        assert verdict.divergences
        assert divergences(screen, verdict.snapshot) == ()
        await says.until(lambda it: it.of(Gap))
        private_tmux.run("send-keys", "-t", pane, "three", "Enter")
        await says.until(lambda it: "three" in it.said)
        assert says.said == ["two", "three"]
        assert [gap.reason for gap in says.of(Gap)] == ["divergence"]
        assert (server.selfcheck.looks, server.selfcheck.diverged) == (2, 1)
    with pytest.raises(PaneGone):
        await server.check(pane)


async def test_resting_panes_are_checked_by_themselves(private_tmux: PrivateTmux, heard: Any) -> None:
    panes = [private_tmux.new_session(name, ["sh", "-c", "echo here; exec sleep 600"]) for name in ("one", "two")]
    async with (
        streamrelay.connect(
            tmux=private_tmux.binary, socket_path=str(private_tmux.socket_path), self_check=0.05
        ) as server,
        server.watch(*panes) as stream,
    ):
        screens = [corrupt(server, pane) for pane in panes]
        says = heard(stream)
        await says.until(lambda it: {gap.pane for gap in it.of(Gap)} == {*panes})
        assert all("nobody" not in "".join(screen.text()) for screen in screens)
        looks = server.selfcheck.looks
        await wait_until_async(lambda: server.selfcheck.looks >= looks + 4, message="it stopped looking")
        assert server.selfcheck.diverged == 2
