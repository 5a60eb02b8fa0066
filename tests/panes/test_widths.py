"""Widths that were measured are kept, and taken by the next connection to the same tmux on the same machine."""

from pathlib import Path
from typing import Any

import pytest

import streamrelay
from streamrelay.control import Tmux, Version
from streamrelay.doctor import examine
from streamrelay.panes.calibration import find_differing_widths, measure_quirks
from streamrelay.panes.widths import WidthCache, expected
from streamrelay.testing.tmux import PrivateTmux
from streamrelay.testing.waiting import wait_until_async
from streamrelay.vt.widths import Quirks, unicode14

pytestmark = pytest.mark.smoke


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, private_tmux: PrivateTmux) -> WidthCache:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return WidthCache(Tmux(private_tmux.binary), Version.parse(private_tmux.run("-V")))


@pytest.mark.requirement("VT-05")
async def test_a_connection_takes_what_was_measured(cache: WidthCache, private_tmux: PrivateTmux) -> None:
    pane = private_tmux.new_session("work", ["cat"])
    cache.keep({"\u00e9": 2}, Quirks(widens=True))
    async with (
        streamrelay.connect(tmux=private_tmux.binary, socket_path=str(private_tmux.socket_path)) as server,
        server.watch(pane),
    ):
        screen: Any = server.pipeline(pane)._screen
        assert screen.widths.width("\u00e9") == 2
        assert screen.widths.quirks == Quirks(widens=True)


@pytest.mark.requirement("VT-05")
async def test_the_doctor_measures_and_keeps(cache: WidthCache, private_tmux: PrivateTmux) -> None:
    assert not cache.path.exists()
    checks = [check async for check in examine(Tmux(private_tmux.binary, socket_path=str(private_tmux.socket_path)))]
    (widths,) = [check for check in checks if check.name == "widths"]
    assert widths.status == "ok"
    assert cache.path.exists()
    measured = find_differing_widths(private_tmux, unicode14())
    assert {one: max(cache.table().width(one), 0) for one in measured} == measured
    assert cache.table().quirks == measure_quirks(private_tmux)


@pytest.mark.requirement("VT-05")
async def test_without_a_measurement_the_version_says_what_is_to_be_expected(
    cache: WidthCache, private_tmux: PrivateTmux
) -> None:
    """What the C library decides is another matter: a newer one knows more characters."""
    pane = private_tmux.new_session("work", ["cat"])
    async with (
        streamrelay.connect(tmux=private_tmux.binary, socket_path=str(private_tmux.socket_path)) as server,
        server.watch(pane),
    ):
        screen: Any = server.pipeline(pane)._screen
        assert screen.widths.quirks == measure_quirks(private_tmux)
        private_tmux.run("send-keys", "-t", pane, "-l", "❤\ufe0f✌x\u3164y🇩🇪z")
        private_tmux.run("send-keys", "-t", pane, "Enter")
        await wait_until_async(lambda: private_tmux.run("capture-pane", "-p", "-t", pane).count("z") == 2)
        verdict = await server.check(pane)
        assert verdict is not None
        assert verdict.divergences == ()
    decided_by_tmux = "☝⛹✌✍🏋🏌🕴🕵🖐🇩\u3164"
    measured = find_differing_widths(private_tmux, unicode14())
    wanted = {one: measured.get(one, unicode14().width(one)) for one in decided_by_tmux}
    assert {one: max(screen.widths.width(one), 0) for one in decided_by_tmux} == wanted


@pytest.mark.parametrize(
    ("older", "newer"), [("3.2", "3.3a"), ("3.8", "3.9"), ("3.8", "next-4.0"), ("3.8", "master"), ("3.5", "3.5a")]
)
def test_a_version_nobody_measured_is_taken_for_its_neighbour(older: str, newer: str) -> None:
    one, other = expected(Version.parse(older)), expected(Version.parse(newer))
    assert (one.differing, one.quirks) == (other.differing, other.quirks)


@pytest.mark.parametrize(
    "content",
    ["", "no JSON", "{}", '{"about": "another tmux", "widths": {"x": 2}}', '{"about": "ABOUT", "widths": {"xy": 2}}',
     '{"about": "ABOUT", "widths": {"x": 3}}', '{"about": "ABOUT", "widths": {}}'],
)  # fmt: skip
def test_what_makes_no_sense_is_not_taken(cache: WidthCache, private_tmux: PrivateTmux, content: str) -> None:
    cache.keep({"x": 2}, Quirks())
    assert cache.table().width("x") == 2
    about = cache.path.read_text(encoding="utf-8").split('"')[3]
    cache.path.write_text(content.replace("ABOUT", about), encoding="utf-8")
    as_if_unmeasured = unicode14() if content.endswith("{}}") else expected(Version.parse(private_tmux.run("-V")))
    assert cache.table().differing == as_if_unmeasured.differing
    assert cache.table().quirks == as_if_unmeasured.quirks


def test_another_tmux_or_version_has_a_table_of_its_own(cache: WidthCache, tmp_path: Path) -> None:
    other = tmp_path / "tmux"
    other.write_text("#!/bin/sh\n")
    versions = Version.parse("3.3a"), Version.parse("3.4")
    assert len({cache.path, *(WidthCache(Tmux(str(other)), version).path for version in versions)}) == 3
