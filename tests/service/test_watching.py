"""A pane that a person has watched is heard whatever runs there, for as long as it is there."""

import pytest

from streamrelay.events import LinkClosed, Text
from streamrelay.service.api import SendMessage
from streamrelay.service.local import LocalService
from streamrelay.testing.waiting import wait_until_async
from tests.service.conftest import PATIENCE, Stage, journaled

COUNTING = "python3 -c 'import time; [(print(7 * n, flush=True), time.sleep(0.3)) for n in range(5)]'"


async def until_said(service: LocalService, *lines: str) -> list[str]:
    said: list[str] = []

    async def heard() -> bool:
        said[:] = [event.text for event in await journaled(service, Text)]
        return set(lines) <= set(said)

    await wait_until_async(heard, PATIENCE, f"{lines} to be heard")
    return said


@pytest.mark.parametrize("reopened", [False, True])
async def test_a_shell_is_heard_with_what_runs_there_and_after_it(stage: Stage, *, reopened: bool) -> None:
    shell = stage.tmux.new_session("shell", ["env", "PS1=$ ", "sh", "-i"])
    stage.panes["shell"] = shell
    async with stage.service() as service:
        await service.watch(shell, True)
        stage.types("shell", COUNTING)
        await until_said(service, "0", "7")
        if not reopened:
            assert (await until_said(service, "28")).count("7") == 1
    async with stage.service() as service:
        said = await until_said(service, *map(str, range(0, 35, 7)))
        assert all(said.count(str(number)) == 1 for number in range(0, 35, 7))
        await wait_until_async(lambda: programs(stage)[shell] == heard_as(service, shell) == "sh", PATIENCE)
        await service.send_message(SendMessage(to=shell, text="echo $((6 * 7))", allow_shell=True))
        await until_said(service, "42")
        assert service._core.machine.settings.watched == {shell}
        stage.tmux.run("kill-pane", "-t", shell)
        await wait_until_async(lambda: not service._core.machine.settings.watched, PATIENCE)


async def test_a_session_is_followed_while_somebody_looks_at_its_live_text(stage: Stage) -> None:
    shell = stage.panes["shell"] = stage.tmux.new_session("shell", ["cat"])
    async with stage.service() as service:
        await service.watch(shell, True)
        pipeline = service._core.server.pipeline(shell)
        assert not pipeline.is_followed
        looking = await service.live(shell)
        assert await anext(looking) == []
        assert pipeline.is_followed
        await looking.aclose()
        assert not pipeline.is_followed


async def test_a_link_ends_with_its_program_though_its_pane_is_watched(stage: Stage) -> None:
    ann = stage.panes["Ann"] = stage.tmux.new_session("Ann", ["sh", "-i"])
    stage.start("Bob")
    async with stage.service() as service:
        stage.types("Ann", "cat")
        await wait_until_async(lambda: programs(stage)[ann] == "cat", PATIENCE)
        await service.watch(ann, True)
        await service.create_link(ann, "Bob")
        stage.tmux.run("send-keys", "-t", ann, "C-d")
        await wait_until_async(lambda: journaled(service, LinkClosed), PATIENCE)
        assert [event.reason for event in await journaled(service, LinkClosed)] == ["program_left"]
        await wait_until_async(lambda: heard_as(service, ann) == "sh", PATIENCE)
        assert service._core.machine.panes == {ann}


def programs(stage: Stage) -> dict[str, str]:
    lines = stage.tmux.run("list-panes", "-a", "-F", "#{pane_id} #{pane_current_command}").splitlines()
    return dict(line.split() for line in lines)


def heard_as(service: LocalService, pane: str) -> str:
    place = service._core.runner.participant(pane)
    assert place is not None
    return place.info.command
