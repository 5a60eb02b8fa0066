"""Watching panes of a live server: what is seen, what is followed, and what is left behind."""

import asyncio

import pytest

import streamrelay
from streamrelay.agents import parse_profile
from streamrelay.errors import PaneGone, TargetNotFound, UsageError
from streamrelay.events import Gap, PaneClosed, PaneOpened, PaneResized, ProgramChanged, Text, TurnEnded
from streamrelay.panes.connection import PaneConnection
from streamrelay.panes.hub import Hub
from streamrelay.testing.waiting import wait_until_async

pytestmark = pytest.mark.smoke

COUNTER = ["sh", "-c", "stty -echo; while read n; do seq 1 $n; done"]


def send(tmux, pane, text):
    tmux.run("send-keys", "-t", pane, text, "Enter")


def is_heard(tmux, pane):
    """Whether a client is attached to a session that holds the pane's window."""
    holders = tmux.run("list-panes", "-a", "-f", f"#{{==:#{{pane_id}},{pane}}}", "-F", "#{session_id}").split()
    return any(session in holders for session in tmux.run("list-clients", "-F", "#{session_id}").split())


@pytest.mark.requirement("ENG-07a")
@pytest.mark.over_ssh
async def test_the_screen_is_seeded_and_what_stood_there_is_not_said_again(private_tmux, server, heard):
    pane = private_tmux.new_session(
        "work", ["sh", "-c", "stty -echo; seq 1 100; printf half; read x; echo ' done'; echo all; cat"]
    )
    await wait_until_async(lambda: "half" in private_tmux.run("capture-pane", "-p", "-t", pane))
    async with server.watch(pane) as stream:
        says = heard(stream)
        send(private_tmux, pane, "")
        await says.until(lambda s: s.said)
        opened = says.of(PaneOpened)[0]
        assert (opened.columns, opened.lines, opened.session) == (80, 24, "work")
        assert says.said == ["all"]
        assert ("half done", "unknown") in [(text.text, text.origin) for text in says.of(Text)]


@pytest.mark.requirement("ENG-06b")
async def test_a_session_as_target_pins_the_pane_that_was_active(private_tmux, server, heard):
    first = private_tmux.new_session("work", COUNTER)
    async with server.watch("work") as stream:
        assert stream.panes == (first,)
        says = heard(stream)
        second = private_tmux.run("split-window", "-P", "-F", "#{pane_id}", "-t", "work", *COUNTER).strip()
        private_tmux.run("new-window", "-t", "work", "cat")
        await says.until(lambda s: s.of(PaneResized))
        send(private_tmux, second, "7")
        send(private_tmux, first, "5")
        await says.until(lambda s: "5" in s.said)
        assert says.said == ["1", "2", "3", "4", "5"]


@pytest.mark.requirement("ENG-06b")
async def test_a_pane_id_is_exact_wherever_the_pane_goes(private_tmux, server, heard):
    pane = private_tmux.new_session("work", COUNTER)
    private_tmux.run("split-window", "-d", "-t", "work", "cat")
    async with server.watch(pane) as stream:
        says = heard(stream)
        await says.until(lambda s: s.of(PaneOpened))
        private_tmux.run("break-pane", "-d", "-s", pane, "-n", "broken")
        await says.until(lambda s: s.of(PaneResized))
        send(private_tmux, pane, "3")
        await says.until(lambda s: s.said[-1:] == ["3"])
        private_tmux.run("rename-session", "-t", "work", "renamed")
        private_tmux.run("rename-window", "-t", pane, "other")
        send(private_tmux, pane, "4")
        await says.until(lambda s: s.said[-1:] == ["4"])
        assert says.said == ["1", "2", "3", "1", "2", "3", "4"]


@pytest.mark.requirement("ENG-06a", "ENG-07d")
async def test_a_pane_that_moves_to_another_session_is_followed(private_tmux, server, heard):
    pane = private_tmux.new_session("work", COUNTER)
    private_tmux.run("split-window", "-d", "-t", "work", "cat")
    async with server.watch(pane) as stream:
        says = heard(stream)
        await says.until(lambda s: s.of(PaneOpened))
        private_tmux.run("join-pane", "-d", "-s", pane, "-t", "keeper")
        await says.until(lambda s: s.of(PaneResized))
        send(private_tmux, pane, "3")
        await says.until(lambda s: s.said[-1:] == ["3"])
        assert says.said == ["1", "2", "3"]
        assert says.of(Gap) == []
        assert len(private_tmux.run("list-clients").splitlines()) == 1


@pytest.mark.requirement("ENG-07c", "DEL-08")
async def test_resizes_say_nothing_twice_and_lose_nothing(private_tmux, server, heard):
    pane = private_tmux.new_session("work", COUNTER)
    async with server.watch(pane) as stream:
        says = heard(stream)
        expected = []
        for number, (columns, lines) in enumerate([(60, 20), (132, 50), (80, 24), (41, 10)], 5):
            send(private_tmux, pane, str(number))
            expected += [str(n) for n in range(1, number + 1)]
            private_tmux.run("resize-window", "-t", "work", "-x", str(columns), "-y", str(lines))
            await says.until(
                lambda s, size=(columns, lines): (
                    s.of(PaneResized) and (s.of(PaneResized)[-1].columns, s.of(PaneResized)[-1].lines) == size
                )
            )
        await says.until(lambda s: len(s.said) >= len(expected))
        assert says.said == expected
        assert says.of(Gap) == []


@pytest.mark.requirement("ENG-07c")
@pytest.mark.parametrize("border", ["off", "top"])
async def test_output_behind_a_resize_is_read_in_the_new_size(private_tmux, server, heard, monkeypatch, border):
    """The window is listed late here, as on a busy machine; a pane with a border has its size from there alone."""
    private_tmux.run("set-option", "-gw", "pane-border-status", border)
    pane = private_tmux.new_session("work", COUNTER)
    may_list = asyncio.Event()
    list_panes = PaneConnection.list_panes

    async def list_late(self, target):
        await may_list.wait()
        return await list_panes(self, target)

    async with server.watch(pane) as stream:
        says = heard(stream)
        await says.until(lambda s: s.of(PaneOpened))
        monkeypatch.setattr(PaneConnection, "list_panes", list_late)
        private_tmux.run("resize-window", "-t", "work", "-x", "100", "-y", "30")
        send(private_tmux, pane, "3")
        await says.until(lambda s: s.said == ["1", "2", "3"])
        assert [(event.columns, event.lines) for event in says.of(PaneResized)] == [(100, 30)] * (border == "off")
        may_list.set()
        await says.until(lambda s: s.of(PaneResized))
        send(private_tmux, pane, "2")
        await says.until(lambda s: s.said == ["1", "2", "3", "1", "2"])
        size = tuple(map(int, private_tmux.run("display", "-p", "-t", pane, "#{pane_width} #{pane_height}").split()))
        assert [(event.columns, event.lines) for event in says.of(PaneResized)] == [size]
        assert says.of(Gap) == []


@pytest.mark.requirement("ENG-07c")
async def test_a_border_that_comes_after_the_attach_leaves_the_true_size(private_tmux, server, heard):
    """With a border the pane is a row lower; when its window is a row higher it has the size that it had."""
    pane = private_tmux.new_session("work", COUNTER)
    async with server.watch(pane) as stream:
        says = heard(stream)
        await says.until(lambda s: s.of(PaneOpened))
        before = says.of(PaneOpened)[0]
        private_tmux.run("set-option", "-w", "-t", "work", "pane-border-status", "top")
        private_tmux.run("resize-window", "-t", "work", "-y", str(before.lines + 1))
        size = private_tmux.run("display", "-p", "-t", pane, "#{pane_width} #{pane_height}").split()
        assert size == [str(before.columns), str(before.lines)]
        send(private_tmux, pane, "2")
        await says.until(lambda s: s.said == ["1", "2"])
        await says.until(lambda s: not s.of(PaneResized) or s.of(PaneResized)[-1].lines == before.lines)


async def test_a_person_who_detaches_everybody_does_not_end_the_stream(private_tmux, server, heard):
    pane = private_tmux.new_session("work", COUNTER)
    async with server.watch(pane) as stream:
        says = heard(stream)
        await says.until(lambda s: s.of(PaneOpened))
        private_tmux.run("detach-client", "-s", private_tmux.run("list-clients", "-F", "#{session_id}"))
        await says.until(lambda s: s.of(Gap))
        await wait_until_async(lambda: is_heard(private_tmux, pane))
        send(private_tmux, pane, "3")
        await says.until(lambda s: s.said[-1:] == ["3"])
        assert [gap.reason for gap in says.of(Gap)] == ["detached"]


@pytest.mark.requirement("ENG-06a")
@pytest.mark.parametrize(
    ("command", "reason"), [(("kill-pane", "-t"), "pane_gone"), (("kill-session", "-t"), "session_gone")]
)
async def test_the_end_of_a_pane_is_an_event_with_a_reason(private_tmux, server, heard, command, reason):
    pane = private_tmux.new_session("work", ["sh", "-c", "stty -echo; read x; printf 'last words'; cat"])
    private_tmux.run("split-window", "-d", "-t", "work", "cat")
    async with server.watch(pane) as stream:
        says = heard(stream)
        send(private_tmux, pane, "")
        await says.until(lambda s: any(getattr(e, "text", "") == "last words" for e in s.events))
        private_tmux.run(*command, pane if reason == "pane_gone" else "work")
        await says.until_end()
    closed = says.of(PaneClosed)[0]
    assert (closed.reason, closed.tail_certain) == (reason, False)
    assert says.said[-1] == "last words"


async def test_another_program_in_the_foreground_is_an_event(private_tmux, server, heard):
    pane = private_tmux.new_session("work", ["bash", "--noprofile", "--norc", "-i"])
    await wait_until_async(lambda: private_tmux.run("capture-pane", "-p", "-t", pane).strip())
    async with server.watch(pane) as stream:
        says = heard(stream)
        await says.until(lambda s: s.of(PaneOpened))
        send(private_tmux, pane, "cat")
        await says.until(lambda s: s.of(ProgramChanged))
        assert says.of(ProgramChanged)[0].command == "cat"


@pytest.fixture
def before_linked(private_tmux, monkeypatch):
    """Have something happen between the listing of a pane and the linking of its window."""

    def arrange(happens):
        hold = Hub.hold

        async def hold_late(hub, window):
            await happens()
            await hold(hub, window)

        monkeypatch.setattr(Hub, "hold", hold_late)

    return arrange


async def start_ready(private_tmux, then):
    """Start a program that has said its last word before it goes on with `then`."""
    pane = private_tmux.new_session("work", ["sh", "-c", f"stty -echo; echo ready; {then}"])
    await wait_until_async(lambda: "ready" in private_tmux.run("capture-pane", "-p", "-t", pane))
    return pane


async def until_is(private_tmux, pane, condition):
    await wait_until_async(lambda: private_tmux.run("display-message", "-p", "-t", pane, condition).strip() == "1")


async def test_a_program_that_comes_before_the_window_is_linked_is_known(private_tmux, server, heard, before_linked):
    pane = await start_ready(private_tmux, "read go; exec sleep 1000")

    async def comes():
        send(private_tmux, pane, "")
        await until_is(private_tmux, pane, "#{==:#{pane_current_command},sleep}")

    before_linked(comes)
    async with server.watch(pane) as stream:
        says = heard(stream)
        await says.until(lambda s: s.of(PaneOpened))
        assert says.of(PaneOpened)[0].command == "sleep"


async def test_a_program_that_ends_before_the_window_is_linked_is_no_other(private_tmux, server, heard, before_linked):
    pane = await start_ready(private_tmux, "exec cat")
    await until_is(private_tmux, pane, "#{==:#{pane_current_command},cat}")
    private_tmux.run("set-option", "-w", "-t", pane, "remain-on-exit", "on")

    async def ends():
        private_tmux.run("send-keys", "-t", pane, "C-d")
        await until_is(private_tmux, pane, "#{pane_dead}")

    before_linked(ends)
    async with server.watch(pane) as stream:
        says = heard(stream)
        await says.until_end()
        assert says.of(PaneOpened)[0].command == "cat"
        assert [closed.reason for closed in says.of(PaneClosed)] == ["pane_gone"]


async def test_two_subscribers_hear_the_same_and_share_one_client(private_tmux, server, heard):
    pane = private_tmux.new_session("work", COUNTER)
    async with server.watch(pane) as one:
        send(private_tmux, pane, "3")
        early = heard(one)
        await early.until(lambda s: s.said[-1:] == ["3"])
        async with server.watch("work") as two:
            late = heard(two)
            send(private_tmux, pane, "4")
            await late.until(lambda s: s.said[-1:] == ["4"])
            await early.until(lambda s: s.said[-1:] == ["4"])
            assert late.of(PaneOpened)
            assert late.said == ["1", "2", "3", "4"]
            assert early.said == ["1", "2", "3", *late.said]
            assert len(private_tmux.run("list-clients").splitlines()) == 1


@pytest.mark.requirement("ENG-11b")
async def test_a_subscription_that_is_cancelled_leaves_nothing_behind(private_tmux, server):
    pane = private_tmux.new_session("work", COUNTER)
    tasks_before = len(asyncio.all_tasks())

    async def listen():
        async with server.watch(pane) as stream:
            async for _ in stream:
                pass

    listening = asyncio.create_task(listen())
    await wait_until_async(lambda: private_tmux.run("list-clients").strip())
    listening.cancel()
    with pytest.raises(asyncio.CancelledError):
        await listening
    assert private_tmux.run("list-clients") == ""
    await wait_until_async(lambda: len(asyncio.all_tasks()) == tasks_before)


@pytest.mark.requirement("ENG-11a")
async def test_a_slow_subscriber_is_told_how_many_events_it_lost(private_tmux, server, heard):
    pane = private_tmux.new_session("work", COUNTER)
    async with server.watch(pane) as quick, server.watch(pane, queue=100) as slow:
        says = heard(quick)
        send(private_tmux, pane, "5000")
        await says.until(lambda s: s.said[-1:] == ["5000"])
        assert len(says.said) == 5000
        late = heard(slow)
        send(private_tmux, pane, "2")
        await says.until(lambda s: s.said[-1:] == ["2"])
        await late.until(lambda s: s.of(Gap))
        lost = sum(gap.lost_events for gap in late.of(Gap))
        assert lost + len(late.events) - len(late.of(Gap)) >= 5000
        assert lost > 4000


@pytest.mark.requirement("ENG-09b")
async def test_a_pane_whose_pipeline_fails_ends_alone(private_tmux, server, heard, monkeypatch, caplog):
    bad, good = private_tmux.new_session("bad", COUNTER), private_tmux.new_session("good", COUNTER)
    private_tmux.run("join-pane", "-d", "-s", bad, "-t", good)
    async with server.watch(bad) as broken, server.watch(good) as whole:
        monkeypatch.setattr(server.pipeline(bad), "_stream", None)
        send(private_tmux, bad, "3")
        says = heard(broken)
        await says.until_end()
        assert says.of(PaneClosed)[0].reason == "failed"
        send(private_tmux, good, "3")
        await (says := heard(whole)).until(lambda s: s.said[-1:] == ["3"])
    assert "failed" in caplog.text


@pytest.mark.parametrize("target", ["nobody", "%999", "work:7", "=wor"])
async def test_a_target_that_is_not_there(private_tmux, server, target):
    private_tmux.new_session("work", ["cat"])
    with pytest.raises(TargetNotFound, match=target):
        async with server.watch(target):
            pass
    assert private_tmux.run("list-clients") == ""


async def test_the_client_of_a_pane_that_closed_by_itself_is_left_too(private_tmux, server, heard):
    first = private_tmux.new_session("work", ["cat"])
    second = private_tmux.run("split-window", "-P", "-F", "#{pane_id}", "-t", first, "cat").strip()
    async with server.watch(second) as stream:
        private_tmux.run("kill-pane", "-t", second)
        await heard(stream).until_end()
    assert private_tmux.run("list-clients") == ""


async def test_a_session_of_exactly_that_name_comes_before_a_window_that_begins_so(private_tmux, server):
    work = private_tmux.new_session("work", ["cat"])
    other = private_tmux.new_session("other", ["cat"])
    private_tmux.run("rename-window", "-t", other, "workshop")
    assert (await server.find("work")).pane == work
    assert (await server.find("works")).pane == other


async def test_an_empty_target_names_nothing(server):
    with pytest.raises(UsageError):
        await server.find("")


async def test_a_program_that_ends_in_a_pane_that_remains_ends_its_stream(private_tmux, server, heard):
    pane = private_tmux.new_session("work", COUNTER)
    private_tmux.run("set-option", "-g", "remain-on-exit", "on")
    async with server.watch(pane) as stream:
        says = heard(stream)
        await says.until(lambda s: s.of(PaneOpened))
        private_tmux.run("send-keys", "-t", pane, "C-c")
        await says.until_end()
        assert says.of(PaneClosed)[0].reason == "pane_gone"
    with pytest.raises(PaneGone):
        async with server.watch(pane):
            pass


@pytest.mark.requirement("DEL-01", "DEL-06")
async def test_a_program_started_in_place_of_one_that_paints_is_heard_from_its_first_line(private_tmux, server, heard):
    """tmux resets screen and modes then, and prints no byte of it."""
    paints = r"printf '\033[?1049h\033[?25l\033[?2004hpainted'; exec sleep 1000"
    pane = private_tmux.new_session("work", ["sh", "-c", paints])
    async with server.watch(pane) as stream:
        says = heard(stream)
        await says.until(lambda s: s.of(PaneOpened))
        shows = ("display-message", "-p", "-t", pane, "#{alternate_on}")
        await wait_until_async(lambda: private_tmux.run(*shows).strip() == "1")
        private_tmux.run("respawn-pane", "-k", "-t", pane, "echo one; echo two; sleep 1000")
        await says.until(lambda s: len(s.said) >= 2)
        assert says.said == ["one", "two"]
        assert says.of(Gap) == []


SPRITE = parse_profile(
    "sprite",
    """
title = "Sprite"
[recognise]
commands = ["sprite"]
[state]
busy_titles = ['^at work$']
idle_titles = ['^at rest$']
""",
    source="sprite.toml",
)
WORKING = "stty -echo; read x; printf '\\033]0;at work\\007word\\n'; read x; printf 'last\\n\\033]0;at rest\\007'; cat"


@pytest.mark.requirement("AGT-02a", "AGT-02b")
@pytest.mark.parametrize("profiles", [(SPRITE,), ()], ids=["known", "unknown"])
async def test_the_program_that_comes_to_the_foreground_is_heard_by_its_profile(private_tmux, heard, profiles):
    """It is started from a shell: only tmux says that it is there."""
    pane = private_tmux.new_session("work", ["bash", "--noprofile", "--norc", "-i"])
    async with (
        streamrelay.connect(
            tmux=private_tmux.binary, socket_path=str(private_tmux.socket_path), profiles=profiles
        ) as server,
        server.watch(pane) as stream,
    ):
        says = heard(stream)
        send(private_tmux, pane, f'(exec -a sprite bash -c "{WORKING}")')
        await says.until(lambda s: "sprite" in [event.command for event in s.of(ProgramChanged)])
        send(private_tmux, pane, "")
        await says.until(lambda s: "word" in s.said)
        send(private_tmux, pane, "")
        await says.until(lambda s: "last" in s.said)
        await says.until(lambda s: s.events[-1:] and isinstance(s.events[-1], TurnEnded))
        votes = {vote.by for vote in says.of(TurnEnded)[-1].votes}
    assert ("title" in votes) == bool(profiles)
