"""Panes that change their window while they are watched: `break-pane`, `join-pane`, `swap-pane`, `move-window`.

For a moment the new window is not linked, and tmux keeps for our client what the pane prints then. Commands are run
without giving the event loop a turn where that moment is to be a long one.
"""

from pathlib import Path

import pytest

from streamrelay.events import Gap, PaneOpened, PaneResized, Text
from streamrelay.testing.tmux import resident
from streamrelay.testing.waiting import wait_until, wait_until_async

PRINTER = "stty -echo; while read first last; do seq $first $last; done"
PAINTER = (
    "import sys\nprint('\\x1b[?1049h\\x1b[2J', end='', flush=True)\n"
    "for n in sys.stdin: print('\\x1b[5;10H\\x1b[K\\x1b[1mpainted ' + n.strip() + '\\x1b[m', end='', flush=True)\n"
)


def moves(tmux, pane):
    """Have a pane leave its window in each way there is, one after the other, for ever."""
    while True:
        yield tmux.run("break-pane", "-d", "-s", pane, "-t", "home:")
        yield tmux.run("join-pane", "-d", "-h", "-s", pane, "-t", "work:")
        yield tmux.run("swap-pane", "-d", "-s", pane, "-t", "home:0.0")
        yield tmux.run("swap-pane", "-d", "-s", pane, "-t", "work:0.0")
        yield tmux.run("break-pane", "-d", "-s", pane, "-t", "work:")
        yield tmux.run("move-window", "-d", "-s", pane, "-t", "home:")
        # tmux 3.8 gives the rows of a pane that leaves to its other neighbour, until one is too low to be divided.
        tmux.run("select-layout", "-t", "home:0", "even-vertical")
        yield tmux.run("join-pane", "-d", "-s", pane, "-t", "home:0")


def split(tmux, command):
    """Open a session with a pane of a user's and one that runs a command; and another session."""
    tmux.new_session("work", ["cat", "-"], columns=200, lines=80)
    tmux.run("split-window", "-d", "-t", tmux.new_session("home", ["cat", "-"], columns=170, lines=90), "cat")
    return tmux.run("split-window", "-d", "-P", "-F", "#{pane_id}", "-t", "work:", *command)


def types(tmux, pane, text, shows):
    """Type a line, and see to it that tmux has read the answer, while nobody here does anything."""
    tmux.run("send-keys", "-t", pane, text, "Enter")
    wait_until(lambda: shows in tmux.run("capture-pane", "-p", "-t", pane), 20)


@pytest.mark.requirement("ENG-06a", "ENG-07c")
@pytest.mark.parametrize("goes_on", [True, False], ids=["goes on", "falls silent"])
async def test_what_a_pane_prints_that_is_broken_off_is_said_once(private_tmux, server, heard, goes_on):
    pane = split(private_tmux, ["sh", "-c", PRINTER])
    async with server.watch(pane) as stream:
        says = heard(stream)
        await says.until(lambda s: s.of(PaneOpened))
        types(private_tmux, pane, "1 40", "40")
        await says.until(lambda s: s.said[-1:] == ["40"])
        private_tmux.run("break-pane", "-d", "-s", pane, "-t", "home:")
        types(private_tmux, pane, "41 80", "80")
        if goes_on:
            await says.until(lambda s: s.of(PaneResized))
            types(private_tmux, pane, "81 90", "90")
        await says.until(lambda s: s.said[-1:] == ["90" if goes_on else "80"])
        assert (await server.check(pane)).divergences == ()
        types(private_tmux, pane, "91 99", "99")
        await says.until(lambda s: s.said[-1:] == ["99"])
        assert says.said == [str(number) for number in range(1, 100) if goes_on or not 80 < number < 91]
        assert says.of(Gap) == []


@pytest.mark.requirement("ENG-06a")
async def test_a_program_that_paints_is_followed_when_it_is_broken_off(private_tmux, server, heard):
    pane = split(private_tmux, ["python3", "-uc", PAINTER])
    async with server.watch(pane) as stream:
        says = heard(stream)
        await says.until(lambda s: s.of(PaneOpened))
        types(private_tmux, pane, "one", "painted one")
        for number, _ in zip(range(12), moves(private_tmux, pane), strict=False):
            types(private_tmux, pane, f"missed{number}", f"painted missed{number}")
            types(private_tmux, pane, f"then{number}", f"painted then{number}")
            here = private_tmux.run("display-message", "-p", "-t", pane, "#{window_id}")
            await wait_until_async(lambda here=here: server.pipeline(pane).info.window == here, 20)
            types(private_tmux, pane, f"after{number}", f"painted after{number}")
            await wait_until_async(
                lambda number=number: f"after{number}" in server.pipeline(pane)._screen.text()[4], 20
            )
            assert (await server.check(pane)).divergences == ()
        assert says.of(Gap) == []


@pytest.mark.requirement("ENG-06a")
@pytest.mark.parametrize("times", [14, pytest.param(140, marks=pytest.mark.slow)])
async def test_a_flood_is_heard_whole_while_its_pane_moves_about(private_tmux, server, heard, times):
    pane = split(private_tmux, ["sh", "-c", "stty -echo; read go; exec seq 1 1000000000"])
    async with server.watch(pane) as stream:
        says = heard(stream)
        await says.until(lambda s: s.of(PaneOpened))
        private_tmux.run("send-keys", "-t", pane, "Enter")
        for _, _ in zip(range(times), moves(private_tmux, pane), strict=False):
            before = len(says.events)
            await says.until(lambda s, before=before: len(s.events) > before + 3000)
        here = private_tmux.run("display-message", "-p", "-t", pane, "#{window_id}")
        while server.pipeline(pane).info.window != here:
            before = len(says.events)
            await says.until(lambda s, before=before: len(s.events) > before)
        assert says.of(Gap) == []
        assert says.said == [str(number) for number in range(1, len(says.said) + 1)]


@pytest.mark.sampled(2)
@pytest.mark.requirement("ENG-11b", "ENG-05b")
@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="memory of another process is read from /proc")
@pytest.mark.parametrize("how", ["let go of", "never watched, and broken off", "split off and broken off"])
async def test_tmux_keeps_nothing_for_us_of_a_pane_nobody_watches(private_tmux, server, heard, how):
    """tmux would keep all that a pane prints, for ever, once its window is not linked any more."""
    pane = split(private_tmux, ["sh", "-c", PRINTER])
    user = private_tmux.run("list-panes", "-t", "work:", "-F", "#{pane_id}").split()[0]
    async with server.watch(user), server.watch("home") as kept:
        says = heard(kept)
        if how == "let go of":
            async with server.watch(pane) as stream:
                types(private_tmux, pane, "1 40", "40")
                await heard(stream).until(lambda s: s.said[-1:] == ["40"])
        elif how.startswith("split"):
            pane = private_tmux.run("split-window", "-d", "-P", "-F", "#{pane_id}", "-t", user, "sh", "-c", PRINTER)
            types(private_tmux, pane, "1 40", "40")
            await says.until(lambda s: s.of(PaneOpened))
        types(private_tmux, pane, "1 40", "40")
        private_tmux.run("send-keys", "-t", "home:0.0", "heard", "Enter")
        await says.until(lambda s: "heard" in s.said)
        await server.query(("display-message", "-p", "behind what was asked of tmux when the pane was heard"))
        private_tmux.run("break-pane", "-d", "-s", pane, "-t", "home:")
        before = resident(private_tmux.server_pid)
        types(private_tmux, pane, "1 500000", "500000")
        assert resident(private_tmux.server_pid) < before + (2 << 20), "of the 3.9 MB that were printed"
        async with server.watch(pane) as stream:
            types(private_tmux, pane, "7 9", "9")
            await (again := heard(stream)).until(lambda s: s.said[-1:] == ["9"])
            assert again.said == ["7", "8", "9"]


@pytest.mark.requirement("ENG-06a", "DEL-06")
@pytest.mark.parametrize("how", [["break-pane", "-d", "-t", "home:"], ["swap-pane", "-d", "-t", "home:0.0"]])
@pytest.mark.parametrize("paints", [True, False], ids=["painted", "printed"])
async def test_a_program_that_takes_the_place_of_another_in_a_pane_that_moves_is_heard_or_a_gap_is_told(
    private_tmux, server, heard, paints, how
):
    begins = r"printf '\033[?1049h\033[5;3Hold'" if paints else "printf 'one\nold\nopen'"
    pane = split(private_tmux, ["sh", "-c", f"{begins}; exec sleep 1000"])
    async with server.watch(pane) as stream:
        says = heard(stream)
        await says.until(lambda s: s.of(PaneOpened))
        wait_until(lambda: "o" in private_tmux.run("capture-pane", "-p", "-t", pane), 20)
        anew = ("respawn-pane", "-k", "-t", pane, "stty -echo; echo one; echo two; exec cat")
        private_tmux.run(*anew, ";", how[0], "-s", pane, *how[1:])
        wait_until(lambda: "two" in private_tmux.run("capture-pane", "-p", "-t", pane), 20)
        here = private_tmux.run("display-message", "-p", "-t", pane, "#{window_id}")
        await wait_until_async(lambda: server.pipeline(pane).info.window == here, 20)
        await wait_until_async(lambda: not server.pipeline(pane).has_moved, 20)
        types(private_tmux, pane, "three", "three")
        await says.until(lambda s: [text.text for text in s.of(Text)][-1:] == ["three"])
        assert (await server.check(pane)).divergences == ()
        if paints:
            assert says.said == ["one", "two", "three"]
        else:
            # tmux has cleared the screen by which printed lines are placed.
            assert [gap.reason for gap in says.of(Gap)] == ["moved"]
