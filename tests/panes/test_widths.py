"""Widths that were measured are kept, and taken by the next connection to the same tmux on the same machine."""

from pathlib import Path
from typing import Any

import pytest

import streamrelay
from streamrelay.control import Tmux
from streamrelay.doctor import examine
from streamrelay.panes.widths import WidthCache
from streamrelay.testing.tmux import PrivateTmux
from streamrelay.vt.widths import Manners, unicode14


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, private_tmux: PrivateTmux) -> WidthCache:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return WidthCache(Tmux(private_tmux.binary), private_tmux.run("-V").removeprefix("tmux "))


@pytest.mark.requirement("VT-05")
async def test_a_connection_takes_what_was_measured(cache: WidthCache, private_tmux: PrivateTmux) -> None:
    pane = private_tmux.new_session("work", ["cat"])
    cache.keep({"\u00e9": 2}, Manners(widens=True))
    async with (
        streamrelay.connect(tmux=private_tmux.binary, socket_path=str(private_tmux.socket_path)) as server,
        server.watch(pane),
    ):
        screen: Any = server.pipeline(pane)._screen
        assert screen.widths.width("\u00e9") == 2
        assert screen.widths.manners == Manners(widens=True)


@pytest.mark.requirement("VT-05")
async def test_the_doctor_measures_and_keeps(cache: WidthCache, private_tmux: PrivateTmux) -> None:
    assert cache.table() is unicode14()
    checks = [check async for check in examine(Tmux(private_tmux.binary, socket_path=str(private_tmux.socket_path)))]
    (widths,) = [check for check in checks if check.name == "widths"]
    assert widths.status == "ok"
    assert cache.path.exists()
    if "another width" in widths.found:
        assert cache.table() is not unicode14()


@pytest.mark.parametrize(
    "content",
    ["", "no JSON", "{}", '{"about": "another tmux", "widths": {"x": 2}}', '{"about": "ABOUT", "widths": {"xy": 2}}',
     '{"about": "ABOUT", "widths": {"x": 3}}', '{"about": "ABOUT", "widths": {}}'],
)  # fmt: skip
def test_what_makes_no_sense_is_not_taken(cache: WidthCache, content: str) -> None:
    cache.keep({"x": 2}, Manners())
    assert cache.table().width("x") == 2
    about = cache.path.read_text(encoding="utf-8").split('"')[3]
    cache.path.write_text(content.replace("ABOUT", about), encoding="utf-8")
    assert cache.table() is unicode14()


def test_another_tmux_or_version_has_a_table_of_its_own(cache: WidthCache, tmp_path: Path) -> None:
    other = tmp_path / "tmux"
    other.write_text("#!/bin/sh\n")
    paths = {cache.path, WidthCache(Tmux(str(other)), "3.3a").path, WidthCache(Tmux(str(other)), "3.4").path}
    assert len(paths) == 3
