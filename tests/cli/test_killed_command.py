"""`streamrelay watch` under load that is killed or stopped, or loses its tmux: right, or it says so; and no trace."""

import asyncio
import os
import signal
from contextlib import nullcontext

import pytest

from streamrelay.panes.hub import PAUSE_AFTER
from streamrelay.testing.attached_terminal import onlooker
from streamrelay.testing.tmux import is_alive, resident
from streamrelay.testing.traces import listed
from streamrelay.testing.waiting import wait_until, wait_until_async

FLOOD = (
    "import sys, time\nnumber = 0\nsys.stdin.readline()\n"
    "while True:\n"
    "    print(*range(number + 1, number + 51), sep='\\n', flush=True)\n    number += 50\n    time.sleep(0.005)\n"
)
PANES = 4


def flooding(tmux, panes=PANES):
    """Open sessions with a program each that counts without end once it is told to."""
    tmux.new_session("other", ["cat", "-"])
    tmux.run("set-option", "-g", "automatic-rename", "off")
    return [tmux.new_session(f"work{number}", ["python3", "-Suc", FLOOD]) for number in range(panes)]


def begin(tmux, panes):
    for pane in panes:
        tmux.run("send-keys", "-t", pane, "Enter")


def clients(tmux):
    return [int(pid) for pid in tmux.run("list-clients", "-F", "#{client_pid}").split()]


def judged(events):
    """Return the numbers each pane said, having seen that every hole in them is behind a gap that was told."""
    last, told, gaps = {}, set(), 0
    for event in events:
        pane = event.get("pane")
        if event["event"] == "gap":
            told.add(pane)
            gaps += 1
        elif event["event"] == "text" and event["text"]:
            number, before = int(event["text"]), last.get(pane, 0)
            assert number == before + 1 or (pane in told and number > before + 1), (pane, before, number)
            last[pane] = number
            told.discard(pane)
    return last, gaps


def test_a_judge_of_holes_sees_them():
    said = [{"event": "text", "pane": "%1", "text": str(number)} for number in (1, 2, 4)]
    with pytest.raises(AssertionError):
        judged(said)
    assert judged([*said[:2], {"event": "gap", "pane": "%1"}, said[2]]) == ({"%1": 4}, 1)


@pytest.mark.sampled(1)
@pytest.mark.requirement("ENG-05e", "ENG-05b")
@pytest.mark.parametrize("how", ["itself", "itself and its client", "while it is stopped"])
def test_kill_9_under_load_leaves_the_server_as_if_nobody_had_been_there(private_tmux, cli, how):
    panes = flooding(private_tmux)
    before = listed(private_tmux)
    watching = cli.start("watch", "--json", *panes)
    watching.until_ready()
    begin(private_tmux, panes)
    watching.until(lambda: all(f'"pane":"{pane}"' in watching.stdout for pane in panes), "words of all panes")
    (client,) = clients(private_tmux)
    if how == "while it is stopped":
        watching.process.send_signal(signal.SIGSTOP)
    watching.process.kill()
    if how == "itself and its client":
        os.kill(client, signal.SIGKILL)
    watching.process.wait()
    wait_until(lambda: not clients(private_tmux) and not is_alive(client), 20, "the client to be gone")
    wait_until(lambda: listed(private_tmux) == before, 20, "nothing to be left")

    again = cli.start("watch", "--json", *panes)
    again.until_ready()
    again.until(lambda: '"event":"text"' in again.stdout, "the flood to be heard by the next")
    again.interrupt()
    wait_until(lambda: listed(private_tmux) == before, 20, "nothing to be left by that one")


@pytest.mark.requirement("ENG-05e")
def test_the_next_one_sweeps_up_what_a_killed_one_left(private_tmux, cli):
    """A hub that lost its hook, as one of another version or a restored one has, stays until somebody comes."""
    panes = flooding(private_tmux, 1)
    before = listed(private_tmux)
    watching = cli.start("watch", "--json", *panes)
    watching.until_ready()
    (hub,) = private_tmux.run("list-clients", "-F", "#{session_id}").split()
    private_tmux.run("set-hook", "-u", "-t", f"{hub}:", "client-detached")
    watching.process.kill()
    watching.process.wait()
    wait_until(lambda: not clients(private_tmux), 20, "the client to be gone")
    assert hub in private_tmux.run("list-sessions", "-F", "#{session_id}").split()

    again = cli.start("watch", "--json", *panes)
    again.until_ready()
    assert hub not in private_tmux.run("list-sessions", "-F", "#{session_id}").split()
    again.interrupt()
    assert listed(private_tmux) == before


@pytest.mark.requirement("ENG-07d", "ENG-07e")
def test_a_flood_whose_client_is_killed_is_whole_or_says_what_is_missing(private_tmux, cli):
    panes = flooding(private_tmux, 2)
    watching = cli.start("watch", "--json", *panes)
    watching.until_ready()
    begin(private_tmux, panes)
    for times in range(1, 4):
        size = len(watching.stdout)
        watching.until(lambda size=size: len(watching.stdout) > size + 100_000, "the flood")
        [client] = wait_until(lambda: clients(private_tmux), 20)
        os.kill(client, signal.SIGKILL)
        gaps = times * len(panes)
        watching.until(lambda gaps=gaps: watching.stdout.count('"event":"gap"') >= gaps, "the gaps to be told")
    watching.interrupt()
    last, gaps = judged(watching.events())
    assert set(last) == set(panes)
    assert gaps == 3 * len(panes)


@pytest.mark.requirement("ENG-09a")
def test_a_server_that_is_killed_under_load_ends_it_with_an_error(private_tmux, cli):
    panes = flooding(private_tmux)
    watching = cli.start("watch", "--json", *panes)
    watching.until_ready()
    begin(private_tmux, panes)
    watching.until(lambda: '"event":"text"' in watching.stdout, "the flood")
    os.kill(private_tmux.server_pid, signal.SIGKILL)
    assert watching.wait() != 0
    assert "Traceback" not in watching.stderr
    assert {event["reason"] for event in watching.events("pane_closed")} == {"server_lost"}
    judged(watching.events())


@pytest.mark.requirement("ENG-07b", "ENG-07e", "ENG-10b")
@pytest.mark.parametrize("seconds", [3, pytest.param(20, marks=pytest.mark.slow)])
@pytest.mark.parametrize("seen", [False, True], ids=["nobody looks on", "a person looks on"])
async def test_whoever_was_suspended_goes_on_right_or_says_what_is_missing(private_tmux, cli, seconds, seen):
    """Alone it makes the programs wait; beside a person who reads, tmux pauses the panes, and drops what was kept.

    Alone it may do so as well, where anything of a pane has waited for longer than `PAUSE_AFTER` when it goes on.
    """
    panes = flooding(private_tmux, 2)
    watching = cli.start("watch", "--json", *panes)
    watching.until_ready()
    begin(private_tmux, panes)
    with onlooker(private_tmux, "other") if seen else nullcontext():
        await wait_until_async(lambda: len(watching.stdout) > 100_000, 30)
        watching.process.send_signal(signal.SIGSTOP)
        stopped = asyncio.get_running_loop().time()
        memory, sizes = [], []

        def is_over():
            memory.append(resident(private_tmux.server_pid))
            sizes.append(len(watching.stdout))
            return asyncio.get_running_loop().time() > stopped + seconds

        await wait_until_async(is_over, seconds + 10)
        size = sizes[-1]
        assert sizes[len(sizes) // 2] == size, "what it had said before is read by then"
        watching.process.send_signal(signal.SIGCONT)
        await wait_until_async(lambda: len(watching.stdout) > size + 300_000, 60)
    watching.interrupt()
    last, gaps = judged(watching.events())
    assert set(last) == set(panes)
    assert "Traceback" not in watching.stderr
    assert memory[-1] < memory[0] + (16 << 20), "what tmux keeps meanwhile is bounded"
    assert gaps == 0 or seen or seconds > PAUSE_AFTER
    assert private_tmux.run("list-clients") == ""
