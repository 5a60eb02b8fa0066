"""A service that runs until it is killed: `service_process.py TMUX SOCKET FOLDER`; it says when it is open."""

import asyncio
import sys
from pathlib import Path

import streamrelay
from streamrelay.agents import parse_profile
from streamrelay.service.local import LocalService
from streamrelay.testing.agent import PROFILE


async def main(tmux: str, socket: str, folder: str) -> None:
    profiles = [parse_profile("sprite", PROFILE, source="sprite.toml")]
    async with (
        streamrelay.connect(tmux=tmux, socket_path=socket, profiles=profiles) as server,
        LocalService(server, folder=Path(folder)) as service,
    ):
        print("open", flush=True)
        await service.broken


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
