"""Many panes over one client: every byte of each, and panes that come, go, split and move at random."""

import asyncio
import hashlib
import random

import pytest

import streamrelay
from streamrelay.events import Gap, PaneClosed, Text
from streamrelay.testing.waiting import wait_until_async

PATIENCE = 60.0
PRINT = """
import random, sys
made = random.Random(int(sys.argv[1]))
words = ["plain", "\\u4e2d\\u6587", "na\\u00efve", "\\U0001f99c", "back\\\\slash", "%output", "tab-less", "\\u044f"]
for number in range(int(sys.argv[2])):
    print(number, *made.choices(words, k=made.randint(1, 30)))
"""


def printed(seed, lines):
    made = random.Random(seed)
    words = ["plain", "中文", "naïve", "🦜", "back\\slash", "%output", "tab-less", "я"]
    return [" ".join((str(number), *made.choices(words, k=made.randint(1, 30)))) for number in range(lines)]


def digest(lines):
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()


@pytest.mark.sampled(2)
@pytest.mark.requirement("ENG-05a")
@pytest.mark.parametrize("panes", [1, 4, 64])
async def test_every_byte_of_every_pane_arrives_while_all_print_at_once(private_tmux, server, tmp_path, panes):
    script = tmp_path / "print.py"
    script.write_text(PRINT)
    lines = 6000 // panes
    start = ["sh", "-c", f'read x; python3 {script} "$0" {lines}; echo the end; cat']
    ids = [private_tmux.new_session(f"work{n}", [*start, str(n)], columns=250) for n in range(panes)]
    said = {pane: [] for pane in ids}
    gaps = []
    async with server.watch(*ids) as stream, asyncio.timeout(PATIENCE):
        for pane in ids:
            private_tmux.run("send-keys", "-t", pane, "Enter")
        waiting = set(ids)
        while waiting:
            for event in await stream.batch() or ():
                gaps += [event] if isinstance(event, Gap) else []
                if isinstance(event, Text) and event.origin == "program":
                    said[event.pane].append(event.text)
                    if event.text == "the end":
                        waiting.discard(event.pane)
    assert gaps == []
    for number, pane in enumerate(ids):
        text = [line for line in said[pane][:-1] if line]
        assert digest(text) == digest(printed(number, lines)), f"pane {number} of {panes}"


@pytest.mark.requirement("ENG-06a")
@pytest.mark.parametrize("changes", [30, pytest.param(1000, marks=pytest.mark.slow)])
@pytest.mark.timeout(500)
async def test_panes_that_come_go_split_and_move_at_random_are_followed(private_tmux, changes):
    """After every few changes, what is watched is what there is, and all of it is heard."""
    dice = random.Random(changes)
    echo = ["sh", "-c", "stty -echo; while read n; do echo heard $n; done"]
    for number in range(4):
        private_tmux.new_session(f"home{number}", ["cat", "-"], columns=200, lines=200)
    tmux = private_tmux.run
    connected = streamrelay.connect(tmux=private_tmux.binary, socket_path=private_tmux.socket_path)
    async with connected as server, asyncio.timeout(PATIENCE + changes / 3):
        watched = {}

        async def open_one():
            home = f"=home{dice.randrange(4)}:"
            how = dice.choice(["new-window", "split-window"])
            pane = tmux(how, "-d", "-P", "-F", "#{pane_id}", "-t", home, *echo)
            tmux("select-layout", "-t", pane, "tiled")
            listening = asyncio.get_running_loop().create_future()
            events = []
            watched[pane] = (asyncio.ensure_future(listen(pane, listening, events)), events)
            await listening

        async def listen(pane, listening, events):
            async with server.watch(pane) as stream:
                listening.set_result(None)
                async for event in stream:
                    events.append(event)

        async def close_one():
            pane = dice.choice(list(watched))
            tmux("kill-pane", "-t", pane)
            listens, events = watched.pop(pane)
            closing.append((pane, listens, events))

        async def move_one():
            pane = dice.choice(list(watched))
            home = f"=home{dice.randrange(4)}:"
            if tmux("display-message", "-p", "-t", pane, "#{window_panes}") == "1":
                tmux("move-window", "-d", "-s", pane, "-t", home)
            else:
                tmux("break-pane", "-d", "-s", pane, "-t", home)

        async def rename():
            name = f"home{dice.randrange(4)}"
            tmux("rename-window", "-t", f"={name}:", "renamed")
            tmux("resize-window", "-t", f"={name}:", "-x", str(dice.randrange(120, 240)), "-y", "200")

        closing = []
        for number in range(changes):
            few = len(watched) < 4
            await (open_one if few else dice.choice([open_one, close_one, move_one, rename]))()
            if number % 10 == 9:
                for pane, listens, events in closing:
                    await listens
                    assert isinstance(events[-1], PaneClosed), pane
                closing.clear()
                for pane, (_, events) in watched.items():
                    await wait_until_async(lambda pane=pane: is_held(private_tmux, pane))
                    tmux("send-keys", "-t", pane, str(number), "Enter")
                    await wait_until_async(
                        lambda events=events, word=f"heard {number}": any(
                            isinstance(event, Text) and event.text == word for event in events
                        )
                    )
                hub = tmux("list-clients", "-F", "#{session_id}")
                held = set(tmux("list-windows", "-t", f"{hub}:", "-F", "#{window_id}").split()[1:])
                needed = {tmux("display-message", "-p", "-t", pane, "#{window_id}") for pane in watched}
                assert held == needed
        for listens, _ in watched.values():
            listens.cancel()
        await asyncio.gather(*(listens for listens, _ in watched.values()), return_exceptions=True)
    assert tmux("list-clients") == ""


def is_held(tmux, pane):
    """Whether a client is attached to a session that holds the pane's window."""
    holders = tmux.run("list-panes", "-a", "-f", f"#{{==:#{{pane_id}},{pane}}}", "-F", "#{session_id}").split()
    return any(session in holders for session in tmux.run("list-clients", "-F", "#{session_id}").split())
