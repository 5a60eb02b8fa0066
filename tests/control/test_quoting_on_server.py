"""What `quote` writes is what tmux reads: on a real server, over both transports."""

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from streamrelay.control import ControlClient, Tmux, TransportName, command_line
from streamrelay.testing.tmux import PrivateTmux
from streamrelay.testing.waiting import wait_until_async

if TYPE_CHECKING:
    from tests.control.conftest import Connect

HOSTILE = [
    b"\n", b"a\nkill-server\n", b"\r", b"\x1b[200~x\x1b[201~", b";", b" ; kill-server", b"\\", b"\\\\;", b"#{pane_id}",
    b"#(touch x)", b"$HOME", b"${HOME}", b"~", b"~root", b"'", b'"', b'"; kill-server ; "', b"-t", b"--", b"-", b" ",
    b"\t", b"#comment", b"{ x }", b"}", b"%if 1", b"%1", b"%%", b"\\$", b"A=b", b"\x7f\x80\xff", "中文字".encode(),
    "😀 é ✓".encode(), b"\\033\\n\\u0041", bytes(range(1, 256)), b"x" * 20_000, bytes(range(1, 256)) * 1_000,
]  # fmt: skip
TEXTS = st.binary(min_size=1, max_size=60).filter(lambda text: b"\0" not in text)


async def round_trip(client: ControlClient, text: bytes, path: Path) -> bytes:
    line = command_line(["set-buffer", "-b", "b", "--", text], ["save-buffer", "-b", "b", str(path)])
    await client.command(line)
    return path.read_bytes()


@pytest.mark.requirement("ENG-04a")
@pytest.mark.over_ssh
async def test_hostile_texts_come_back(private_tmux: PrivateTmux, connect: "Connect", tmp_path: Path) -> None:
    private_tmux.new_session("main", ["sleep", "1000"])
    async with connect() as client:
        for text in HOSTILE:
            same = await round_trip(client, text, tmp_path / "saved") == text
            assert same, text[:100]
        await wait_until_async(lambda: client.outstanding == 0)


@pytest.mark.parametrize("transport", ["pipes", "cc"])
def test_any_text_comes_back(private_tmux: PrivateTmux, tmux: Tmux, transport: TransportName, tmp_path: Path) -> None:
    private_tmux.new_session("main", ["sleep", "1000"])
    with asyncio.Runner() as runner:
        client = ControlClient(tmux, "$0", lambda events, read_at: None, transport=transport)

        @settings(max_examples=150, deadline=None)
        @example(b"~root")
        @given(TEXTS)
        def check(text: bytes) -> None:
            assert runner.run(round_trip(client, text, tmp_path / "saved")) == text

        runner.run(client.open())
        try:
            check()
        finally:
            runner.run(client.aclose())
