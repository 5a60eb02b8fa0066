"""Every error streamrelay raises, in one tree.

    StreamrelayError
    ├── TmuxError
    │   ├── TmuxMissing          the tmux binary cannot be run
    │   ├── TmuxTooOld           older than the oldest supported version
    │   ├── NoServer             no tmux server listens on the socket
    │   ├── ServerLost           the server went away while in use
    │   │   └── ConnectionLost   only the connection to it ended; the server may still run
    │   ├── CommandFailed        tmux rejected a command; carries tmux's own message
    │   ├── CommandTimeout       tmux did not answer a command in time
    │   ├── BadCommand           the command cannot be written as one line of tmux's language
    │   └── SshFailed            ssh cannot reach the machine of the tmux server; carries ssh's own message
    ├── TargetNotFound           no session, window or pane of that name
    ├── PaneGone                 the pane was closed
    ├── ProgramLeft              the target program is no longer in the foreground of its pane
    ├── ShellRefused             the target is a shell, which would run peer text as commands
    ├── TargetNotReading         the program does not read its terminal
    ├── PaneSynchronized         tmux would copy the input to the other panes of the window
    ├── PaneTaken                another process is already typing into the pane
    ├── SessionTaken             the session is already in a relay or gathering
    ├── DeliveryFailed           a message was not delivered; carries the reason
    ├── DeliveryUnconfirmed      it is unknown whether a message was delivered
    ├── AnswerTimeout            a submitted message was not answered in time
    ├── DeliveryTimeout          a message was not submitted in time; says whether it is still queued
    ├── CancelTooLate            the message to cancel is already pasted or final
    ├── DialogChanged            the dialog to answer is gone, or ignores its keys
    ├── NestedGathering          a member of a gathering tried to start another one
    ├── PieceNotHeld             the caller does not hold the talking piece
    ├── InGathering              a message from or to a member of a gathering, outside the talking piece
    ├── NotAllowed               a policy of the user forbids it to the caller
    ├── StartFailed              a program was not found, or ended before it was ready
    ├── RecordingError           a recording cannot be read or written
    ├── StorageError             a database cannot be used
    ├── ConfigError              invalid configuration file
    ├── DaemonMissing            no daemon runs for that tmux server
    ├── DaemonRunning            a daemon already runs for that tmux server
    ├── DaemonLost               the daemon ended or timed out during a request
    ├── RedisLost                Redis is unreachable or rejected the command
    ├── PeerAway                 another node does not answer or has too long a backlog
    ├── AIError                  a model did not answer
    │   ├── AIUnavailable        temporary: rate limit, no connection or a vendor failure; streamrelay tries again
    │   ├── AIKeyRefused         the key is missing, or the vendor does not accept it
    │   ├── AIRequestRefused     the vendor rejects the request
    │   └── AICutOff             the model broke off in the middle of its answer
    ├── ExtraMissing             a feature needs an optional package that is not installed
    └── UsageError               invalid arguments
        └── InvalidGathering     an invalid gathering; carries the fault

Each class has a stable `code` (for machines), an `exit_code` (for the command line), `data` (the facts) and a `hint`
(the next step). Expected ends, such as a watched pane that closes or a spent budget, are events with a reason, not
errors; a command turns such a reason into an exit code through the same table.
"""

from collections.abc import Iterator, Mapping
from typing import ClassVar

__all__ = [
    "AICutOff",
    "AIError",
    "AIKeyRefused",
    "AIRequestRefused",
    "AIUnavailable",
    "AnswerTimeout",
    "BadCommand",
    "CancelTooLate",
    "CommandFailed",
    "CommandTimeout",
    "ConfigError",
    "ConnectionLost",
    "DaemonLost",
    "DaemonMissing",
    "DaemonRunning",
    "DeliveryFailed",
    "DeliveryTimeout",
    "DeliveryUnconfirmed",
    "DialogChanged",
    "ExtraMissing",
    "InGathering",
    "InvalidGathering",
    "NestedGathering",
    "NoServer",
    "NotAllowed",
    "PaneGone",
    "PaneSynchronized",
    "PaneTaken",
    "PeerAway",
    "PieceNotHeld",
    "ProgramLeft",
    "RecordingError",
    "RedisLost",
    "ServerLost",
    "SessionTaken",
    "ShellRefused",
    "SshFailed",
    "StartFailed",
    "StorageError",
    "StreamrelayError",
    "TargetNotFound",
    "TargetNotReading",
    "TmuxError",
    "TmuxMissing",
    "TmuxTooOld",
    "UsageError",
    "error_with_code",
    "error_with_exit_code",
]


class StreamrelayError(Exception):
    """The base class of all errors that streamrelay raises on purpose."""

    code: ClassVar[str] = "error"
    exit_code: ClassVar[int] = 1
    default_hint: ClassVar[str] = ""

    def __init__(self, message: str, *, hint: str | None = None, data: Mapping[str, object] | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = self.default_hint if hint is None else hint
        self.data: dict[str, object] = dict(data or {})


class UsageError(StreamrelayError):
    """Invalid arguments, alone or in combination."""

    code = "usage"
    exit_code = 2


class ExtraMissing(StreamrelayError):
    """A feature needs an optional package that is not installed; `data` names the extra and the package."""

    code = "extra_missing"
    exit_code = 3


class InvalidGathering(UsageError):
    """An invalid gathering; `data["fault"]` names the fault. Nothing was started."""

    code = "invalid_gathering"
    exit_code = 35
    default_hint = "see docs/gatherings.md for what a gathering needs"


class TmuxError(StreamrelayError):
    """tmux is unusable or rejected a request."""

    code = "tmux"
    exit_code = 10
    default_hint = "check tmux and this installation: streamrelay doctor"


class TmuxMissing(TmuxError):
    """The tmux binary cannot be run."""

    code = "tmux_missing"
    exit_code = 11
    default_hint = "install tmux (apt-get install tmux, brew install tmux), or name one with --tmux or STREAMRELAY_TMUX"


class TmuxTooOld(TmuxError):
    """The tmux binary or the running server is older than the oldest supported version."""

    code = "tmux_too_old"
    exit_code = 12
    default_hint = "install tmux 3.2 or newer, or name another binary with --tmux or STREAMRELAY_TMUX"


class NoServer(TmuxError):
    """No tmux server listens on the socket."""

    code = "no_server"
    exit_code = 13
    default_hint = "start tmux first, or name the server with -L NAME or -S PATH"


class ServerLost(TmuxError):
    """The server went away while in use."""

    code = "server_lost"
    exit_code = 14
    default_hint = "start tmux again and repeat the command; `streamrelay doctor` names known crashes of this tmux"


class ConnectionLost(ServerLost):
    """The connection to the server ended before a command was answered; the server may still run.

    tmux may have carried the command out.
    """

    code = "connection_lost"
    exit_code = 53
    default_hint = "look whether tmux has carried the command out, and repeat it if not"


class CommandFailed(TmuxError):
    """tmux rejected a command; the message is tmux's own."""

    code = "command_failed"
    exit_code = 15
    default_hint = "tmux refused it: list the panes with `streamrelay ls`, and check tmux with `streamrelay doctor`"


class CommandTimeout(TmuxError):
    """tmux did not answer a command in time."""

    code = "command_timeout"
    exit_code = 16
    default_hint = "check whether the tmux server answers: tmux display-message -p ok"


class BadCommand(TmuxError):
    """A command that cannot be written as one line of tmux's command language (an empty line would detach)."""

    code = "bad_command"
    exit_code = 17
    default_hint = "give one command of tmux on one line, as in ~/.tmux.conf"


class SshFailed(TmuxError):
    """ssh cannot reach the machine of the tmux server, or lost the connection; the message is ssh's own."""

    code = "ssh_failed"
    exit_code = 18
    default_hint = "make this work without a question: ssh -o BatchMode=yes HOST true"


class TargetNotFound(StreamrelayError):
    """No session, window or pane of that name."""

    code = "target_not_found"
    exit_code = 20
    default_hint = "list the panes of this server: streamrelay ls"


class PaneGone(StreamrelayError):
    """The pane was closed."""

    code = "pane_gone"
    exit_code = 21
    default_hint = "the pane was killed or its program ended; list the panes: streamrelay ls"


class ProgramLeft(StreamrelayError):
    """The target program is no longer in the foreground of its pane."""

    code = "program_left"
    exit_code = 22
    default_hint = "start the program again in its pane, then start the relay again"


class ShellRefused(StreamrelayError):
    """The target is a shell, which would run peer text as commands, and `allow_shell` is not set."""

    code = "shell_refused"
    exit_code = 23
    default_hint = "start a program in the pane, or pass --allow-shell: the shell then runs the text that it gets"


class TargetNotReading(StreamrelayError):
    """The program does not read its terminal."""

    code = "target_not_reading"
    exit_code = 24
    default_hint = "look at the pane: its program is busy or never reads its terminal"


class PaneSynchronized(StreamrelayError):
    """tmux would copy the input to the other panes of the window (`synchronize-panes`)."""

    code = "pane_synchronized"
    exit_code = 25
    default_hint = "run in that window: tmux set-option -w synchronize-panes off"


class PaneTaken(StreamrelayError):
    """Another process is already typing into the pane: `data` has its kind (`holder`) and `pid`, if known."""

    code = "pane_taken"
    exit_code = 26
    default_hint = "end the daemon, relay, link, send or recording that types into the pane; a pane has one writer"


class DeliveryFailed(StreamrelayError):
    """A message was not delivered; `data["reason"]` is the reason of its receipt (docs/events.md)."""

    code = "delivery_failed"
    exit_code = 27
    default_hint = "look at the pane, then send the message again; streamrelay does not repeat it"


class DeliveryUnconfirmed(StreamrelayError):
    """It is unknown whether a message was delivered."""

    code = "delivery_unconfirmed"
    exit_code = 28
    default_hint = "look at the pane before you send the message again"


class AnswerTimeout(StreamrelayError):
    """A submitted message was not answered in time."""

    code = "answer_timeout"
    exit_code = 29
    default_hint = (
        "allow more time with --timeout; the program is still working, or does not signal the end of its turn"
    )


class DeliveryTimeout(StreamrelayError):
    """A message was not submitted in time; `data["queued"]` says whether it stays queued."""

    code = "delivery_timeout"
    exit_code = 45


class CancelTooLate(StreamrelayError):
    """The message to cancel is already pasted or final; `data["state"]` is its state."""

    code = "too_late"
    exit_code = 46
    default_hint = "list all messages with their states: streamrelay delivery list --all"


class DialogChanged(StreamrelayError):
    """The dialog to answer is gone or was replaced, or it ignores its keys."""

    code = "dialog_changed"
    exit_code = 52
    default_hint = "read the dialog that stands there now, and answer that one"


class SessionTaken(StreamrelayError):
    """The session is already in a relay or gathering; it can be in one only."""

    code = "session_taken"
    exit_code = 32
    default_hint = "stop that relay or gathering first"


class NestedGathering(StreamrelayError):
    """A member of a gathering tried to start another one."""

    code = "nested_gathering"
    exit_code = 36
    default_hint = "speak when the piece comes to you; a new gathering can begin when this one has closed"


class PieceNotHeld(StreamrelayError):
    """The caller does not hold the talking piece."""

    code = "piece_not_held"
    exit_code = 37
    default_hint = "the piece comes to each speaker in the order of their numbers"


class InGathering(StreamrelayError):
    """A message from or to a member of a running gathering; members speak only with the talking piece."""

    code = "in_gathering"
    exit_code = 38
    default_hint = "wait until the gathering has closed; until then members speak with the talking piece"


class StartFailed(StreamrelayError):
    """A program was not found, or ended before it was ready; `data["said"]` is its last output."""

    code = "start_failed"
    exit_code = 34
    default_hint = "run the same command in a terminal, with the same arguments, to see all of its output"


class NotAllowed(StreamrelayError):
    """A policy of the user forbids the request to this caller."""

    code = "not_allowed"
    exit_code = 39
    default_hint = "ask the user to allow it: docs/operations.md"


class RecordingError(StreamrelayError):
    """A recording cannot be read or written."""

    code = "recording"
    exit_code = 30
    default_hint = "name a file that `streamrelay record` wrote, or an asciicast; record it again if it is damaged"


class StorageError(StreamrelayError):
    """A database cannot be opened, read or written; the message names its path."""

    code = "storage"
    exit_code = 33
    default_hint = "move the file away to begin a new one"


class DaemonMissing(StreamrelayError):
    """No daemon runs for that tmux server."""

    code = "no_daemon"
    exit_code = 40
    default_hint = "start it: streamrelay daemon start (with -L or -S for another tmux server than the default one)"


class DaemonRunning(StreamrelayError):
    """A daemon already runs for that tmux server."""

    code = "daemon_running"
    exit_code = 41
    default_hint = "show it with `streamrelay daemon status`, or stop it with `streamrelay daemon stop`"


class DaemonLost(StreamrelayError):
    """The daemon ended or timed out during a request."""

    code = "daemon_lost"
    exit_code = 42
    default_hint = "check whether it runs: streamrelay daemon status; accepted messages are in its outbox"


class RedisLost(StreamrelayError):
    """Redis is unreachable or rejected the command."""

    code = "redis_lost"
    exit_code = 43
    default_hint = "check the server at `federation.redis_url`; accepted messages wait here until it is back"


class PeerAway(StreamrelayError):
    """Another node does not answer or has too long a backlog."""

    code = "peer_away"
    exit_code = 44
    default_hint = "check that its daemon runs and that its `federation.peers` names this node: docs/federation.md"


class ConfigError(StreamrelayError):
    """Invalid configuration file; the message names the file, line, key and fault."""

    code = "config"
    exit_code = 31
    default_hint = "correct the file, or move it away"

    def __init__(self, file: str, key: str, wrong: str, *, line: int | None = None, hint: str | None = None) -> None:
        place = file if line is None else f"{file}:{line}"
        where = f"{place}: {key}" if key else place
        known: dict[str, object] = {} if line is None else {"line": line}
        super().__init__(f"{where}: {wrong}", hint=hint, data={"file": file, "key": key, **known})


class AIError(StreamrelayError):
    """A model did not answer; `data` has its `member`, and the vendor's HTTP `status` if there was one.

    The message never contains a key, a prompt or an answer.
    """

    code = "ai_failed"
    exit_code = 47
    default_hint = "docs/council.md#when-a-member-fails"


class AIUnavailable(AIError):
    """A model is temporarily unavailable: rate limit, no connection, or a failure of the vendor's servers."""

    code = "ai_unavailable"
    exit_code = 48
    default_hint = "try again in a minute: /retry NAME"


class AIKeyRefused(AIError):
    """A key is missing, or the vendor does not accept it."""

    code = "ai_key_refused"
    exit_code = 49
    default_hint = "set the variable that the error names, or store the key: keyring set streamrelay VARIABLE"


class AIRequestRefused(AIError):
    """The vendor rejects the request: an unknown model, or too long a conversation."""

    code = "ai_request_refused"
    exit_code = 50
    default_hint = "correct the member's `model` in council.toml: streamrelay council check"


class AICutOff(AIError):
    """A model broke off in the middle of its answer."""

    code = "ai_cut_off"
    exit_code = 51
    default_hint = "it is asked again after the round; /retry NAME asks at once"


def error_with_code(
    code: str, message: str, *, hint: str = "", data: Mapping[str, object] | None = None
) -> StreamrelayError:
    """Return the error with a code, as another process raised it; an unknown code makes a StreamrelayError."""
    kind = {cls.code: cls for cls in _tree(StreamrelayError)}.get(code, StreamrelayError)
    # Some classes compose their message from other arguments; this message is complete.
    error: StreamrelayError = kind.__new__(kind)
    StreamrelayError.__init__(error, message, hint=hint, data=data)
    return error


def error_with_exit_code(exit_code: int, message: str, *, hint: str = "") -> StreamrelayError:
    """Return the error with which a command ended, by its exit code; an unknown one makes a StreamrelayError."""
    code = next((cls.code for cls in _tree(StreamrelayError) if cls.exit_code == exit_code), StreamrelayError.code)
    return error_with_code(code, message, hint=hint)


def _tree(kind: type[StreamrelayError]) -> Iterator[type[StreamrelayError]]:
    yield kind
    for child in kind.__subclasses__():
        yield from _tree(child)
