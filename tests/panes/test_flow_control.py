"""Floods: nobody waits for them, memory stays bounded, and what was skipped is recovered or told."""

import asyncio
from itertools import pairwise

import pytest

from streamrelay.control import transport
from streamrelay.errors import CommandTimeout
from streamrelay.events import Gap, PaneOpened
from streamrelay.panes import hub
from streamrelay.testing.attached_terminal import onlooker
from streamrelay.testing.waiting import wait_until_async

PRINTER = (
    'stty -echo; while read first last; do seq -f "%08.0f and some more words to fill a row with" $first $last; done'
)


def numbers(said: list[str]) -> list[int]:
    return [int(line.split()[0]) for line in said]


async def falls_behind(server, tmux, pane: str, last: int) -> None:
    """Have a pane print while nobody reads, for longer than tmux waits."""
    loop = asyncio.get_running_loop()
    server._attachments._connection.client().pause_reading()
    tmux.run("send-keys", "-t", pane, f"1 {last}", "Enter")
    await wait_until_async(lambda: f"{last:08}" in tmux.run("capture-pane", "-p", "-t", pane), 20)
    enough = loop.time() + 1.2
    await wait_until_async(lambda: loop.time() > enough)
    tmux.run("send-keys", "-t", pane, f"{last + 1} {last + 1}", "Enter")
    await wait_until_async(lambda: f"{last + 1:08}" in tmux.run("capture-pane", "-p", "-t", pane))
    server._attachments._connection.client().resume_reading()


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """A hub whose panes tmux soon pauses: it holds little for a reader that does not read, and not for long."""
    monkeypatch.setattr(hub, "PAUSE_AFTER", 1)
    monkeypatch.setattr(transport, "_LARGE_PIPE", 1 << 12)


@pytest.mark.requirement("ENG-07b")
async def test_a_pane_that_tmux_paused_goes_on_without_a_line_lost_or_twice(private_tmux, server, heard, impatient):
    private_tmux.run("set-option", "-g", "history-limit", "20000")
    pane = private_tmux.new_session("work", ["sh", "-c", PRINTER])
    with onlooker(private_tmux, "work"):
        async with server.watch(pane) as stream:
            says = heard(stream)
            await says.until(lambda s: s.of(PaneOpened))
            await falls_behind(server, private_tmux, pane, 6000)
            private_tmux.run("send-keys", "-t", pane, "6002 6010", "Enter")
            await says.until(lambda s: s.said and s.said[-1].startswith("00006010"))
            assert numbers(says.said) == list(range(1, 6011))
            assert says.of(Gap) == []


@pytest.mark.requirement("ENG-07b")
async def test_a_flood_goes_on_though_an_answer_stood_behind_it(private_tmux, server, heard, impatient):
    """A tmux that drops what a pane printed forgets to write what followed it, until it has more to say."""
    loop = asyncio.get_running_loop()
    pane = private_tmux.new_session("work", ["sh", "-c", "stty -echo; read go; exec seq 100000000"])
    async with server.watch(pane) as stream:
        says = heard(stream)
        await says.until(lambda s: s.of(PaneOpened))
        private_tmux.run("send-keys", "-t", pane, "Enter")
        await says.until(lambda s: s.said)
        client = server._attachments._connection.client()
        for _ in range(2):
            client.pause_reading()
            client.request("display-message -p here", lambda _: None)
            until = loop.time() + 1.3
            await wait_until_async(lambda until=until: loop.time() > until)
            before = len(says.said)
            client.resume_reading()
            await says.until(lambda s, before=before: len(s.said) > before + 2_000)


@pytest.mark.requirement("ENG-07e")
async def test_what_history_no_longer_held_is_a_gap(private_tmux, server, heard, impatient):
    private_tmux.run("set-option", "-g", "history-limit", "500")
    pane = private_tmux.new_session("work", ["sh", "-c", PRINTER])
    with onlooker(private_tmux, "work"):
        async with server.watch(pane) as stream:
            says = heard(stream)
            await says.until(lambda s: s.of(PaneOpened))
            await falls_behind(server, private_tmux, pane, 6000)
            await says.until(lambda s: s.said and s.said[-1].startswith("00006001"))
            said = numbers(says.said)
            [gap] = says.of(Gap)
            assert gap.reason == "paused"
            [lost] = [number for number, after in pairwise(said) if after != number + 1]
            assert said == [*range(1, lost + 1), *range(6002 - (len(said) - lost), 6002)]
            assert len(said) - lost > 400, "what history held is said"
            counts = private_tmux.run("display-message", "-p", "-t", pane, "#{history_added}") != ""
            assert gap.lost_lines == (6001 - len(said) if counts else None)


@pytest.mark.requirement("ENG-07b")
async def test_rows_that_are_all_the_same_are_missed_by_their_number(private_tmux, server, heard, impatient):
    """Only a tmux that counts rows (3.8) can tell, once its history is full."""
    private_tmux.run("set-option", "-g", "history-limit", "2000")
    script = """
        stty -echo
        yes same | head -n 3000
        while read first last; do
            [ $first = $last ] || yes same | head -n 1500
            seq -f "%08.0f" $last $last
        done
    """
    pane = private_tmux.new_session("work", ["sh", "-c", script])
    await wait_until_async(lambda: private_tmux.run("capture-pane", "-p", "-t", pane).count("same") > 20)
    if not private_tmux.run("display-message", "-p", "-t", pane, "#{history_added}"):
        pytest.skip("this tmux counts no rows")
    with onlooker(private_tmux, "work"):
        async with server.watch(pane) as stream:
            says = heard(stream)
            await says.until(lambda s: s.of(PaneOpened))
            await falls_behind(server, private_tmux, pane, 1500)
            private_tmux.run("send-keys", "-t", pane, "1502 1502", "Enter")
            await says.until(lambda s: s.said and s.said[-1] == "00001502")
            assert says.of(Gap) == []
            assert says.said == ["same"] * 1500 + ["00001500", "00001501", "00001502"]


@pytest.mark.requirement("ENG-07a")
async def test_a_pane_is_asked_about_once_however_large_the_answer_is(private_tmux, server, heard):
    """What is asked pauses the pane too, which tmux 3.8 says like a pause of its own: 64 panes had no end of it."""
    pane = private_tmux.new_session("work", ["sh", "-c", PRINTER], columns=200, lines=100)
    private_tmux.run("send-keys", "-t", pane, "1 200", "Enter")
    await wait_until_async(lambda: "00000200" in private_tmux.run("capture-pane", "-p", "-t", pane))
    private_tmux.run("set-hook", "-g", "after-refresh-client", "set-option -gaF @asked '#{hook_flag_A} '")

    def asked():
        # The window that a hub has of its own is paused when it prints its words, however late that is.
        words = private_tmux.run("show-options", "-gv", "@asked").split()
        return [word.removeprefix(f"{pane}:") for word in words if word.startswith(f"{pane}:")]

    async with server.watch(pane) as stream:
        says = heard(stream)
        for number in (201, 202, 203):
            private_tmux.run("send-keys", "-t", pane, f"{number} {number}", "Enter")
            await says.until(lambda s, number=number: s.said and s.said[-1].startswith(f"{number:08}"))
        first = asked()
        client = private_tmux.run("list-clients", "-F", "#{client_name}")
        private_tmux.run("refresh-client", "-t", client, "-A", f"{pane}:pause")
        private_tmux.run("send-keys", "-t", pane, "204 204", "Enter")
        await says.until(lambda s: s.said[-1].startswith("00000204"))
        private_tmux.run("send-keys", "-t", pane, "205 205", "Enter")
        await says.until(lambda s: s.said[-1].startswith("00000205"))
        again = asked()
    assert numbers(says.said) == list(range(201, 206))
    assert first == ["pause", "continue"]
    assert again == [*first, "pause", *first], "one from here, and then the same"


@pytest.mark.requirement("ENG-07b")
async def test_two_questions_at_once_lose_nothing_between_them(private_tmux, server, heard):
    """Each of them skips what was queued for the pane; the answer to the first one leaves nothing missing."""
    private_tmux.run("set-option", "-g", "history-limit", "50000")
    pane = private_tmux.new_session("work", ["sh", "-c", PRINTER], columns=80, lines=24)
    async with server.watch(pane) as stream:
        says = heard(stream)
        await says.until(lambda s: s.of(PaneOpened))
        connection, pipeline = server._attachments._connection, server.pipeline(pane)
        last = 0
        for _ in range(6):
            private_tmux.run("send-keys", "-t", pane, f"{last + 1} {last + 2000}", "Enter")
            await says.until(lambda s, last=last: s.said and numbers(s.said)[-1] > last)
            pipeline.missed("paused")
            assert await asyncio.gather(*(connection.seed(pipeline) for _ in range(3))) == [True] * 3
            last += 2000
            await says.until(lambda s, last=last: numbers(s.said)[-1] == last)
    assert numbers(says.said) == list(range(1, last + 1))
    assert says.of(Gap) == []


@pytest.mark.requirement("ENG-07b")
async def test_a_question_that_could_not_be_asked_is_waited_for_by_nobody(
    private_tmux, server, heard, monkeypatch: pytest.MonkeyPatch
):
    pane = private_tmux.new_session("work", ["sh", "-c", PRINTER])
    connection = server._attachments._connection

    def refuses(*_: object) -> None:
        raise CommandTimeout("too many commands wait for an answer already")

    async with server.watch(pane) as stream:
        says = heard(stream)
        await says.until(lambda s: s.of(PaneOpened))
        pipeline = server.pipeline(pane)
        assert pipeline.paused()
        with monkeypatch.context() as patch, pytest.raises(CommandTimeout):
            patch.setattr(connection.client(), "request", refuses)
            await connection.seed(pipeline)
        assert pipeline.paused(), "a pause is still taken for one that its question ends"
        assert await connection.seed(pipeline)
        private_tmux.run("send-keys", "-t", pane, "1 3", "Enter")
        await says.until(lambda s: numbers(s.said) == [1, 2, 3])


@pytest.mark.requirement("ENG-07b")
async def test_a_paused_pane_goes_on_although_tmux_could_not_be_asked_at_first(
    private_tmux, server, heard, monkeypatch: pytest.MonkeyPatch
):
    pane = private_tmux.new_session("work", ["sh", "-c", PRINTER])
    connection = server._attachments._connection
    refused = 0

    def refuses(*_: object) -> None:
        nonlocal refused
        refused += 1
        raise CommandTimeout("too many commands wait for an answer already")

    async with server.watch(pane) as stream:
        says = heard(stream)
        await says.until(lambda s: s.of(PaneOpened))
        with monkeypatch.context() as patch:
            patch.setattr(connection.client(), "request", refuses)
            assert server.pipeline(pane).paused()
            connection.spawn(connection.seed_again(server.pipeline(pane)))
            while refused < 2:
                await asyncio.sleep(0.05)
        private_tmux.run("send-keys", "-t", pane, "1 3", "Enter")
        await says.until(lambda s: numbers(s.said) == [1, 2, 3])
