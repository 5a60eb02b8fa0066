"""The procedures come with the package, are short, and say what they have to; docs/links.md covers the protocol."""

import re
from pathlib import Path
from typing import get_args

import pytest

from streamrelay.links.link import BUDGET, CHECKPOINTS, LinkPolicy, NoticeTexts
from streamrelay.procedures import Procedure, procedure
from streamrelay.relay.rules import ACKNOWLEDGEMENTS, CHECKPOINT_CHARACTERS, HOPS

DOCUMENT = (Path(__file__).parents[2] / "docs" / "links.md").read_text()
LONGEST = 3_000


@pytest.mark.requirement("REL-08")
@pytest.mark.parametrize("name", get_args(Procedure))
def test_a_procedure_is_short_enough_to_be_read(name: Procedure) -> None:
    text = procedure(name)
    assert text.startswith("# ")
    assert len(text) <= LONGEST


@pytest.mark.requirement("REL-08", "LNK-08")
@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("direct-conversation", ["The link is the handshake", "you just speak", "Every word", "Don't call"]),
        ("gathering", ["**Sense.**", "**Attune.**", "**Choose.**", "I pass."]),
        ("harvesting", ["todos", "document edits", "memory entries", "vision seeds", "trail"]),
        ("heartbeat", ["`anchor`", "`check`", "`wait`", "Always have an anchor", "echo", "sleep", "without answering"]),
    ],
)  # fmt: skip
def test_a_procedure_says_what_it_is_for(name: Procedure, words: list[str]) -> None:
    text = procedure(name)
    assert [word for word in words if word not in text] == []


@pytest.mark.requirement("LNK-08")
def test_the_document_has_every_part_of_the_protocol_and_the_figures_of_the_code() -> None:
    for part in ("registry", "What happens when", "checkpoint contract", "Budget", "Forwarding", "Heartbeat policy"):
        assert re.search(rf"^## .*{part}", DOCUMENT, flags=re.MULTILINE)
    for figure in (
        f"The default is {BUDGET}", f"first {CHECKPOINT_CHARACTERS} characters", f"`{CHECKPOINTS[0]}`",
        f"(`--acknowledgements`, {ACKNOWLEDGEMENTS})", f"(`--hops`, {HOPS})",
    ):  # fmt: skip
        assert figure in DOCUMENT
    for field in (*LinkPolicy.__struct_fields__, *NoticeTexts.__struct_fields__):
        assert f"`{field}`" in DOCUMENT
