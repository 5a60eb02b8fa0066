"""The library as its users see it: the names, the ten-line example, the face without asyncio."""

import importlib
import os
import subprocess
import sys
from pathlib import Path

import pytest

import streamrelay
import streamrelay.blocking
from streamrelay.errors import NoServer
from streamrelay.recordings import open_recording, replay
from streamrelay.testing.waiting import wait_until

EXAMPLE = Path(__file__).parents[2] / "examples" / "watch.py"
COUNTER = ["sh", "-c", "stty -echo; while read n; do seq 1 $n; done"]


def test_the_public_names_are_these():
    assert streamrelay.__all__ == [
        "AgentProfile", "Batch", "Event", "Message", "Pane", "PaneInfo", "RelaySession", "Server", "Stream",
        "StreamrelayError", "Subscription", "Text", "TmuxScreen", "__version__", "connect", "load_profiles",
        "open_recording", "replay",
    ]  # fmt: skip
    for name in streamrelay.__all__:
        assert getattr(streamrelay, name) is not None


@pytest.mark.parametrize("name", ["errors", "events"])
def test_a_public_module_lists_what_it_defines(name: str):
    module = importlib.import_module(f"streamrelay.{name}")
    defined = {
        name for name, value in vars(module).items()
        if getattr(value, "__module__", None) == module.__name__ and not name.startswith("_")
    }  # fmt: skip
    assert defined <= {*module.__all__}
    assert all(hasattr(module, name) for name in module.__all__)


def test_other_public_modules_list_these_names():
    assert streamrelay.blocking.__all__ == [
        "BlockingMessage", "BlockingPane", "BlockingServer", "BlockingStream", "connect"
    ]  # fmt: skip
    assert streamrelay.libtmux.__all__ == ["ControlServer"]
    assert streamrelay.vt.__all__ == ["Rendering", "TmuxScreen", "render"]
    assert "replay" in streamrelay.recordings.__all__


LOADED = """
import sys
import streamrelay
before = {name for name in sys.modules if name.startswith("streamrelay.")}
assert not before, before
streamrelay.errors.StreamrelayError
assert not {"msgspec", "regex", "pyte"} & sys.modules.keys()
streamrelay.Server
assert "streamrelay.library" in sys.modules
print("well")
"""


@pytest.mark.requirement("OPS-12a")
def test_the_import_loads_no_module_before_a_name_is_used():
    done = subprocess.run([sys.executable, "-c", LOADED], capture_output=True, text=True, check=False, timeout=60)
    assert done.stdout == "well\n", done.stderr


def test_names_that_load_lazily_are_listed_and_others_are_errors():
    assert {*streamrelay.__all__, "blocking", "errors", "events", "libtmux", "recordings", "vt"} <= {*dir(streamrelay)}
    assert streamrelay.Text is streamrelay.events.Text
    with pytest.raises(AttributeError, match="'Sever'"):
        streamrelay.Sever  # noqa: B018


def test_the_table_of_widths_loads_no_terminal():
    script = (
        "import sys, streamrelay.vt.widths; sys.exit('pyte' in sys.modules or 'streamrelay.vt.screen' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", script], timeout=60, check=False).returncode == 0
    assert {*streamrelay.vt.__all__} <= {*dir(streamrelay.vt)}
    with pytest.raises(AttributeError, match="'TmuxScren'"):
        streamrelay.vt.TmuxScren  # noqa: B018


@pytest.mark.requirement("OPS-10a")
def test_the_ten_line_example_runs(private_tmux, tmp_path):
    source = EXAMPLE.read_text()
    code = [line for line in source.splitlines()[1:] if line.strip()]
    assert len(code) <= 12
    assert EXAMPLE.read_text().partition("async def")[2].partition("asyncio.run")[0].strip() in README
    pane = private_tmux.new_session("work", COUNTER)
    out = tmp_path / "out"
    with out.open("wb") as file:
        process = subprocess.Popen(
            [sys.executable, EXAMPLE, "work"],
            stdout=file,
            env={**os.environ, "TMUX": f"{private_tmux.socket_path},1,0"},
        )

    def answered():
        # The client is there before the screen is: keep asking until the stream has begun.
        private_tmux.run("send-keys", "-t", pane, "3", "Enter")
        return "1\n2\n3\n" in out.read_text()

    try:
        wait_until(answered, 30, "the lines")
    finally:
        process.kill()
        process.wait()


README = (Path(__file__).parents[2] / "README.md").read_text()


@pytest.mark.requirement("OPS-10b")
def test_the_face_without_asyncio(private_tmux):
    pane = private_tmux.new_session("work", COUNTER)
    private_tmux.new_session("keeper", ["cat"])
    said = []
    with streamrelay.blocking.connect(tmux=private_tmux.binary, socket_path=str(private_tmux.socket_path)) as server:
        assert pane in [info.pane for info in server.panes()]
        assert [info.pane for info in server.panes_in({server.find(pane).session})] == [pane]
        assert server.find("work").command == "sh"
        with server.watch("work") as stream:
            private_tmux.run("send-keys", "-t", pane, "3", "Enter")
            for event in stream:
                if isinstance(event, streamrelay.Text):
                    said.append(event.text)
                if said[-1:] == ["3"] and isinstance(event, streamrelay.Text):
                    private_tmux.run("kill-pane", "-t", pane)
    assert said == ["1", "2", "3"]
    assert private_tmux.run("list-clients") == ""


def test_a_recording_without_asyncio(private_tmux, tmp_path):
    pane = private_tmux.new_session("work", COUNTER)
    private_tmux.new_session("keeper", ["cat"])
    path = tmp_path / "a.jsonl.gz"
    with (
        streamrelay.blocking.connect(tmux=private_tmux.binary, socket_path=str(private_tmux.socket_path)) as server,
        server.record("work", path) as stream,
    ):
        private_tmux.run("send-keys", "-t", pane, "3", "Enter")
        assert next(event.text for event in stream if isinstance(event, streamrelay.Text)) == "1"
        private_tmux.run("kill-pane", "-t", pane)
        assert [*stream][-1].reason == "session_gone"
    assert [event.text for event in replay(open_recording(path)) if isinstance(event, streamrelay.Text)][:1] == ["1"]


def test_a_server_that_is_not_there_is_said_at_once(tmp_path):
    with pytest.raises(NoServer), streamrelay.blocking.connect(socket_path=str(tmp_path / "nowhere")):
        pass
