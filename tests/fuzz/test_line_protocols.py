"""Mutated JSON-RPC on the standard input of real servers: each goes on answering, and prints nothing else."""

import random
import subprocess

import pytest

from tests.fuzz.line_protocols import fuzz_server
from tests.mcp.staging import Household
from tests.sampling import examples


@pytest.mark.parametrize("protocol", ["mcp", "acp"])
@pytest.mark.timeout(300)
def test_a_client_that_writes_anything_is_answered_at_the_end(household: Household, protocol: str) -> None:
    pane = household.start("Ann")
    words = [*household.command[:3], protocol, *household.command[4:], *([pane] if protocol == "acp" else [])]
    errors = household.folder / "errors"
    with (
        errors.open("wb") as written,
        subprocess.Popen(
            words, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=written, env=household.environment("")
        ) as server,
    ):
        try:
            assert fuzz_server(server, protocol, examples(40), random.Random(5)) > 1000
        finally:
            server.kill()
    assert "Traceback" not in errors.read_text(), errors.read_text()
