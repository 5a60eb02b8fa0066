"""A node that runs until it is killed: `node_process.py TMUX SOCKET FOLDER TABLE`."""

import asyncio
import sys
from pathlib import Path

import msgspec

import streamrelay
from streamrelay.agents import parse_profile
from streamrelay.config.settings import FederationTable
from streamrelay.service.local import LocalService
from streamrelay.testing.agent import PROFILE


async def main(tmux: str, socket: str, folder: str, table: str) -> None:
    profiles = [parse_profile("sprite", PROFILE, source="sprite.toml")]
    federation = msgspec.json.decode(table, type=FederationTable)
    async with (
        streamrelay.connect(tmux=tmux, socket_path=socket, profiles=profiles) as server,
        LocalService(server, folder=Path(folder), federation=federation) as service,
    ):
        await service.broken


if __name__ == "__main__":
    asyncio.run(main(*sys.argv[1:]))
