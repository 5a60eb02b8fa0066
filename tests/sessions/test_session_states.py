"""One vocabulary of session states: what the type, the documents, the help, the MCP tool and the page call them."""

import re
from pathlib import Path
from typing import get_args

from streamrelay_cli.ls import ls

from streamrelay.mcp.descriptions import LIST_SESSIONS
from streamrelay.sessions.model import STATES, SessionState
from streamrelay.web import site

ROOT = Path(__file__).parents[2]


def test_each_state_has_a_meaning() -> None:
    assert tuple(STATES) == get_args(SessionState)


def test_the_document_lists_the_states_with_their_meanings() -> None:
    section = (ROOT / "docs" / "agents.md").read_text().partition("**States.**")[2].partition("\n\nAs a library")[0]
    assert dict(re.findall(r"^\| `(\w+)` \| (.+) \|$", section, re.MULTILINE)) == STATES


def test_help_and_tool_name_every_state() -> None:
    words = set(re.findall(r"\w+", ls.__doc__ or ""))
    assert set(STATES) <= words
    assert set(STATES) <= set(re.findall(r"\w+", LIST_SESSIONS))


def test_the_page_shows_the_same_words() -> None:
    script = (Path(site.__file__).parent / "page" / "session.js").read_text()
    table = re.search(r"^export const STATES = \{(.+)\};$", script, re.MULTILINE)
    assert table is not None
    assert dict(re.findall(r'(\w+): "([^"]+)"', table[1])) == {state: state.replace("_", " ") for state in STATES}
