"""What is said to ssh, and what its own failures are taken for."""

import shutil
import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamrelay.control import Ssh, Tmux
from streamrelay.control.ssh import shell_word
from streamrelay.errors import (
    CommandFailed,
    NoServer,
    SshFailed,
    StreamrelayError,
    TargetNotFound,
    TmuxMissing,
    UsageError,
)
from tests.sampling import examples

pytestmark = pytest.mark.requirement("ENG-01d")
HOSTILE = ["a'b", "$(id)`id`$HOME", "\\", "\\'", "!x", "~", "", "-n", "*", "a;b|c>d&", "é🦜", "#{x} %3", "'\\''!"]
SHELLS = [shell for shell in ("sh", "bash", "zsh", "fish", "tcsh") if shutil.which(shell)]


def as_read(shell: str, words: list[str]) -> list[str]:
    """Return the words that a shell makes of them quoted."""
    line = "exec env TMUX= printf '%s\\0' " + " ".join(map(shell_word, words))
    done = subprocess.run([shell, "-c", line], capture_output=True, check=True, timeout=20)
    return done.stdout.decode("utf-8", "surrogateescape").split("\0")[:-1]


@pytest.mark.parametrize("shell", SHELLS)
def test_hostile_words_stay_text_in_every_shell(shell: str) -> None:
    words = HOSTILE + [chr(code) for code in range(1, 128) if chr(code) != "\n"]
    assert as_read(shell, words) == words


@settings(max_examples=examples(40))
@given(st.lists(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=20), min_size=1))
def test_any_words_stay_text(words: list[str]) -> None:
    assert as_read("sh", words) == words


def test_a_command_runs_behind_everything_that_could_be_an_option() -> None:
    tmux = Tmux("/opt/t mux", socket_path="/tmp/a b", ssh=Ssh("ann@machine", "ssh -p 2222 -o 'ServerAliveInterval=1'"))
    *options, host, line = tmux.argv("-N", "-C", "attach-session")
    assert (options[0], options[-2:], host) == ("ssh", ["-T", "--"], "ann@machine")
    assert line == "exec env TMUX= TMUX_PANE= '/opt/t mux' '-u' '-S' '/tmp/a b' '-N' '-C' 'attach-session'"
    # ssh takes the first value it is given.
    said = [option for option in options if option.startswith(("ServerAliveInterval", "BatchMode"))]
    assert said == ["BatchMode=yes", "ServerAliveInterval=1", "ServerAliveInterval=5"]
    assert options.index("BatchMode=yes") < options.index("-p")
    assert "LogLevel=ERROR" in options
    assert "-tt" in tmux.argv("-CC", terminal=True)


def test_what_is_around_here_is_not_around_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMUX", "/tmp/tmux-0/default,1,0")
    monkeypatch.setenv("STREAMRELAY_TMUX", "/opt/tmux")
    assert Tmux(ssh=Ssh("m")).argv("ls")[-1] == "exec env TMUX= TMUX_PANE= 'tmux' '-u' 'ls'"


@pytest.mark.parametrize("host", ["", "-oProxyCommand=id", "ann@-oProxyCommand=id", "a b", "a\nb", "ann@", "a\0"])
def test_what_is_no_host_is_refused(host: str) -> None:
    with pytest.raises(UsageError, match="invalid host"):
        Ssh(host)


@pytest.mark.parametrize("command", ["", " ", "ssh 'x"])
def test_what_is_no_command_is_refused(command: str) -> None:
    with pytest.raises(UsageError):
        Ssh("m", command)


@pytest.mark.parametrize(
    ("status", "words", "kind", "hint"),
    [
        (
            255,
            "ssh: Could not resolve hostname m: Name or service not known",
            SshFailed,
            "check the name of the machine",
        ),
        (255, "a@m: Permission denied (publickey).", SshFailed, "ssh-add"),
        (255, "Host key verification failed.", SshFailed, "log in by hand"),
        (255, "ssh: connect to host m port 22: Connection refused", SshFailed, "ssh -o BatchMode=yes m true"),
        (255, "", SshFailed, "ssh -o BatchMode=yes m true"),
        (127, "env: 'tmux': No such file or directory", TmuxMissing, "--tmux"),
        (126, "env: 'tmux': Permission denied", TmuxMissing, "--tmux"),
        (1, "no server running on /x", NoServer, "start tmux"),
        (1, "unknown option", CommandFailed, ""),
        (1, "Authorized use only.\r\nno server running on /x\n", NoServer, "start tmux"),
        (1, "Authorized use only.\ncan't find pane: %7", TargetNotFound, ""),
        (1, "Authorized use only.\nunknown option", CommandFailed, ""),
        (None, "", CommandFailed, ""),
    ],
)
def test_what_it_ends_with_is_an_error_that_says_what_to_do(
    status: int | None, words: str, kind: type[StreamrelayError], hint: str
) -> None:
    error = Tmux(ssh=Ssh("m")).refused(status, words, command=["ls"])
    assert type(error) is kind
    last = words.strip().rpartition("\n")[2]
    assert error.message == "no tmux server runs at /x" if kind is NoServer else last in error.message
    assert error.message
    assert hint in error.hint


async def test_an_ssh_that_is_not_there() -> None:
    with pytest.raises(SshFailed, match="no-such-ssh"):
        await Tmux(ssh=Ssh("m", "no-such-ssh -x")).probe()
