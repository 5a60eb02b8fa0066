"""Which tmux is meant: the binary and the socket, and what can be learned of them without attaching.

`-C attach-session` would start a server where none runs (its entry carries CMD_STARTSERVER), so it is always given
`-N`; `display-message` never starts one.
"""

import asyncio
import os
import re
import signal
import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from streamrelay import errors
from streamrelay.children import ended, send_signal, start_child
from streamrelay.control.ssh import Ssh

OLDEST: Final = (3, 2)
IDENTIFICATION_FIXED: Final = (3, 8)
"""The first version whose server survives what happens while a control client identifies itself (`identification`)."""
_FORMAT: Final = "#{version}\t#{pid}\t#{socket_path}"


@dataclass(frozen=True, slots=True)
class Version:
    """A version of tmux: its text, and (major, minor) where the text has one ("master" and OpenBSD's have none)."""

    text: str
    number: tuple[int, int] | None

    @classmethod
    def parse(cls, text: str) -> "Version":
        """Read "3.3a", "next-3.6", "3.4-rc", "master", "openbsd-7.4", with or without "tmux " before it."""
        text = text.strip().removeprefix("tmux ")
        match = None if text.startswith("openbsd") else re.search(r"(\d{1,4})\.(\d{1,4})", text)
        return cls(text, None if match is None else (int(match[1]), int(match[2])))

    def at_least(self, major: int, minor: int) -> bool:
        """Whether this is that version or a newer one; a version without a number is taken to be newer."""
        return self.number is None or self.number >= (major, minor)


@dataclass(frozen=True, slots=True)
class ServerInfo:
    """A running server; `host` is the machine it runs on as ssh names it, empty for this one."""

    version: Version
    pid: int
    socket_path: str
    host: str = ""

    @property
    def address(self) -> str:
        """Where it is, as no other server: the path of its socket, behind its host as scp writes it."""
        return f"{self.host}:{self.socket_path}" if self.host else self.socket_path

    @property
    def dies_of_identification(self) -> bool:
        """Whether this server can die while a control client identifies itself (`identification`)."""
        return not self.version.at_least(*IDENTIFICATION_FIXED)


def _default_binary() -> str:
    return os.environ.get("STREAMRELAY_TMUX") or "tmux"


@dataclass(frozen=True, slots=True)
class Tmux:
    """A tmux binary and the server it talks to.

    Without a binary, $STREAMRELAY_TMUX or "tmux". Without a socket, the server of $TMUX, as tmux itself would take
    it (the variable is kept from our children, who would take it for nesting), else the default one. With `ssh`,
    binary and socket are those of another machine, and neither variable speaks of it.
    """

    binary: str = ""
    socket_name: str | None = None
    socket_path: str | None = None
    ssh: Ssh | None = None

    def __post_init__(self) -> None:
        if self.socket_name is not None and self.socket_path is not None:
            raise errors.UsageError("a server is named by -L or by -S, not by both")
        if not self.binary:
            object.__setattr__(self, "binary", "tmux" if self.ssh is not None else _default_binary())
        if self.ssh is not None:
            return
        if self.socket_name is None and self.socket_path is None and (inside := os.environ.get("TMUX")):
            # PATH,PID,SESSION, where only the path may hold a comma.
            object.__setattr__(self, "socket_path", inside.rsplit(",", 2)[0] or None)

    def argv(self, *arguments: str, stays: bool = False, terminal: bool = False) -> list[str]:
        """Return the argument list of a tmux command on this server.

        A control client `stays`, and over ssh is guarded where it has no `terminal`; one that needs that gets it there.
        """
        words = [self.binary, *arguments]
        if self.socket_path is not None:
            words[1:1] = ["-S", self.socket_path]
        elif self.socket_name is not None:
            words[1:1] = ["-L", self.socket_name]
        if self.ssh is None:
            return words
        # What our locale says does not get there; -u says it instead (tmux.c, CLIENT_UTF8).
        words.insert(1, "-u")
        return self.ssh.argv(words, terminal=terminal, guarded=stays)

    def unrunnable(self, error: OSError) -> errors.TmuxError:
        """Return the error for a command of `argv` that cannot be started."""
        return missing(self.binary, error) if self.ssh is None else self.ssh.unrunnable(error)

    def refused(self, status: int | None, words: str, *, command: Sequence[str]) -> errors.StreamrelayError:
        """Return the error that a command stands for which ended with `status`, after these words."""
        if self.ssh is None:
            return refusal(words, command=command)
        if (failure := self.ssh.failure(status, words, command)) is not None:
            return failure
        error = refusal(words, command=command)
        # What a login shell of another machine says stands before what tmux says.
        last = refusal(words.rstrip().rpartition("\n")[2].strip(), command=command)
        return error if isinstance(last, errors.CommandFailed) else last

    async def run(
        self,
        *arguments: str,
        timeout: float = 10.0,  # noqa: ASYNC109 - becomes CommandTimeout
        stays: bool = False,
    ) -> str:
        """Run one tmux command as a subprocess, and return what it printed.

        With `stays`, its standard input does not end before it does: a control client would leave at the end of it,
        in the middle of its commands.

        Raises errors.TmuxMissing, NoServer, ServerLost, TargetNotFound, CommandFailed (tmux's own words) and
        CommandTimeout.
        """
        # Files, not pipes: tmux hands its descriptors to the server, and a server that is stopped keeps a pipe open.
        with tempfile.TemporaryFile() as out, tempfile.TemporaryFile() as err:
            try:
                process = await start_child(
                    *self.argv(*arguments),
                    stdin=asyncio.subprocess.PIPE if stays else asyncio.subprocess.DEVNULL,
                    stdout=out,
                    stderr=err,
                    env=environment(os.environ),
                    # The terminal's Ctrl-C is not for ssh: it would end a connection that we still use.
                    start_new_session=self.ssh is not None,
                )
            except OSError as error:
                raise self.unrunnable(error) from error
            try:
                async with asyncio.timeout(timeout):
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
        """Ask the running server who it is; one subprocess, and never starts a server.

        Raises errors.TmuxMissing, NoServer, TmuxTooOld (older than 3.2), CommandFailed and CommandTimeout.
        """
        # The last line: a login shell of another machine may print some before.
        fields = (await self.run("display-message", "-p", _FORMAT)).rstrip("\n").rpartition("\n")[2].split("\t")
        version = Version.parse(fields[0])
        if len(fields) != 3 or not fields[1].isdecimal() or not version.at_least(*OLDEST):
            raise errors.TmuxTooOld(f"the server is tmux {version.text or '(unknown)'}", data={"version": version.text})
        return ServerInfo(version, int(fields[1]), fields[2], "" if self.ssh is None else self.ssh.host)

    async def client_version(self) -> Version:
        """Return the version of the binary (`tmux -V`), which need not be the server's.

        Raises errors.TmuxMissing, CommandFailed and CommandTimeout.
        """
        return Version.parse(await self.run("-V"))


def environment(parent: Mapping[str, str]) -> dict[str, str]:
    """Return the environment for a tmux client of ours.

    Without $TMUX, or tmux would refuse to nest; with a UTF-8 locale, or tmux would print `_` for every character
    beyond ASCII (tmux.c looks for the letters in the first of the three that is set).
    """
    child = {name: value for name, value in parent.items() if name not in {"TMUX", "TMUX_PANE"}}
    locale = next((child[name] for name in ("LC_ALL", "LC_CTYPE", "LANG") if child.get(name)), "")
    if not re.search("utf-?8", locale, re.IGNORECASE):
        child["LC_ALL"] = "C.UTF-8"
    return child


def exit_words(stream: bytes) -> str:
    """Return why a control client says that it ended, from its output; empty where it does not say."""
    last = stream.rstrip(b"\n").rpartition(b"\n")[2]
    return last.removeprefix(b"%exit ").decode("utf-8", "replace") if last.startswith(b"%exit ") else ""


def missing(binary: str, error: OSError) -> errors.TmuxMissing:
    """Return the error for a binary that cannot be run."""
    return errors.TmuxMissing(f"cannot run {binary}: {error.strerror or error}", data={"binary": binary})


def refusal(words: str, *, command: Sequence[str]) -> errors.StreamrelayError:
    """Return the error that tmux's own words for a refused command stand for."""
    data = {"command": " ".join(command)}
    if words.startswith(("lost server", "server exited")):
        # The server was there when the command began (client.c, client_exit_message).
        return errors.ServerLost(words, data=data)
    if words.startswith("no server running") or re.match(
        r"error connecting to .* \((No such file or directory|Connection refused)\)$", words, re.DOTALL
    ):
        return errors.NoServer(words, data=data)
    if words.startswith(("can't find", "no sessions", "session not found", "no current")):
        return errors.TargetNotFound(words, data=data)
    return errors.CommandFailed(words or "tmux refused without a word", data=data)
