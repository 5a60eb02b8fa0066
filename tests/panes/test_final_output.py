"""What a program says in the moment it ends."""

import pytest

from streamrelay.events import Gap, PaneClosed, PaneOpened
from streamrelay.testing.attached_terminal import onlooker
from streamrelay.testing.waiting import wait_until_async


async def ready(tmux, script: str) -> str:
    """Start a program that carries out a script at the next Enter."""
    pane = tmux.new_session("work", ["sh", "-c", f"stty -echo; echo ready; read go; {script}"])
    await wait_until_async(lambda: "ready" in tmux.run("capture-pane", "-p", "-t", pane))
    return pane


async def let_it_end(tmux, says, pane: str) -> PaneClosed:
    await says.until(lambda s: s.of(PaneOpened))
    tmux.run("send-keys", "-t", pane, "Enter")
    await says.until_end()
    [closed] = says.of(PaneClosed)
    return closed


@pytest.mark.parametrize(
    ("script", "said", "status"),
    [
        ("echo bye; sleep 0.2; exit 3", ["bye"], 3),
        ("exit 0", [], 0),
        ("printf '%0200d' 7; sleep 0.2; kill -9 $$", ["7".zfill(200)], None),
    ],
    ids=["a word", "nothing", "a wrapped line, unfinished"],
)
async def test_the_end_in_a_pane_that_remains(private_tmux, server, heard, script, said, status):
    private_tmux.run("set-option", "-g", "remain-on-exit", "on")
    pane = await ready(private_tmux, script)
    async with server.watch(pane) as stream:
        says = heard(stream)
        closed = await let_it_end(private_tmux, says, pane)
    assert says.said == said
    assert closed.reason == "pane_gone"
    assert closed.status in {status, None}, "tmux 3.3a often does not know"
    assert private_tmux.run("list-panes", "-t", "work", "-F", "#{pane_dead}") == "1", "a user's pane remains"


@pytest.mark.requirement("ENG-08b")
@pytest.mark.parametrize(("rest", "certain"), [("", False), ("sleep 3;", True)])
async def test_the_tail_is_certain_where_the_program_had_rested(private_tmux, server, heard, rest, certain):
    """tmux may not have read what was printed last, and nobody can tell."""
    private_tmux.run("set-option", "-g", "remain-on-exit", "on")
    pane = await ready(private_tmux, f"seq 5000; {rest} exit 0")
    async with server.watch(pane) as stream:
        says = heard(stream)
        closed = await let_it_end(private_tmux, says, pane)
    assert closed.tail_certain is certain
    if not says.of(Gap):
        assert says.said[:-1] == [str(number) for number in range(1, len(says.said))]
    if certain:
        assert says.said[-1:] == ["5000"]
        assert says.of(Gap) == []


@pytest.mark.requirement("ENG-08a")
async def test_what_tmux_had_not_passed_on_is_taken_from_its_history(private_tmux, server, heard):
    """When a program ends, tmux drops what it holds of it for its clients."""
    private_tmux.run("set-option", "-g", "remain-on-exit", "on")
    private_tmux.run("set-option", "-g", "history-limit", "20000")
    pane = await ready(private_tmux, "seq -f '%060.0f' 4000; sleep 3; exit 0")
    with onlooker(private_tmux, "work"):
        async with server.watch(pane) as stream:
            says = heard(stream)
            await says.until(lambda s: s.of(PaneOpened))
            client = server._attachments._connection.client()
            client.pause_reading()
            private_tmux.run("send-keys", "-t", pane, "Enter")
            await wait_until_async(
                lambda: private_tmux.run("display-message", "-p", "-t", pane, "#{pane_dead}") == "1", 20
            )
            client.resume_reading()
            await says.until_end()
    assert says.said == [f"{number:060}" for number in range(1, 4001)]


@pytest.mark.requirement("ENG-08b")
async def test_the_tail_of_a_pane_that_is_gone_is_not_certain(private_tmux, server, heard):
    pane = await ready(private_tmux, "seq 1000; exit 0")
    async with server.watch(pane) as stream:
        says = heard(stream)
        closed = await let_it_end(private_tmux, says, pane)
    assert not closed.tail_certain
    assert says.said[:-1] == [str(number) for number in range(1, len(says.said))]


@pytest.mark.over_ssh
async def test_a_pane_of_ours_is_released_when_its_last_words_are_read(private_tmux, server, heard):
    pane = await ready(private_tmux, "echo bye; sleep 0.2")
    private_tmux.run("set-option", "-p", "-t", pane, "remain-on-exit", "on")
    private_tmux.run("set-option", "-p", "-t", pane, "@streamrelay_release", "1")
    async with server.watch(pane) as stream:
        says = heard(stream)
        await let_it_end(private_tmux, says, pane)
        assert says.said == ["bye"]
        await wait_until_async(lambda: pane not in private_tmux.run("list-panes", "-a", "-F", "#{pane_id}"))
