"""`streamrelay council` killed at any moment: the session resumes with every message that was shown, none twice."""

import json
import os
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from streamrelay.council.clients.scripted import ScriptedClient
from streamrelay.council.session import CouncilSession
from streamrelay.council.store import CouncilStore

COMMAND = Path(sys.executable).with_name("streamrelay")
WORDS = " ".join(f"word{number}" for number in range(80))
COUNCIL = "".join(
    f'[[member]]\nname = "{name}"\nvendor = "scripted"\nscript = ["{WORDS}"]\n' for name in ("Ada", "Bob")
)


def shown_until_killed(folder: Path, happenings: int) -> list[dict[str, Any]]:
    """Run a council, type three messages, kill it behind that many happenings, and return what it showed."""
    (folder / "c.toml").write_text(COUNCIL)
    environment = os.environ | {"XDG_STATE_HOME": str(folder), "XDG_CONFIG_HOME": str(folder)}
    with subprocess.Popen(
        [COMMAND, "council", "--config", folder / "c.toml", "--json", "-q"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=environment,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(b"one\ntwo\nthree\n")
        process.stdin.flush()
        shown = [process.stdout.readline() for _ in range(happenings)]
        process.kill()
        shown += process.stdout.readlines()
    return [json.loads(line) for line in shown if line.endswith(b"\n")]


@pytest.mark.requirement("COU-11")
@pytest.mark.sampled(3)
@pytest.mark.parametrize("moment", range(1, 51))
async def test_a_killed_council_resumes_with_all_that_was_shown(tmp_path: Path, moment: int) -> None:
    shown = shown_until_killed(tmp_path, moment)
    said: dict[str, str] = {}
    for each in shown:
        if each["happening"] == "messageshown":
            said[each["entry"]["id"]] = each["entry"]["text"]
        elif each["happening"] == "answergrew":
            said[each["id"]] = said.get(each["id"], "") + each["piece"]
    async with CouncilStore(tmp_path / "streamrelay" / "council.db") as store:
        (info,) = await store.sessions()
        kept = {entry.id: entry.text for entry, _ in await store.entries(info.id)}
        assert {message: text.strip() for message, text in said.items()}.items() <= {
            message: kept[message][: len(text)].strip() for message, text in said.items()
        }.items()
        session = await CouncilSession.resume(
            store, info.id, lambda member, _: ScriptedClient(member.script, pause=0.0)
        )
        async with session:
            await session.until_rest()
            session.say("Go on")
            await session.until_rest()
        entries = [entry for entry, _ in await store.entries(info.id)]
    assert set(said) <= {entry.id for entry in entries}
    assert max(Counter(entry.id for entry in entries).values()) == 1
    typed = [entry.text for entry in entries if entry.kind == "person"]
    assert typed == [text for text in ("one", "two", "three") if text in typed] + ["Go on"]
    assert [entry.author for entry in entries][-2:] == ["Ada", "Bob"]
