"""Every error streamrelay raises, in one tree.

    StreamrelayError
    ├── TmuxError
    │   ├── TmuxMissing          the tmux binary cannot be run
    │   ├── TmuxTooOld           older than the oldest supported version
    │   ├── NoServer             nobody listens on the socket
    │   ├── ServerLost           the server or its connection went away while in use
    │   ├── CommandFailed        tmux refused a command; carries tmux's own words
    │   ├── CommandTimeout       tmux did not answer a command in time
    │   ├── BadCommand           the command cannot be written as one line of tmux's language
    │   └── SshFailed            the machine of the tmux server cannot be reached by ssh; carries ssh's own words
    ├── TargetNotFound           no session, window or pane of that name
    ├── PaneGone                 the pane was closed
    ├── ProgramLeft              the program addressed is no longer in the foreground of its pane
    ├── ShellRefused             peer text was to go into a shell, and nobody allowed that
    ├── TargetNotReading         the program does not read what is typed to it
    ├── PaneSynchronized         what is typed to the pane would go to its neighbours too
    ├── PaneTaken                another process types into the pane already
    ├── SessionTaken             the session is in a relay or circle already
    ├── DeliveryFailed           a message was not delivered; carries the reason
    ├── DeliveryUnconfirmed      nobody can tell whether a message was delivered
    ├── AnswerTimeout            a message was submitted, and not answered in time
    ├── DeliveryTimeout          a message was not submitted in time; says whether it is still queued
    ├── CancelTooLate            a message to be cancelled was pasted before, or is done
    ├── NestedGathering          a gathering was to be started from within one
    ├── PieceNotHeld             somebody else holds the talking piece
    ├── InGathering              a message from or to a member of a gathering, beside the talking piece
    ├── NotAllowed               a policy of the user's refuses it to whoever asks
    ├── StartFailed              a program to be started was not found, or ended before it was ready
    ├── RecordingError           a recording cannot be read or written
    ├── StorageError             a database of the user's cannot be used
    ├── ConfigError              a file of the user's says something that makes no sense
    ├── DaemonMissing            no daemon runs for that tmux server
    ├── DaemonRunning            a daemon runs for that tmux server already
    ├── DaemonLost               the daemon went away while it was asked
    ├── RedisLost                the Redis server between machines cannot be reached, or does not do what it is asked
    ├── PeerAway                 another node does not answer, or has too much to catch up with
    ├── AIError                  a model did not answer
    │   ├── AIUnavailable        for now: too many requests, no connection, the vendor's servers fail; tried again
    │   ├── AIKeyRefused         the key is missing, or the vendor does not accept it
    │   ├── AIRequestRefused     the vendor does not take the request
    │   └── AICutOff             it broke off in the midst of its answer
    ├── ExtraMissing             a feature needs an optional package that is not installed
    └── UsageError               arguments that make no sense together
        └── InvalidGathering     a gathering that cannot be held; carries the fault

Each class has a stable `code` (for machines), an `exit_code` (for the command line), `data` (what it is about) and
a `hint` (what to do). Expected ends (a pane that closes while it is watched, a budget that is spent) are events
with a reason, not errors; a command turns such a reason into an exit code through the same table.
"""

from collections.abc import Mapping
from typing import ClassVar


class StreamrelayError(Exception):
    """The root: catch this to catch everything streamrelay raises on purpose."""

    code: ClassVar[str] = "error"
    exit_code: ClassVar[int] = 1
    default_hint: ClassVar[str] = ""

    def __init__(self, message: str, *, hint: str | None = None, data: Mapping[str, object] | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.hint = self.default_hint if hint is None else hint
        self.data: dict[str, object] = dict(data or {})


class UsageError(StreamrelayError):
    """Arguments that make no sense together."""

    code = "usage"
    exit_code = 2


class ExtraMissing(StreamrelayError):
    """A feature needs an optional package that is not installed; `data` names the extra and the package."""

    code = "extra_missing"
    exit_code = 3


class InvalidGathering(UsageError):
    """A gathering that cannot be held; `data["fault"]` says what is wrong with it, and nothing was started."""

    code = "invalid_gathering"
    exit_code = 35
    default_hint = "docs/gatherings.md says what a gathering needs"


class TmuxError(StreamrelayError):
    """tmux cannot be used, or said no."""

    code = "tmux"
    exit_code = 10


class TmuxMissing(TmuxError):
    """The tmux binary cannot be run."""

    code = "tmux_missing"
    exit_code = 11
    default_hint = "install tmux (apt-get install tmux, brew install tmux), or name one with --tmux or STREAMRELAY_TMUX"


class TmuxTooOld(TmuxError):
    """The tmux binary or the running server is older than the oldest supported version."""

    code = "tmux_too_old"
    exit_code = 12
    default_hint = "tmux 3.2 or newer is needed; name another one with --tmux or STREAMRELAY_TMUX"


class NoServer(TmuxError):
    """Nobody listens on the socket."""

    code = "no_server"
    exit_code = 13
    default_hint = "start tmux first, or name the server with -L NAME or -S PATH"


class ServerLost(TmuxError):
    """The server, or the connection to it, went away while in use."""

    code = "server_lost"
    exit_code = 14
    default_hint = "start tmux again and repeat the command; `streamrelay doctor` names known crashes of this tmux"


class CommandFailed(TmuxError):
    """tmux refused a command; the message is tmux's own."""

    code = "command_failed"
    exit_code = 15


class CommandTimeout(TmuxError):
    """tmux did not answer a command in time."""

    code = "command_timeout"
    exit_code = 16
    default_hint = "the tmux server is busy or stopped; see whether it answers: tmux display-message -p ok"


class BadCommand(TmuxError):
    """A command that cannot be written as one line of tmux's command language (an empty line would detach)."""

    code = "bad_command"
    exit_code = 17


class SshFailed(TmuxError):
    """The machine of the tmux server cannot be reached by ssh, or not any more; the message is ssh's own."""

    code = "ssh_failed"
    exit_code = 18
    default_hint = "ssh is run without questions: ssh -o BatchMode=yes HOST true has to work"


class TargetNotFound(StreamrelayError):
    """No session, window or pane of that name."""

    code = "target_not_found"
    exit_code = 20
    default_hint = "`streamrelay ls` lists the panes of this server"


class PaneGone(StreamrelayError):
    """The pane was closed."""

    code = "pane_gone"
    exit_code = 21
    default_hint = "the pane was killed or its program ended; `streamrelay ls` lists what is there"


class ProgramLeft(StreamrelayError):
    """The program addressed is no longer in the foreground of its pane."""

    code = "program_left"
    exit_code = 22
    default_hint = "start the program again in its pane, then start the relay again"


class ShellRefused(StreamrelayError):
    """Peer text was to go into a shell, and nobody allowed that."""

    code = "shell_refused"
    exit_code = 23
    default_hint = "a shell would run what its peers say; start a program in the pane, or pass --allow-shell"


class TargetNotReading(StreamrelayError):
    """The program does not read what is typed to it."""

    code = "target_not_reading"
    exit_code = 24
    default_hint = "the program in that pane is busy or never reads its terminal; look at the pane"


class PaneSynchronized(StreamrelayError):
    """What is typed to the pane would go to its neighbours too."""

    code = "pane_synchronized"
    exit_code = 25
    default_hint = "tmux set-option -w synchronize-panes off, in that window"


class PaneTaken(StreamrelayError):
    """Another process types into the pane already: `data` names its kind (`holder`) and `pid`, if they are known."""

    code = "pane_taken"
    exit_code = 26
    default_hint = "a pane has one writer: end the daemon, relay, link, send or recording that types into it first"


class DeliveryFailed(StreamrelayError):
    """A message was not delivered; `data["reason"]` is that of its receipt (docs/events.md)."""

    code = "delivery_failed"
    exit_code = 27
    default_hint = "look at the pane; nothing is sent again by itself"


class DeliveryUnconfirmed(StreamrelayError):
    """Nobody can tell whether a message was delivered."""

    code = "delivery_unconfirmed"
    exit_code = 28
    default_hint = "look at the pane before you send it again"


class AnswerTimeout(StreamrelayError):
    """A message was submitted, and not answered in time."""

    code = "answer_timeout"
    exit_code = 29
    default_hint = "the program is still at work, or does not say when it is done; give it longer with --timeout"


class DeliveryTimeout(StreamrelayError):
    """A message was not submitted in time; `data["queued"]` says whether it stays queued."""

    code = "delivery_timeout"
    exit_code = 45


class CancelTooLate(StreamrelayError):
    """A message to be cancelled was pasted before, or is done; `data["state"]` says how it stands."""

    code = "too_late"
    exit_code = 46
    default_hint = "streamrelay delivery show ID prints how it stands"


class SessionTaken(StreamrelayError):
    """The session is in a relay or circle already, and can be in one only."""

    code = "session_taken"
    exit_code = 32
    default_hint = "stop that one first"


class NestedGathering(StreamrelayError):
    """A gathering was to be started from within one."""

    code = "nested_gathering"
    exit_code = 36
    default_hint = "speak when the piece comes to you; a new gathering can begin when this one has closed"


class PieceNotHeld(StreamrelayError):
    """Somebody else holds the talking piece, or nobody does."""

    code = "piece_not_held"
    exit_code = 37
    default_hint = "the piece comes to each speaker in the order of their numbers"


class InGathering(StreamrelayError):
    """A message was to be sent from or to a member of a gathering that is being held: its words go by the piece."""

    code = "in_gathering"
    exit_code = 38
    default_hint = "what is said goes by the talking piece; wait until the gathering is closed"


class StartFailed(StreamrelayError):
    """A program to be started was not found, or ended before it was ready: `data["said"]` is what it printed last."""

    code = "start_failed"
    exit_code = 34
    default_hint = "run the same command in a terminal, with the same arguments, to see all of its output"


class NotAllowed(StreamrelayError):
    """A policy of the user's refuses it to whoever asks."""

    code = "not_allowed"
    exit_code = 39
    default_hint = "a person can allow it: docs/operations.md"


class RecordingError(StreamrelayError):
    """A recording cannot be read or written."""

    code = "recording"
    exit_code = 30


class StorageError(StreamrelayError):
    """A database of the user's cannot be opened, read or written; names its path."""

    code = "storage"
    exit_code = 33
    default_hint = "move the file away to begin a new one"


class DaemonMissing(StreamrelayError):
    """No daemon runs for that tmux server."""

    code = "no_daemon"
    exit_code = 40
    default_hint = "start it: streamrelay daemon start (with -L or -S for another tmux server than the default one)"


class DaemonRunning(StreamrelayError):
    """A daemon runs for that tmux server already."""

    code = "daemon_running"
    exit_code = 41
    default_hint = "`streamrelay daemon status` tells of it, `streamrelay daemon stop` ends it"


class DaemonLost(StreamrelayError):
    """The daemon went away, or did not answer in time, while it was asked."""

    code = "daemon_lost"
    exit_code = 42
    default_hint = "`streamrelay daemon status` tells whether it runs; what was accepted is in its outbox"


class RedisLost(StreamrelayError):
    """The Redis server between machines cannot be reached, or does not do what it is asked."""

    code = "redis_lost"
    exit_code = 43
    default_hint = "what was accepted waits here until it is back; `federation.redis_url` says where it is looked for"


class PeerAway(StreamrelayError):
    """Another node does not answer, or has too much to catch up with."""

    code = "peer_away"
    exit_code = 44
    default_hint = "is its daemon running, and are we among its `federation.peers`? docs/federation.md"


class ConfigError(StreamrelayError):
    """A file of the user's says something that makes no sense; names the file, the line, the key and what is wrong."""

    code = "config"
    exit_code = 31
    default_hint = "correct the file, or move it away"

    def __init__(self, file: str, key: str, wrong: str, *, line: int | None = None, hint: str | None = None) -> None:
        place = file if line is None else f"{file}:{line}"
        where = f"{place}: {key}" if key else place
        known: dict[str, object] = {} if line is None else {"line": line}
        super().__init__(f"{where}: {wrong}", hint=hint, data={"file": file, "key": key, **known})


class AIError(StreamrelayError):
    """A model did not answer; `data` has its `member`, and the vendor's HTTP `status` where there was one.

    The message never holds a key, nor what was said to the model or by it.
    """

    code = "ai_failed"
    exit_code = 47
    default_hint = "docs/council.md#when-a-member-fails"


class AIUnavailable(AIError):
    """A model cannot be had for now: too many requests, no connection, or its vendor's servers fail."""

    code = "ai_unavailable"
    exit_code = 48
    default_hint = "try again in a minute: /retry NAME"


class AIKeyRefused(AIError):
    """A key is missing, or the vendor does not accept it."""

    code = "ai_key_refused"
    exit_code = 49
    default_hint = "set the variable that the error names, or store the key: keyring set streamrelay VARIABLE"


class AIRequestRefused(AIError):
    """The vendor does not take the request: an unknown model, or too long a conversation."""

    code = "ai_request_refused"
    exit_code = 50
    default_hint = "correct the member's `model` in council.toml: streamrelay council check"


class AICutOff(AIError):
    """A model broke off in the midst of its answer."""

    code = "ai_cut_off"
    exit_code = 51
    default_hint = "it is asked again after the round; /retry NAME asks at once"
