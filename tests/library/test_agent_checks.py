"""What `streamrelay doctor` says of agents: asked of the programs and their processes, never assumed of a version."""

import socket
import stat
import sys
from pathlib import Path

import pytest

from streamrelay.agent_checks import check_installed_agents, check_running_agents
from streamrelay.agents import parse_profile, shipped_profiles
from streamrelay.testing.agent import read_got
from streamrelay.testing.tmux import PrivateTmux
from streamrelay.testing.waiting import wait_until_async

PROFILES = shipped_profiles()


def install(folder: Path, name: str, version: str, options: str = "") -> None:
    program = folder / name
    program.write_text(
        f'#!/bin/sh\n[ "$1" = --version ] && echo "{version}"\n[ "$1" = --help ] && printf "{options}"\n'
    )
    program.chmod(program.stat().st_mode | stat.S_IXUSR)


@pytest.mark.requirement("OPS-06", "DLV-10")
@pytest.mark.parametrize("has_port", [True, False])
async def test_each_installed_agent_is_named_with_its_version_and_its_lane(tmp_path: Path, has_port: bool) -> None:
    install(tmp_path, "claude", "2.1.197 (Claude Code)")
    install(tmp_path, "codex", "codex-cli 0.171.0", "Options:\\n      --remote <ADDR>\\n" if has_port else "")
    install(tmp_path, "opencode", "1.18.33", "Options:\\n      --port  port to listen on\\n" if has_port else "")
    check = await check_installed_agents(PROFILES, str(tmp_path), "auto")
    codex = "typed (this version has no option --remote)"
    ours = (
        "typed, or by its HTTP API if started with --port" if has_port else "typed (this version has no option --port)"
    )
    assert check.status == "ok"
    assert sorted(check.found.split("; ")) == [
        "claude 2.1.197: typed (a running session tells whether it has an inbox)",
        f"codex 0.171.0: {'typed, or by its app server if started with --remote' if has_port else codex}",
        f"opencode 1.18.33: {ours}",
    ]


@pytest.mark.requirement("OPS-06")
async def test_an_offered_lane_that_the_user_does_not_allow_is_said_to_be_unused(tmp_path: Path) -> None:
    install(tmp_path, "opencode", "1.18.33", "      --port  port to listen on\\n")
    said = (await check_installed_agents(PROFILES, str(tmp_path), "paste")).found
    assert said.endswith("; messages are typed, because delivery.lane is paste")
    assert (await check_installed_agents(PROFILES, str(tmp_path / "empty"), "auto")).found == "none is installed"


@pytest.mark.requirement("OPS-06")
async def test_a_program_that_prints_nothing_or_fails_has_no_version(tmp_path: Path) -> None:
    install(tmp_path, "claude", "")
    (tmp_path / "codex").write_text("no program")
    (tmp_path / "codex").chmod(0o700)
    said = (await check_installed_agents(PROFILES, str(tmp_path), "auto")).found
    assert sorted(said.split("; ")) == [
        "claude (prints no version): typed (a running session tells whether it has an inbox)",
        "codex (prints no version): typed (this version has no option --remote)",
    ]


@pytest.mark.requirement("OPS-06", "DLV-10")
@pytest.mark.skipif(sys.platform != "linux", reason="no /proc tells there on which port a program listens")
@pytest.mark.parametrize("serves", [True, False])
async def test_a_running_agent_is_asked_for_its_api(private_tmux: PrivateTmux, tmp_path: Path, serves: bool) -> None:
    words = [sys.executable, "-m", "streamrelay.testing.agent", "--log", str(tmp_path / "got")]
    pane = private_tmux.new_session("agent", [*words, *(["--api", "0"] if serves else [])])
    await wait_until_async(lambda: any(got.kind == "ready" for got in read_got(tmp_path / "got")), 30.0)
    pid = int(private_tmux.run("display-message", "-p", "-t", pane, "#{pane_pid}"))
    text = 'title = "S"\n[recognise]\ncommands = ["scripted"]\n[delivery]\nnative = "opencode"\n'
    profiles = [parse_profile("scripted", text, source="scripted.toml"), *PROFILES]
    said = (await check_running_agents(profiles, [(pane, pid, "scripted"), ("%7", 1, "claude"), ("%8", 1, "vi")])).found
    ours, other = said.split("; %7 ")
    assert other == "claude: typed (no record tells whether it has a session inbox)"
    if serves:
        assert ours.startswith(f"{pane} scripted: HTTP API 0.0.1 at http://127.0.0.1:")
    else:
        assert ours == f"{pane} scripted: it serves no API; start it with --port 0"
    assert (await check_running_agents(PROFILES, [("%8", 1, "vi")])).found == "no known agent is running"


@pytest.mark.requirement("OPS-06", "DLV-10")
@pytest.mark.skipif(sys.platform != "linux", reason="without /proc the folder of a program is unknown")
@pytest.mark.parametrize(
    ("record", "said"),
    [
        ('{"pid": PID, "version": "2.1.197", "peerProtocol": 1}', "2.1.197 has no session inbox"),
        (
            '{"pid": PID, "version": "2.1.332", "messagingSocketPath": "SOCKET"}',
            "2.1.332 has a session inbox, SOCKET, whose protocol is not documented",
        ),
        ('{"pid": PID, "version": "2.1.332", "messagingSocketPath": "/none"}', "2.1.332 has no session inbox"),
        (f'{{"pid": PID, "version": "2", "messagingSocketPath": "/{"n" * 5000}"}}', "2 has no session inbox"),
        ('{"pid": 1, "version": "2.1.332"}', "no record tells whether it has a session inbox"),
        ("not JSON", "no record tells whether it has a session inbox"),
    ],
)
async def test_a_running_claude_code_says_by_its_record_whether_it_has_an_inbox(
    private_tmux: PrivateTmux, tmp_path: Path, record: str, said: str
) -> None:
    (tmp_path / ".claude" / "sessions").mkdir(parents=True)
    pane = private_tmux.new_session("agent", ["env", f"HOME={tmp_path}", "sleep", "1000"])
    pid = int(private_tmux.run("display-message", "-p", "-t", pane, "#{pane_pid}"))
    name = Path(f"/proc/{pid}/comm")
    await wait_until_async(lambda: name.read_text() == "sleep\n", 30.0, "the program to have its home")
    with socket.socket(socket.AF_UNIX) as inbox:
        path = str(private_tmux.directory / "inbox")
        inbox.bind(path)
        written = record.replace("PID", str(pid)).replace("SOCKET", path)
        (tmp_path / ".claude" / "sessions" / f"{pid}.json").write_text(written)
        check = await check_running_agents(PROFILES, [(pane, pid, "claude")])
    assert check.found == f"{pane} claude: typed ({said.replace('SOCKET', path)})"
