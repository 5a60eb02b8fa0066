"""A machine that ssh reaches: how a tmux command is run there, and what ssh's own failures mean. Pure.

ssh hands the words behind the host to the login shell of the other machine as one string (RFC 4254, 6.5), so there is
always exactly one, and what it holds is quoted for a shell. Which shell that is, is unknown here: what is quoted is
read alike by POSIX shells, zsh, fish and csh, save that csh cannot hold a newline.

ssh asks no questions (BatchMode): no user would see them. An idle connection sends a keepalive every few seconds, so a
lost network ends it. The user's own options for this have precedence: ssh takes the first value it is given
(ssh_config(5)).
"""

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final

from streamrelay import errors

CONNECT_TIMEOUT: Final = 8
"""Seconds in which a connection has to be made: fewer than a tmux command is waited for, so that ssh says why not."""
_ALIVE_INTERVAL, _ALIVE_COUNT = 5, 3
"""A connection over which nothing has come for the product of the two, in seconds, is given up."""
_FIRST: Final = ("BatchMode=yes", "EscapeChar=none")
_UNLESS_GIVEN: Final = (
    f"ConnectTimeout={CONNECT_TIMEOUT}",
    f"ServerAliveInterval={_ALIVE_INTERVAL}",
    f"ServerAliveCountMax={_ALIVE_COUNT}",
    # Neither a banner nor `Connection to HOST closed.` is an error; both would be mixed with what tmux says.
    "LogLevel=ERROR",
)
_GUARD: Final = (
    'p=$PPID; if kill -0 "$p" 2>/dev/null; then (while sleep 2; do kill -0 $$ || exit; '
    'kill -0 "$p" || { kill -9 $$; exit; }; done) </dev/null >/dev/null 2>&1 & fi; exec "$@"'
)
"""What `control.guard` is here, over there: a client that has output left when the ssh server's side of the connection
ends is ended with it. A terminal that hangs up does the same."""
_OWN_FAILURE, _NOT_FOUND, _NOT_RUN = 255, 127, 126
_NO_HOST = re.compile(r"[\s\x00-\x1f\x7f]")

_TRY: Final = "ssh -o BatchMode=yes {host} true"
_HINTS: Final = (
    (("could not resolve",), "see whether the name is right: ssh {host} true"),
    (
        ("host key verification failed",),
        "the machine is not known to ssh, or has another key than it had: log in by hand once, ssh {host} true",
    ),
    (
        ("permission denied", "too many authentication failures"),
        f"have the key in an agent (ssh-add) or name it in ~/.ssh/config, until this asks nothing: {_TRY}",
    ),
)
_HINT: Final = f"see whether this works: {_TRY}"


@dataclass(frozen=True, slots=True)
class Ssh:
    """A machine, as ssh names it (`user@machine`, an alias of ~/.ssh/config), and the ssh command that reaches it.

    `command` is split as a POSIX shell would split it: "ssh -F FILE -p 2222". Raises errors.UsageError for a host that
    ssh could take for something else, and for a command that is none.
    """

    host: str
    command: str = "ssh"

    def __post_init__(self) -> None:
        # ssh://user@host:port is a host too. Behind the last @, ssh looks for what begins like an option as well.
        names = (self.host, self.host.rpartition("@")[2])
        if not all(names) or any(name.startswith("-") for name in names) or _NO_HOST.search(self.host):
            raise errors.UsageError(f"{self.host!r} is no host", hint="as ssh names it: user@machine")
        try:
            words = shlex.split(self.command)
        except ValueError as error:
            raise errors.UsageError(f"{self.command!r} is no command: {error}") from error
        if not words or "\0" in self.command:
            raise errors.UsageError("the ssh command is empty", hint="by default it is ssh")

    def argv(self, words: Sequence[str], *, terminal: bool = False, guarded: bool = False) -> list[str]:
        """Return the argument list that runs `words` there, none of them read by a shell; over a terminal (`-tt`).

        Without a terminal, what is `guarded` does not outlive the connection. The variables that would have tmux take
        itself for nested are empty there, whatever a profile sets.
        """
        program, *own = shlex.split(self.command)
        if guarded and not terminal:
            words = ["sh", "-c", _GUARD, "sh", *words]
        remote = " ".join(("exec env TMUX= TMUX_PANE=", *map(shell_word, words)))
        kind = "-tt" if terminal else "-T"
        return [program, *_options(_FIRST), *own, *_options(_UNLESS_GIVEN), kind, "--", self.host, remote]

    def failure(self, status: int | None, words: str, command: Sequence[str]) -> errors.TmuxError | None:
        """Return the error for an ssh that ended with `status` after `words`; None where tmux itself said no."""
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
                hint="install tmux there, or name it with --tmux PATH: what ssh runs has a short PATH of its own",
                data=data,
            )
        return None

    def unrunnable(self, error: OSError) -> errors.SshFailed:
        """Return the error for an ssh that cannot be started here."""
        program = shlex.split(self.command)[0]
        words = f"cannot run {program}: {error.strerror or error}"
        return errors.SshFailed(words, hint="install ssh (apt-get install openssh-client)", data={"host": self.host})


def _options(options: Sequence[str]) -> list[str]:
    return [word for option in options for word in ("-o", option)]


def shell_word(text: str) -> str:
    """Return `text` as one word for a shell, whichever it is.

    Within single quotes fish gives a meaning to a backslash, and csh to `!`; so these stand outside of them, behind a
    backslash, as `'` does.
    """
    return "'" + re.sub(r"['\\!]", r"'\\\g<0>'", text) + "'"
