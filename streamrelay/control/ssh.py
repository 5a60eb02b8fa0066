"""Runs tmux commands on a machine that ssh reaches: builds ssh's arguments and explains its failures. Pure.

The login shell of the other machine gets the whole remote command as one string (RFC 4254, 6.5), so each word is quoted
for a shell. This module does not know which shell that is: POSIX shells, zsh, fish and csh all read its quotes in the
same way. Only csh cannot quote a newline.

ssh must not ask questions (BatchMode), because no user would see them. An idle connection sends a keepalive every few
seconds, so that it ends when the network is lost. Timeouts in the user's ssh command have precedence: they come first,
and ssh uses the first value of an option (ssh_config(5)).
"""

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from streamrelay import errors

CONNECT_TIMEOUT: Final = 8
"""Seconds to make a connection: less than the timeout of a tmux command, so that the error is ssh's own."""
_ALIVE_INTERVAL, _ALIVE_COUNT = 5, 3
"""The seconds between two keepalives, and how many may stay unanswered before ssh gives the connection up."""
_FIRST: Final = ("BatchMode=yes", "EscapeChar=none")
_UNLESS_GIVEN: Final = (
    f"ConnectTimeout={CONNECT_TIMEOUT}",
    f"ServerAliveInterval={_ALIVE_INTERVAL}",
    f"ServerAliveCountMax={_ALIVE_COUNT}",
    # Otherwise a banner, or `Connection to HOST closed.`, would be mixed with tmux's error messages.
    "LogLevel=ERROR",
)
_GUARD: Final = (
    'p=$PPID; if kill -0 "$p" 2>/dev/null; then (while sleep 2; do kill -0 $$ || exit; '
    'kill -0 "$p" || { kill -9 $$; exit; }; done) </dev/null >/dev/null 2>&1 & fi; exec "$@"'
)
"""The counterpart of `control.guard` on the other machine: it kills a tmux client that still has output to write when
the connection ends. A client in a terminal needs no guard, because the hangup ends it."""
_OWN_FAILURE, _NOT_FOUND, _NOT_RUN = 255, 127, 126
_NO_HOST = re.compile(r"[\s\x00-\x1f\x7f]")

_TRY: Final = "ssh -o BatchMode=yes {host} true"
_HINTS: Final = (
    (("could not resolve",), "check the name of the machine: ssh {host} true"),
    (
        ("host key verification failed",),
        "the machine is not known to ssh, or its key has changed: log in by hand once: ssh {host} true",
    ),
    (
        ("permission denied", "too many authentication failures"),
        f"add the key to an agent (ssh-add), or name it in ~/.ssh/config, until this asks nothing: {_TRY}",
    ),
)
_HINT: Final = f"make this work first: {_TRY}"


@dataclass(frozen=True, slots=True)
class Ssh:
    """A machine, as ssh names it (`user@machine`, an alias of ~/.ssh/config), and the ssh command that reaches it.

    `command` is split as a POSIX shell would split it: "ssh -F FILE -p 2222". Raises errors.UsageError for a host that
    ssh could read as an option or as several words, and for an invalid command.
    """

    host: str
    command: str = "ssh"

    def __post_init__(self) -> None:
        # ssh://user@host:port is a host too. ssh also looks for options after the last @.
        names = (self.host, self.host.rpartition("@")[2])
        if not all(names) or any(name.startswith("-") for name in names) or _NO_HOST.search(self.host):
            raise errors.UsageError(f"invalid host: {self.host!r}", hint="name it as ssh does: user@machine")
        try:
            words = shlex.split(self.command)
        except ValueError as error:
            raise errors.UsageError(
                f"invalid ssh command: {self.command!r}: {error}", hint="quote it as a shell does: --ssh 'ssh -p 2222'"
            ) from error
        if not words or "\0" in self.command:
            raise errors.UsageError("the ssh command is empty", hint="leave the option out; the default is ssh")

    def argv(self, words: Sequence[str], *, terminal: bool = False, guarded: bool = False) -> list[str]:
        """Return the arguments that run `words` on the machine; the shell there changes none of them.

        With `terminal`, ssh allocates one (`-tt`). A `guarded` command without a terminal ends with the connection.
        TMUX and TMUX_PANE are empty on the machine, so that tmux does not refuse to run inside itself.
        """
        program, *own = shlex.split(self.command)
        if guarded and not terminal:
            words = ["sh", "-c", _GUARD, "sh", *words]
        remote = " ".join(("exec env TMUX= TMUX_PANE=", *map(shell_word, words)))
        kind = "-tt" if terminal else "-T"
        return [program, *_options(_FIRST), *own, *_options(_UNLESS_GIVEN), kind, "--", self.host, remote]

    def failure(self, status: int | None, words: str, command: Sequence[str]) -> errors.TmuxError | None:
        """Return the error for an ssh that ended with `status` and printed `words`; None if the error is tmux's own."""
        data = {"host": self.host, "command": " ".join(command)}
        if status == _OWN_FAILURE:
            said = words.lower()
            hint = next((hint for signs, hint in _HINTS if any(sign in said for sign in signs)), _HINT)
            return errors.SshFailed(
                words or f"the connection to {self.host} broke", hint=hint.format(host=self.host), data=data
            )
        if status in {_NOT_FOUND, _NOT_RUN}:
            return errors.TmuxMissing(
                f"{self.host} cannot run tmux: {words or f'status {status}'}",
                hint="install tmux there, or name it with --tmux PATH: the PATH of commands that ssh runs is short",
                data=data,
            )
        return None

    def unrunnable(self, error: OSError) -> errors.SshFailed:
        """Return the error for an ssh that this machine cannot start."""
        program = shlex.split(self.command)[0]
        words = f"cannot run {program}: {error.strerror or error}"
        return errors.SshFailed(words, hint="install ssh (apt-get install openssh-client)", data={"host": self.host})


def _options(options: Sequence[str]) -> list[str]:
    return [word for option in options for word in ("-o", option)]


def shell_word(text: str) -> str:
    """Return `text` quoted as one word for any shell.

    A backslash has a meaning in the single quotes of fish, and `!` in those of csh. So both are quoted by a backslash
    outside of the single quotes, like `'` itself.
    """
    return "'" + re.sub(r"['\\!]", r"'\\\g<0>'", text) + "'"
