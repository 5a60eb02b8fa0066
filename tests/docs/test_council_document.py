"""docs/council.md has every key of council.toml, every command of a session, and files that are correct."""

import re
from pathlib import Path

import msgspec
import pytest

from streamrelay.council import coordinator
from streamrelay.council.commands import WORDS
from streamrelay.council.config import CouncilConfig, parse_config
from streamrelay.council.demo import DEMO, DemoClient
from streamrelay.council.members import Member
from streamrelay.council.session import CouncilSession
from streamrelay.council.store import CouncilStore

DOCUMENT = (Path(__file__).resolve().parents[2] / "docs" / "council.md").read_text(encoding="utf-8")


@pytest.mark.parametrize("table", [CouncilConfig, Member])
def test_every_key_is_listed_with_its_default(table: type[msgspec.Struct]) -> None:
    rows = dict(re.findall(r"^\| `(\w+)` \|([^|]*)\|", DOCUMENT, re.MULTILINE))
    for field in msgspec.structs.fields(table):
        assert field.encode_name in rows, field.encode_name
        shown = rows[field.encode_name].strip().strip("`")
        if shown:
            assert msgspec.toml.decode(f"x = {shown}".encode())["x"] in (field.default, [])


def test_every_command_of_a_session_is_listed() -> None:
    assert not [word for word in WORDS if f"`{word}" not in DOCUMENT and word != "/help"]


@pytest.mark.parametrize("block", re.findall(r"^```toml\n(.*?)^```", DOCUMENT, re.MULTILINE | re.DOTALL))
def test_each_file_of_the_document_is_correct(block: str) -> None:
    assert parse_config(block, "council.toml").members


@pytest.mark.parametrize("anchor", ["When a member fails", "council.toml"])
def test_the_sections_that_errors_link_exist(anchor: str) -> None:
    assert f"\n## {anchor}\n" in DOCUMENT


async def test_the_session_of_the_document_is_what_the_demo_says(tmp_path: Path) -> None:
    (shown,) = re.findall(r"^```text\n\$ printf [^\n]*\n(.*?)^```", DOCUMENT, re.MULTILINE | re.DOTALL)
    async with (
        CouncilStore(tmp_path / "council.db") as store,
        await CouncilSession.begin(store, DEMO, lambda member, _: DemoClient(member, pause=0.0)) as session,
    ):
        session.say("Which database do we take?")
        session.submit(coordinator.StartRound("dissent"))
        session.submit(coordinator.StartRound("chair", "Ada"))
        await session.wait_until_idle()
        said = [f"{entry.author} │ {line}".rstrip() for entry in session.entries for line in entry.text.split("\n")]
    assert said[-13:] == shown.splitlines()
