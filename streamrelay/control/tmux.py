"""A tmux binary and its server's socket, with the queries that need no attach.

`-C attach-session` would start a missing server (its entry carries CMD_STARTSERVER), so it always gets `-N`;
`display-message` never starts one.
"""

import asyncio
import contextlib
import errno
import os
import re
import signal
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Final

from streamrelay import errors
from streamrelay.children import ended, send_signal, start_child
from streamrelay.control.ssh import Ssh
from streamrelay.waiting import answer_within

OLDEST: Final = (3, 2)
IDENTIFICATION_FIXED: Final = (3, 8)
"""The first version whose server cannot crash while a control client identifies itself (`identification`)."""
_FORMAT: Final = "#{version}\t#{pid}\t#{socket_path}"
_EXHAUSTED: Final[Mapping[int, str]] = MappingProxyType(
    {
        errno.EMFILE: "allow more open files, and start again: ulimit -n 4096",
        errno.ENFILE: "close other programs: this machine has too many open files",
        errno.ENOMEM: "close other programs: this machine has no memory left",
        errno.EAGAIN: "allow more processes, and start again: ulimit -u",
    }
)
"""Hints where the binary is there, but a program cannot be started, by the error's number."""


@dataclass(frozen=True, slots=True)
class Version:
    """A version of tmux: its text, and (major, minor) if the text has a number ("master" and OpenBSD's have none)."""

    text: str
    number: tuple[int, int] | None

    @classmethod
    def parse(cls, text: str) -> "Version":
        """Read "3.3a", "next-3.6", "3.4-rc", "master", "openbsd-7.4", with or without "tmux " before it."""
        text = text.strip().removeprefix("tmux ")
        match = None if text.startswith("openbsd") else re.search(r"(\d{1,4})\.(\d{1,4})", text)
        return cls(text, None if match is None else (int(match[1]), int(match[2])))

    def at_least(self, major: int, minor: int) -> bool:
        """Whether this is that version or a newer one; a version without a number counts as newer."""
        return self.number is None or self.number >= (major, minor)


@dataclass(frozen=True, slots=True)
class ServerInfo:
    """A running server; `host` is its machine by the ssh name, empty for this machine."""

    version: Version
    pid: int
    socket_path: str
    host: str = ""

    @property
    def address(self) -> str:
        """The unique address of the server: the path of its socket, after its host as in scp."""
        return f"{self.host}:{self.socket_path}" if self.host else self.socket_path

    @property
    def dies_of_identification(self) -> bool:
        """Whether this server can crash while a control client identifies itself (`identification`)."""
        return not self.version.at_least(*IDENTIFICATION_FIXED)


def _default_binary() -> str:
    return os.environ.get("STREAMRELAY_TMUX") or "tmux"


@dataclass(frozen=True, slots=True)
class Tmux:
    """A tmux binary and the server it talks to.

    The default binary is $STREAMRELAY_TMUX or "tmux". The default server is that of $TMUX, as for tmux itself, else
    tmux's default server. Child processes do not get $TMUX, because tmux would refuse to nest. With `ssh`, binary and
    socket belong to another machine, and both variables are ignored.
    """

    binary: str = ""
    socket_name: str | None = None
    socket_path: str | None = None
    ssh: Ssh | None = None

    def __post_init__(self) -> None:
        if self.socket_name is not None and self.socket_path is not None:
            raise errors.UsageError("name a server by -L or by -S, not by both", hint="leave one of the two out")
        if not self.binary:
            object.__setattr__(self, "binary", "tmux" if self.ssh is not None else _default_binary())
        if self.ssh is not None:
            return
        if self.socket_name is None and self.socket_path is None and (inside := os.environ.get("TMUX")):
            # PATH,PID,SESSION; only the path may contain a comma.
            object.__setattr__(self, "socket_path", inside.rsplit(",", 2)[0] or None)

    def argv(self, *arguments: str, stays: bool = False, terminal: bool = False) -> list[str]:
        """Return the argument list of a tmux command on this server.

        With `stays`, the command is a control client. Over ssh, `terminal` gives it a terminal on the other machine;
        without one, a guard ends it with the connection.
        """
        words = [self.binary, *arguments]
        if self.socket_path is not None:
            words[1:1] = ["-S", self.socket_path]
        elif self.socket_name is not None:
            words[1:1] = ["-L", self.socket_name]
        if self.ssh is None:
            return words
        # ssh does not pass our locale on, so -u sets UTF-8 (tmux.c, CLIENT_UTF8).
        words.insert(1, "-u")
        return self.ssh.argv(words, terminal=terminal, guarded=stays)

    def unrunnable(self, error: OSError) -> errors.TmuxError:
        """Return the error for a command of `argv` that cannot be started."""
        return missing(self.binary, error) if self.ssh is None else self.ssh.unrunnable(error)

    def refused(self, status: int | None, words: str, *, command: Sequence[str]) -> errors.StreamrelayError:
        """Return the error for a command that ended with `status` and this message."""
        if self.ssh is None:
            return refusal(words, command=command)
        if (failure := self.ssh.failure(status, words, command)) is not None:
            return failure
        error = refusal(words, command=command)
        # A login shell on another machine may print its own lines before tmux's.
        last = refusal(words.rstrip().rpartition("\n")[2].strip(), command=command)
        return error if isinstance(last, errors.CommandFailed) else last

    async def run(
        self,
        *arguments: str,
        timeout: float = 10.0,  # noqa: ASYNC109 - becomes CommandTimeout
        stays: bool = False,
    ) -> str:
        """Run one tmux command as a subprocess, and return its output.

        With `stays`, its standard input stays open until it ends, because a control client exits at the end of its
        input, even with commands pending.

        Raises errors.TmuxMissing, NoServer, ServerLost, TargetNotFound, CommandFailed (tmux's own words) and
        CommandTimeout.
        """
        with contextlib.ExitStack() as files:
            try:
                # Files, not pipes: tmux passes its descriptors to the server, and a stopped server would keep a pipe.
                out, err = (files.enter_context(tempfile.TemporaryFile()) for _ in range(2))
                process = await start_child(
                    *self.argv(*arguments),
                    stdin=asyncio.subprocess.PIPE if stays else asyncio.subprocess.DEVNULL,
                    stdout=out,
                    stderr=err,
                    env=environment(os.environ),
                    # Without a session of its own the child would get the terminal's Ctrl-C: a command that ends by it
                    # is reported as refused by tmux, and ssh would end a connection that is still in use.
                    start_new_session=True,
                )
            except OSError as error:
                raise self.unrunnable(error) from error
            try:
                async with answer_within(timeout):
                    await process.wait()
            except TimeoutError as error:
                words = f"tmux did not answer in {timeout:g} s"
                raise errors.CommandTimeout(words, data={"command": arguments}) from error
            finally:
                if process.returncode is None:
                    send_signal(process, signal.SIGKILL)
                    await ended(process)
            out.seek(0)
            err.seek(0)
            if process.returncode:
                said = err.read().decode("utf-8", "replace").strip()
                raise self.refused(process.returncode, said or exit_words(out.read()), command=arguments)
            return out.read().decode("utf-8", "replace")

    async def probe(self) -> ServerInfo:
        """Query the running server with one subprocess; never starts a server.

        Raises errors.TmuxMissing, NoServer, TmuxTooOld (older than 3.2), CommandFailed and CommandTimeout.
        """
        # The last line counts: a login shell on another machine may print others before.
        fields = (await self.run("display-message", "-p", _FORMAT)).rstrip("\n").rpartition("\n")[2].split("\t")
        version = Version.parse(fields[0])
        if len(fields) != 3 or not fields[1].isdecimal() or not version.at_least(*OLDEST):
            raise errors.TmuxTooOld(f"the server is tmux {version.text or '(unknown)'}", data={"version": version.text})
        return ServerInfo(version, int(fields[1]), fields[2], "" if self.ssh is None else self.ssh.host)

    async def client_version(self) -> Version:
        """Return the version of the binary (`tmux -V`), which may differ from the server's.

        Raises errors.TmuxMissing, CommandFailed and CommandTimeout.
        """
        return Version.parse(await self.run("-V"))


def environment(parent: Mapping[str, str]) -> dict[str, str]:
    """Return the environment for our tmux clients.

    It lacks $TMUX, because tmux would refuse to nest. It has a UTF-8 locale, because tmux would otherwise print `_` for
    every character beyond ASCII (tmux.c looks for "UTF-8" in the first locale variable that is set).
    """
    child = {name: value for name, value in parent.items() if name not in {"TMUX", "TMUX_PANE"}}
    locale = next((child[name] for name in ("LC_ALL", "LC_CTYPE", "LANG") if child.get(name)), "")
    if not re.search("utf-?8", locale, re.IGNORECASE):
        child["LC_ALL"] = "C.UTF-8"
    return child


def exit_words(stream: bytes) -> str:
    """Return the reason that a control client printed at its end; empty if there is none."""
    last = stream.rstrip(b"\n").rpartition(b"\n")[2]
    return last.removeprefix(b"%exit ").decode("utf-8", "replace") if last.startswith(b"%exit ") else ""


def missing(binary: str, error: OSError) -> errors.TmuxMissing:
    """Return the error for a binary that cannot be run."""
    return errors.TmuxMissing(
        f"cannot run {binary}: {error.strerror or error}",
        hint=_EXHAUSTED.get(error.errno or 0),
        data={"binary": binary},
    )


def refusal(words: str, *, command: Sequence[str]) -> errors.StreamrelayError:
    """Return the error for a command that tmux refused with these words."""
    data = {"command": " ".join(command)}
    if words.startswith(("lost server", "server exited")):
        # The server was running when the command began (client.c, client_exit_message).
        return errors.ServerLost(words, data=data)
    if missing := re.match(
        r"no server running on (.*)|error connecting to (.*) \((?:No such file or directory|Connection refused)\)$",
        words,
        re.DOTALL,
    ):
        return errors.NoServer(f"no tmux server runs at {missing[1] or missing[2]}", data=data)
    if words.startswith(("can't find", "no sessions", "session not found", "no current")):
        return errors.TargetNotFound(words, data=data)
    return errors.CommandFailed(words or "tmux refused without a word", data=data)
