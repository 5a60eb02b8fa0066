"""Who calls: by the environment, by the ancestors, and nobody where neither says so."""

import asyncio
import json
import os
import subprocess
import sys

import pytest

from streamrelay.mcp.callers import ancestors, own_pane, pane_of, session_in

PANES = {100: "%1", 200: "%2"}


@pytest.mark.parametrize(
    ("environment", "parents", "pane"),
    [
        ({"TMUX": "/run/tmux/a,5,0", "TMUX_PANE": "%2"}, [7, 100, 1], "%2"),
        ({"TMUX": "/run/tmux/other,5,0", "TMUX_PANE": "%2"}, [7, 1], ""),
        ({"TMUX": "/run/tmux/other,5,0", "TMUX_PANE": "%2"}, [7, 100, 1], "%1"),
        ({"TMUX": "/run/tmux/a,5,0", "TMUX_PANE": "%9"}, [7, 1], ""),
        ({"TMUX": "/run/tmux/a,5,0", "TMUX_PANE": "%9"}, [7, 200, 100], "%2"),
        ({"TMUX_PANE": "%2"}, [], "%2"),
        ({"TMUX": "", "TMUX_PANE": "; kill-server"}, [], ""),
        ({}, [8, 200], "%2"),
        ({}, [], ""),
    ],
)
def test_the_variable_says_it_and_else_the_nearest_ancestor(environment, parents, pane):
    assert pane_of(environment, "/run/tmux/a", PANES, parents) == pane


def test_ancestors_begin_with_the_parent():
    assert ancestors(os.getpid())[0] == os.getppid()
    assert ancestors(2**22 + 1) == [0]


@pytest.mark.requirement("OPS-04c")
async def test_a_process_finds_the_pane_it_runs_in(private_tmux, tmp_path, service):
    """Twice: with tmux's variables, and without any, as agents start their servers."""
    program = (
        "import asyncio, sys; from streamrelay.mcp.callers import own_pane; from pathlib import Path\n"
        f"Path(sys.argv[1]).write_text(asyncio.run(own_pane({private_tmux.socket_path!r})))"
    )
    shell = '"$1" -c "$2" "$3/with"; env -i PATH="$PATH" "$1" -c "$2" "$3/without"; exec cat'
    private_tmux.new_session("other", ["cat"])
    words = ["sh", "-c", shell, "sh", sys.executable, program, str(tmp_path)]
    pane = private_tmux.new_session("agent", words)
    found = [tmp_path / "with", tmp_path / "without"]
    async with asyncio.timeout(20):
        while not all(path.exists() and path.read_text() for path in found):
            await asyncio.sleep(0.02)
    assert [path.read_text() for path in found] == [pane, pane]
    assert await own_pane(private_tmux.socket_path) == "", "the tests themselves run in none of them"


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="no /proc")
def test_what_an_agent_keeps_from_its_servers_is_found_with_its_parents(tmp_path):
    program = "import json; from streamrelay.mcp.callers import kept_from_us; print(json.dumps(kept_from_us()))"
    shell = 'HOME=/h XDG_STATE_HOME=/b env -i XDG_STATE_HOME=/c SECRET=x sh -c \'env -i "$@"; exit 0\' sh "$@"; exit 0'
    variables = {"TMUX": "/t,1,0", "TMUX_PANE": "%7", "XDG_STATE_HOME": "/a", "XDG_RUNTIME_DIR": "/r=1", "SECRET": "y"}
    words = ["sh", "-c", shell, "sh", "XDG_RUNTIME_DIR=/own", sys.executable, "-c", program]
    done = subprocess.run(words, env={**variables, "PATH": os.environ["PATH"]}, capture_output=True, check=True)
    found = json.loads(done.stdout)
    assert found.pop("XDG_CONFIG_HOME", None) in {None, os.environ.get("XDG_CONFIG_HOME")}
    assert {name: found[name] for name in ("TMUX", "TMUX_PANE", "XDG_STATE_HOME")} == {
        "TMUX": "/t,1,0", "TMUX_PANE": "%7", "XDG_STATE_HOME": "/c",
    }  # fmt: skip
    assert not {"XDG_RUNTIME_DIR", "SECRET", "HOME"} & found.keys()


async def test_no_server_is_no_pane(tmp_path, service):
    assert await own_pane(str(tmp_path / "none")) == ""
    assert await session_in(service, "") == ""
    assert await session_in(service, "%1") == "s-ann"
