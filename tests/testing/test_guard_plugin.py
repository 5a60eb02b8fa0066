"""The plugin in another project's pytest run: absent until it is asked for; the guard when it is switched on."""

import os
from pathlib import Path

import pytest

from streamrelay.testing.guard import socket_of
from streamrelay.testing.tmux import PrivateTmux

pytest_plugins = ["pytester"]

GUARDED = "[pytest]\nstreamrelay_guard = true\nasyncio_default_fixture_loop_scope = function\n"


@pytest.fixture
def guarded(pytester: pytest.Pytester) -> pytest.Pytester:
    pytester.makeini(GUARDED)
    return pytester


def run(pytester: pytest.Pytester, source: str, *, asks: bool = True) -> pytest.RunResult:
    pytester.makepyfile(source)
    options = ("-p", "streamrelay.testing.pytest_plugin") if asks else ()
    return pytester.runpytest_subprocess("-p", "no:cacheprovider", "-p", "no:libtmux", *options, timeout=60)


@pytest.mark.slow
@pytest.mark.tmux
@pytest.mark.requirement("OPS-11d")
def test_a_project_that_does_not_ask_for_the_plugin_does_not_load_it(pytester: pytest.Pytester) -> None:
    result = run(
        pytester,
        """
        import sys

        def test_nothing_of_ours_is_loaded():
            assert not [name for name in sys.modules if name.partition(".")[0] == "streamrelay"]
        """,
        asks=False,
    )
    result.assert_outcomes(passed=1)


@pytest.mark.slow
@pytest.mark.tmux
@pytest.mark.requirement("OPS-11d")
def test_a_conftest_can_ask_for_the_plugin(pytester: pytest.Pytester) -> None:
    pytester.makeconftest('pytest_plugins = ["streamrelay.testing.pytest_plugin"]')
    pytester.makeini(GUARDED)
    result = run(
        pytester,
        """
        def test_it(private_tmux):
            assert private_tmux.new_session("one", ["cat"]) == "%0"
        """,
        asks=False,
    )
    result.assert_outcomes(passed=1)


@pytest.mark.slow
@pytest.mark.tmux
def test_without_the_option_nothing_is_changed(pytester: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMUX", "/somewhere/else,1,0")
    result = run(
        pytester,
        """
        import os, sys

        def test_environment_is_the_users():
            assert os.environ["TMUX"] == "/somewhere/else,1,0"
            assert "streamrelay.testing.guard" not in sys.modules
            assert "libtmux" not in sys.modules
        """,
    )
    result.assert_outcomes(passed=1)


@pytest.mark.slow
@pytest.mark.tmux
def test_the_marker_is_known_and_the_fixture_is_there(guarded: pytest.Pytester) -> None:
    guarded.makeini(GUARDED + "addopts = --strict-markers\n")
    result = run(
        guarded,
        """
        import pytest

        @pytest.mark.requirement("ENG-01")
        def test_it(private_tmux):
            assert private_tmux.new_session("one", ["cat"]) == "%0"
        """,
    )
    result.assert_outcomes(passed=1)


@pytest.mark.slow
@pytest.mark.tmux
def test_another_server_is_refused_before_it_is_asked(guarded: pytest.Pytester) -> None:
    result = run(
        guarded,
        """
        import asyncio, os, ptyprocess, pytest, subprocess
        tmux, socket = "tmux", "/nowhere/default"

        @pytest.mark.parametrize("call", [
            lambda: subprocess.run([tmux, '-S', socket, 'ls']),
            lambda: subprocess.run([tmux, '-Lx', 'ls'], env={'TMUX_TMPDIR': '/nowhere'}),
            lambda: subprocess.run([tmux, 'ls'], env={**os.environ, 'TMUX': socket + ',1,0'}),
            lambda: os.posix_spawnp(tmux, [tmux, '-S', socket, 'ls'], os.environ),
            lambda: ptyprocess.PtyProcess.spawn([tmux, '-S', socket, 'ls']),
            lambda: asyncio.run(asyncio.create_subprocess_exec(tmux, '-S', socket, 'ls')),
        ], ids=["run", "environment", "inherited", "posix_spawn", "pty", "asyncio"])
        def test_it(call):
            with pytest.raises(OSError, match="refused: .*/nowhere/"):
                call()
        """,
    )
    result.assert_outcomes(passed=6)


@pytest.mark.slow
@pytest.mark.tmux
def test_a_bare_tmux_reaches_no_users_server(guarded: pytest.Pytester, monkeypatch: pytest.MonkeyPatch) -> None:
    with PrivateTmux() as users:
        users.new_session("precious", ["cat"])
        monkeypatch.setenv("TMUX", f"{users.socket_path},{users.server_pid},0")
        result = run(
            guarded,
            """
            import os, subprocess

            def test_it():
                assert "TMUX" not in os.environ
                done = subprocess.run(["sh", "-c", "tmux list-sessions"], capture_output=True, text=True)
                assert "precious" not in done.stdout
                assert done.returncode == 1
            """,
        )
    result.assert_outcomes(passed=1)


@pytest.mark.tmux
def test_a_server_left_behind_fails_the_test_that_left_it(guarded: pytest.Pytester) -> None:
    result = run(
        guarded,
        """
        import subprocess
        from streamrelay.testing.tmux import PrivateTmux

        def test_leaves_the_default_server():
            subprocess.run(["tmux", "-f", "/dev/null", "new-session", "-d", "sleep 8"], check=True)

        def test_ends_the_default_server():
            subprocess.run(["tmux", "kill-server"], check=True)

        left = PrivateTmux()

        def test_leaves_a_private_one():
            left.new_session("left", ["sleep", "8"])

        def test_cleans_up(private_tmux):
            private_tmux.new_session("one", ["cat"])
            left.__exit__(None, None, None)
        """,
    )
    result.assert_outcomes(passed=4, errors=2)
    result.stdout.fnmatch_lines(["*this test left tmux behind: *default, server process *"])


@pytest.mark.parametrize(
    ("words", "environment", "socket"),
    [
        (["-S", "/a/b", "ls"], {}, "/a/b"),
        (["-2uS/a/b", "ls"], {"TMUX": "/c,1,2"}, "/a/b"),
        (["-f", "-S", "-L", "x", "ls"], {"TMUX_TMPDIR": "/d", "TMUX": "/c,1,2"}, "/d/tmux-{uid}/x"),
        (["-C", "attach", "-S", "/no"], {"TMUX": "/c,1,2"}, "/c"),
        (["ls"], {"TMUX_TMPDIR": "/d"}, "/d/tmux-{uid}/default"),
        ([], {}, "/tmp/tmux-{uid}/default"),
        (["-V"], {}, None),
    ],
)
def test_the_socket_is_found_as_tmux_finds_it(
    words: list[str], environment: dict[str, str], socket: str | None
) -> None:
    expected = Path(socket.format(uid=os.getuid())) if socket else None
    assert socket_of(words, environment) == expected
