"""`streamrelay web`: the address of the page, which is served from then on."""

import json
import subprocess
import sys

import httpx
import pytest

from tests.service.conftest import PATIENCE
from tests.web.conftest import Household


def cli(house: Household, *words: str) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "streamrelay_cli", *words, "-S", house.tmux.socket_path]
    return subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)


@pytest.mark.spread
@pytest.mark.requirement("OPS-05c")
async def test_a_page_is_served_when_it_is_asked_for_and_to_whoever_has_its_address(house: Household) -> None:
    refused = cli(house, "web")
    assert (refused.returncode, refused.stdout) == (40, "")
    assert "hint: start it: streamrelay daemon start" in refused.stderr

    assert cli(house, "daemon", "start", "-q").returncode == 0
    wrong = cli(house, "web", "--listen", "nowhere")
    assert wrong.returncode == 2
    assert "does not end in a port" in wrong.stderr
    printed = cli(house, "web")
    assert printed.returncode == 0, printed.stderr
    told = json.loads(cli(house, "web", "--json").stdout)
    assert printed.stdout == f"{told['address']}#token={told['token']}\n"
    with httpx.Client(base_url=told["address"], trust_env=False) as client:
        assert "<title>streamrelay</title>" in client.get("/").text
        assert client.get("/v1/sessions").status_code == 401
        own = {"authorization": f"Bearer {told['token']}"}
        assert [one["title"] for one in client.get("/v1/sessions", headers=own).json()] == ["keeper"]
        # It has the page's calls and no more.
        assert client.get("/metrics", headers=own).status_code == 404
    assert told["token"] not in house.address.log.read_text()
