"""Two machines as people have them: a daemon each, set up by a file, and the commands they type."""

import contextlib
from collections.abc import Iterator
from pathlib import Path

import msgspec
import pytest

from streamrelay.testing.redis import PrivateRedis
from streamrelay.testing.tmux import PrivateTmux
from streamrelay.testing.waiting import wait_until
from tests.federation.homes import Home
from tests.service.conftest import PATIENCE


@pytest.fixture
def homes(private_redis: PrivateRedis, private_tmux: PrivateTmux, tmp_path: Path) -> Iterator[tuple[Home, Home]]:
    with PrivateTmux() as other_tmux, contextlib.ExitStack() as stack:
        made = []
        for node, peer, tmux in (("alpha", "beta", private_tmux), ("beta", "alpha", other_tmux)):
            (tmp_path / node[0]).mkdir()
            home = Home(node, (peer,), tmux, tmp_path / node[0], private_redis.url)
            made.append(home)
            tmux.new_session("keeper", ["sleep", "1000"])
            home.begin()
            stack.callback(home.types_command, "daemon", "stop")
        yield made[0], made[1]


@pytest.mark.requirement("LNK-07", "NET-02a")
def test_two_daemons_link_a_session_of_each(homes: tuple[Home, Home]) -> None:
    alpha, beta = homes
    alpha.start("Ann"), beta.start("Bob")
    for home in homes:
        wait_until(lambda home=home: not home.problems(), PATIENCE, "the other one to be there")
    made = msgspec.json.decode(alpha.types_command("link", "Ann", "Bob@beta", "--budget", "4", "--json"))
    assert made["link"]
    beta.types_command("send", "Bob", "begin")
    wait_until(lambda: len(alpha.heard("Ann")) >= 3 and len(beta.heard("Bob")) >= 4, PATIENCE, "the budget to be spent")
    assert alpha.heard("Ann")[:2] == ["[From Bob@beta] answer 1", "[From Bob@beta] answer 2"]
    assert beta.heard("Bob")[:3] == ["begin", "[From Ann@alpha] answer 1", "[From Ann@alpha] answer 2"]
    alpha.types_command("send", "Bob@beta", "good morning")
    wait_until(lambda: "good morning" in beta.heard("Bob"), PATIENCE, "it to be delivered")
    beta.types_command("stop", made["link"])
    for home in homes:
        wait_until(
            lambda home=home: msgspec.json.decode(home.types_command("status", "--json"))["links"] == 0, PATIENCE
        )
