"""What a service finds when it comes back: panes that closed meanwhile, another program, another tmux server."""

import asyncio
import os
import signal
from contextlib import AsyncExitStack
from pathlib import Path

import pytest

from streamrelay.errors import ServerLost, StorageError, UsageError
from streamrelay.events import LinkClosed, PaneClosed, Receipt, RelayClosed, RelayDelivered, Text
from streamrelay.history.journal import Journal
from streamrelay.service.api import CreateRelay, RelayParticipant, SendMessage
from streamrelay.service.call import declared_calls
from streamrelay.service.local import LocalService
from streamrelay.testing.agent import read_got
from streamrelay.testing.waiting import wait_until, wait_until_async
from tests.service.conftest import PATIENCE, Stage, journaled


async def test_what_was_decided_and_who_was_watched_come_back(stage: Stage):
    ann = stage.start("Ann")
    stage.start("Bob")
    async with stage.service() as service:
        await service.watch("Ann", True)
        link = await service.create_link("Ann", "Bob")
        await service.pause(True, of=link.link_id)
        await service.mute("Bob", True)
        with pytest.raises(UsageError):
            async with LocalService(service._core.server, folder=stage.folder / "state"):
                pass
    async with stage.service() as service:
        (again,) = await service.links()
        assert (again.link_id, again.relay.state.paused) == (link.link_id, True)
        assert again.relay.state.muted == [stage.panes["Bob"]]
        stage.types("Ann", "speak")
        await wait_until_async(lambda: service._core.machine.found(link.link_id).relay.state.held, PATIENCE)
        assert "answer 1" in [event.text for event in await service.read_since(0, ann) if isinstance(event, Text)]
        await service.pause(False)
        await stage.until_heard("Bob", "[From Ann] answer 1")


@pytest.mark.parametrize("key", ["out/1", "place/%0", "link/L1", "settings"])
async def test_what_cannot_be_read_of_it_is_said_and_left_as_it_is(stage: Stage, key: str):
    ann = stage.start("Ann")
    async with stage.service() as service:
        await service.watch("Ann", True)
        before = await service._core.journal.kept()
        await service._core.journal.append([], keep={key: b'{"message": '})
    with pytest.raises(StorageError, match=r"this version cannot restore its state from .*journal\.db"):
        async with stage.service():
            pass
    async with Journal(stage.folder / "state" / "journal.db") as journal:
        assert await journal.kept() == before | {key: b'{"message": '}
        assert f"place/{ann}" in before
        await journal.append([], keep={key: before.get(key)})
    async with stage.service() as service:
        assert ann in service._core.machine.panes


def before_attaching(stage: Stage, folder: Path, command: str) -> None:
    """Let tmux run a command of the shell before it attaches a control client."""
    wrapper = folder / "tmux"
    wrapper.write_text(f'#!/bin/sh\nfor word; do [ "$word" = -C ] && {command}; done\nexec {stage.tmux.binary} "$@"\n')
    wrapper.chmod(0o700)
    stage.tmux.binary = str(wrapper)


@pytest.mark.parametrize("early", [False, True])
async def test_entering_waits_for_the_panes_unless_it_is_early(stage: Stage, tmp_path: Path, early: bool):
    stage.start("Ann")
    stage.start("Bob")
    async with stage.service() as service:
        link = await service.create_link("Ann", "Bob")
    go = tmp_path / "go"
    before_attaching(stage, tmp_path, f"while [ ! -e {go} ]; do sleep 0.05; done")
    entered = AsyncExitStack()
    entering = asyncio.ensure_future(entered.enter_async_context(stage.service(early=early)))
    if early:
        service = await entering
        assert (await service.status()).restoring == 2
        assert [again.link_id for again in await service.links()] == [link.link_id]
        waiting = asyncio.ensure_future(service.mute("Ann", True))
    else:
        waiting = entering
    # A call that does not wait takes some milliseconds.
    assert not (await asyncio.wait([waiting], timeout=0.5))[0]
    go.touch()
    service = await entering
    async with entered:
        await waiting
        assert (await service.status()).restoring == 0
        assert {service._core.runner.participant(pane) is not None for pane in stage.panes.values()} == {True}


def test_no_call_that_changes_anything_is_answered_early():
    early = {name: declared.route.method for name, declared in declared_calls().items() if declared.route.early}
    assert set(early.values()) == {"GET"}
    assert not {"dialogs", "gathering"} & set(early), "they ask panes and other machines"


@pytest.mark.requirement("DLV-07a")
async def test_a_tmux_that_refuses_clients_for_a_while_ends_no_conversation(stage: Stage, tmp_path: Path):
    stage.start("Ann")
    stage.start("Bob")
    async with stage.service() as service:
        link = await service.create_link("Ann", "Bob")
    real = stage.tmux.binary
    before_attaching(stage, tmp_path, '{ echo "lost server" >&2; exit 1; }')
    with pytest.raises(ServerLost):
        async with stage.service():
            pytest.fail("it has started")
    stage.tmux.binary = real
    async with stage.service() as service:
        assert [again.link_id for again in await service.links()] == [link.link_id]
        await service.send_message(SendMessage(to="Bob", text="hello", caller="Ann"))
        await stage.until_heard("Ann", "[From Bob] answer 1")


@pytest.mark.requirement("DLV-07a")
async def test_a_command_that_tmux_refuses_once_ends_no_conversation(stage: Stage, tmp_path: Path):
    stage.start("Ann")
    stage.start("Bob")
    async with stage.service() as service:
        link = await service.create_link("Ann", "Bob")
    refused = tmp_path / "refused"
    refuse = f'{{ touch {refused}; echo "create session failed" >&2; exit 1; }}'
    before_attaching(stage, tmp_path, f"[ ! -e {refused} ] && {refuse}")
    async with stage.service() as service:
        assert refused.exists()
        (again,) = await service.links()
        assert (again.link_id, again.state) == (link.link_id, "open")
        await service.send_message(SendMessage(to="Bob", text="begin", caller=stage.panes["Ann"]))
        await stage.until_heard("Ann", "[From Bob] answer 1")


async def test_who_closed_meanwhile_is_taken_leave_of(stage: Stage):
    ann = stage.start("Ann")
    stage.start("Bob")
    async with stage.service() as service:
        link = await service.create_link("Ann", "Bob")
    stage.tmux.run("kill-pane", "-t", ann)
    async with stage.service() as service:
        await wait_until_async(lambda: journaled(service, LinkClosed), PATIENCE)
        assert await service.links() == []
        (closed,) = await journaled(service, LinkClosed)
        assert (closed.link, closed.reason, closed.by) == (link.link_id, "pane_gone", ann)
        (pane,) = await journaled(service, PaneClosed)
        assert (pane.pane, pane.tail_certain) == (ann, False)
        await stage.until_heard("Bob", "[streamrelay] Ann has ended, and the link with it. No answer is needed.")


async def test_lines_that_were_printed_meanwhile_are_heard(stage: Stage):
    script = "stty -echo; read a; printf 'line 1\\nline 2\\n'; read b; printf 'line 3\\nline 4\\n'; read c"
    speaker = stage.tmux.new_session("Ann", ["sh", "-c", script])
    stage.start("Bob")
    async with stage.service() as service:
        members = [RelayParticipant(session="Ann"), RelayParticipant(session="Bob")]
        await service.create_relay(CreateRelay(participants=members, allow_shell=True))
        stage.tmux.run("send-keys", "-t", speaker, "go", "Enter")
        await stage.until_heard("Bob", "Ann (1):\n\nline 1\nline 2")
    stage.tmux.run("send-keys", "-t", speaker, "more", "Enter")
    wait_until(lambda: "line 4" in stage.tmux.run("capture-pane", "-p", "-t", speaker), PATIENCE)
    async with stage.service() as service:
        await stage.until_heard("Bob", "Ann (1):\n\nline 3\nline 4")
        assert [event.speaker for event in await journaled(service, RelayDelivered)].count("Ann (1)") == 2


@pytest.mark.requirement("DLV-04")
async def test_what_was_not_to_wait_for_a_person_does_not_do_so_afterwards(stage: Stage):
    """What a message is to be delivered under is kept with it."""
    ann, bob = stage.start("Ann", "--draft", "a person's"), stage.start("Bob", "--draft", "a person's")
    async with stage.service() as service:
        fails = SendMessage(to=ann, text="not now", message_id="m1", needs_human="fail")
        sent = [
            await service.send_message(fails),
            await service.send_message(SendMessage(to=bob, text="not now", message_id="m2", patience=2.0)),
            await service.send_message(SendMessage(to=bob, text="one day", message_id="m3")),
        ]
        assert [one.delivery.state for one in sent] == ["queued"] * 3
    # It clears its draft, and asks.
    pid = int(stage.tmux.run("display-message", "-p", "-t", ann, "#{pane_pid}"))
    os.kill(pid, signal.SIGUSR1)
    wait_until(lambda: "a person's" not in stage.tmux.run("capture-pane", "-p", "-t", ann), PATIENCE)
    os.kill(pid, signal.SIGUSR1)
    wait_until(lambda: any(got.kind == "dialog" for got in read_got(stage.folder / "Ann")), PATIENCE)
    async with stage.service() as service:
        for message_id, reason in {"m1": "needs_human", "m2": "draft"}.items():
            await until_failed(service, message_id, reason)
        (waiting,) = await service.get_delivery("m3")
        assert (waiting.state, waiting.reason) == ("queued", "draft")
    assert stage.heard("Ann") == stage.heard("Bob") == []


async def until_failed(service: LocalService, message_id: str, reason: str) -> None:
    async def failed() -> bool:
        return [(one.state, one.reason) for one in await service.get_delivery(message_id)] == [("failed", reason)]

    await wait_until_async(failed, PATIENCE, f"{message_id} to fail: {reason}")


@pytest.mark.requirement("DLV-07b")
async def test_another_tmux_server_has_nothing_of_it_and_nothing_is_sent_again(stage: Stage):
    stage.start("Ann")
    stage.start("Bob", "--dialog")
    stage.start("Cy")
    async with stage.service() as service:
        await service.create_link("Ann", "Bob")
        members = [RelayParticipant(session="Ann"), RelayParticipant(session="Cy")]
        await service.create_relay(CreateRelay(participants=members))
        sent = await service.send_message(SendMessage(to="Bob", text="never", message_id="m1"))
        assert sent.delivery.state == "queued"
        assert (await service.status()).deliveries == {"queued": 1}
        await service.mute("Cy", True)
    stage.tmux.kill()
    for name in ("keeper", "Bob"):
        stage.tmux.new_session(name, ["cat"])
    async with stage.service() as service:
        await wait_until_async(lambda: journaled(service, RelayClosed), PATIENCE)
        assert await service.links() == []
        assert await service.relays() == []
        assert [event.reason for event in await journaled(service, LinkClosed)] == ["server_lost"]
        (delivery,) = await service.get_delivery("m1")
        assert (delivery.state, delivery.reason) == ("unconfirmed", "server_lost")
        assert (await service.status()).deliveries == {}
        assert [event.state for event in await journaled(service, Receipt)][-1] == "unconfirmed"
        assert "never" not in stage.tmux.run("capture-pane", "-p", "-t", "Bob")
        assert service._core.machine.settings.muted == set()
