"""`streamrelay mcp` as agents start it: the official client, real processes, a real tmux, the daemon behind it."""

import asyncio
import json
import signal
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path

import pytest

from streamrelay.daemon.instance import only_daemon, running_pid
from streamrelay.testing.waiting import wait_until_async
from tests.mcp.staging import TOOLS, call, connected
from tests.service.conftest import PATIENCE

CALLER = Path(__file__).with_name("calling_agent.py")
HELLO = (
    b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},'
    b'"clientInfo":{"name":"test","version":"1"}}}\n'
)


@pytest.mark.requirement("OPS-02b", "OPS-04a", "REL-06a", "LNK-05b")
async def test_an_agents_first_call_starts_the_daemon_and_a_conversation(household):
    ann, _ = household.start("Ann"), household.start("Bob")
    async with household.client(ann) as client:
        assert {tool.name for tool in (await client.list_tools()).tools} == TOOLS
        assert running_pid(household.address) is None, "looking at the tools needs no daemon"
        sent = await call(client, "send_message", to="Bob", text="Shall we?", direct=True)
        assert "just speak" in sent["next"]
        await household.until_told("Ann", "[From Bob] answer 1")
        await household.until_told("Bob", "[From Ann] answer 1")

        closed = await call(client, "close_link", last_words="Goodbye.")
        assert closed["peer"] == "Bob"
        await household.until_told("Bob", "[From Ann] Goodbye.")
        await household.until_told("Bob", "Ann has closed the link")

        household.kill_daemon()
        again = await call(client, "get_delivery", message_id=sent["message_id"])
        assert [one["state"] for one in again["deliveries"]] == ["answered"]
    assert running_pid(household.address), "it stays when the agent is gone"
    assert household.heard("Bob")[0] == "[From Ann] Shall we?"


@pytest.mark.requirement("OPS-04a")
async def test_a_call_that_finds_a_daemon_at_its_end_waits_and_starts_the_next(household):
    ann = household.start("Ann")
    with ExitStack() as ending:
        # So it is for a moment when one was killed: nobody listens any more, and the lock is not free yet.
        ending.enter_context(only_daemon(household.address))
        async with household.client(ann) as client:
            asking = asyncio.ensure_future(call(client, "list_sessions"))
            done, _ = await asyncio.wait([asking], timeout=0.5)
            assert not done, asking.result()
            ending.close()
            assert "Ann" in {one["title"] for one in (await asking)["sessions"]}


@pytest.mark.requirement("OPS-04c")
async def test_the_caller_is_found_by_its_ancestors_where_nothing_else_says_it(household):
    file = household.folder / "results"
    calls = [["list_sessions", {}]]
    words = [sys.executable, str(CALLER), str(file), json.dumps(household.command), json.dumps(calls)]
    pane = household.tmux.new_session("agent", words, environment=household.variables)
    await wait_until_async(file.exists, PATIENCE, "the agent to have made its calls")
    (listed,) = json.loads(file.read_text())
    assert listed["you"] == pane
    (found,) = [one for one in listed["sessions"] if one.get("you")]
    assert found["title"] == "agent"


@pytest.mark.sampled(1)
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_ends_it_while_it_waits_for_its_agent(household, number):
    with subprocess.Popen(
        household.command,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=household.environment(""),
        # Under nohup the tests ignore a hangup, and what they start would.
        preexec_fn=lambda: signal.signal(number, signal.SIG_DFL),  # noqa: PLW1509  # nothing else runs here
    ) as process:
        process.stdin.write(HELLO)
        process.stdin.flush()
        assert b"streamrelay" in process.stdout.readline()
        process.send_signal(number)
        assert process.wait(PATIENCE) == -number


def test_the_end_of_its_input_ends_it(household):
    done = subprocess.run(
        household.command, input=HELLO, capture_output=True, timeout=PATIENCE, env=household.environment(""), check=True
    )
    (line,) = done.stdout.splitlines()
    answer = json.loads(line)["result"]
    assert answer["serverInfo"]["name"] == "streamrelay"
    assert "handshake" in answer["instructions"]
    assert done.stderr == b""


def test_an_answer_that_cannot_be_written_is_one_error(household):
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            household.command, input=HELLO, stdout=full, stderr=subprocess.PIPE, timeout=PATIENCE,
            env=household.environment(""), check=False,
        )  # fmt: skip
    assert done.returncode == 1
    assert done.stderr.decode().splitlines() == [
        "error: cannot write to standard output: No space left on device",
        "hint: check the disk or the program that it is redirected to",
    ]


async def test_without_a_tmux_server_a_call_says_what_to_do(household):
    household.tmux.kill()
    async with household.client("%1") as client:
        result = await client.call_tool("list_sessions", {})
    assert result.is_error
    error = result.structured_content["error"]
    assert "no tmux server runs at" in error["message"]
    assert "start tmux first" in error["hint"]


@pytest.mark.requirement("OPS-04a", "OPS-04c")
async def test_the_daemon_serves_the_tools_on_a_port_for_who_has_a_token(household, unused_tcp_port):
    ann = household.start("Ann")
    cli = household.command[:-3]

    async def run(*words: str, pane: str = "") -> str:
        process = await asyncio.create_subprocess_exec(
            *cli, *words, env=household.environment(pane), stdout=subprocess.PIPE
        )
        out, _ = await process.communicate()
        assert process.returncode == 0
        return out.decode().strip()

    await run("daemon", "start", "-q", "-S", household.tmux.socket_path, "--mcp-port", str(unused_tcp_port))
    address = f"http://127.0.0.1:{unused_tcp_port}/mcp"
    own, named = await run("mcp", "token", pane=ann), await run("mcp", "token", "Ann", "-S", household.tmux.socket_path)
    assert own == named
    assert named not in household.address.log.read_text()
    async with connected(address, own) as client:
        assert (await call(client, "list_sessions"))["you"] == ann
        file = household.folder / "token"
        child = ["-c", 'printf %s "$STREAMRELAY_TOKEN" > "$0.new"; mv "$0.new" "$0"; exec cat', str(file)]
        started = (await call(client, "start_session", agent="sh", arguments=child, title="Child"))["session"]
        await wait_until_async(file.exists, PATIENCE, "the token of the session that was started")
        async with connected(address, file.read_text()) as of_child:
            assert (await call(of_child, "list_sessions"))["you"] == started["session"] != started["pane"]
        await call(client, "end_session", session="Child")
        assert "Child" not in {one["title"] for one in (await call(client, "list_sessions"))["sessions"]}

        household.kill_daemon()
        await run("daemon", "start", "-q", "-S", household.tmux.socket_path, "--mcp-port", str(unused_tcp_port))
        # Neither the client nor its token has to be another one.
        assert (await call(client, "list_sessions"))["you"] == ann
