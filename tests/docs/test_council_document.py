"""docs/council.md has every key of council.toml, every command of a session, and files that are correct."""

import re
from pathlib import Path

import msgspec
import pytest

from streamrelay.council.commands import WORDS
from streamrelay.council.config import CouncilConfig, parse_config
from streamrelay.council.members import Member

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
