"""Which tmux commands a control connection carries with the same result as a process. Pure.

A control client differs from the process that libtmux starts in four ways. It is attached to a session, so a command
without a target would act on that session. It has the working folder and environment of its own start. It runs one
command after the other, so a command that waits holds up all later ones. And it ends when its session ends.

`route` therefore carries a command only if its name and each of its options are in `CARRIED` and each target names a
session, window or pane by itself. Every other command becomes a process, as in libtmux; `NOT_CARRIED` gives the reason
for each.

    route(["list-panes", "-t", "@3", "-F", "#{pane_id}"])   # Route("connection", "")
    route(["new-session", "-d"])                            # Route("process", "it takes the folder ...")
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal

Way = Literal["connection", "process", "process alone"]
"""By the connection, by a process, or by a process while no client of ours is attached."""


@dataclass(frozen=True, slots=True)
class Route:
    """The way of one command, and the reason if it is a process."""

    way: Way
    reason: str = ""


@dataclass(frozen=True, slots=True)
class _Spec:
    """The options of a command as getopt writes them, and which of them make a command independent of a session."""

    options: str
    targets: str = ""
    """Options that name a session (`s`), window or pane (`w`), as "t=w s=w"; each of them has to be given."""
    without_target: str = ""
    """Flags with which the command needs no target."""
    needs: str = ""
    """Flags without which the command is not carried."""

    @property
    def required(self) -> dict[str, str]:
        return dict(pair.split("=") for pair in self.targets.split())


CARRIED: Final[Mapping[str, _Spec]] = {
    "capture-pane": _Spec("ab:CeE:JNpPqS:Tt:", "t=w"),
    "clear-history": _Spec("Ht:", "t=w"),
    "clear-prompt-history": _Spec("T:"),
    "clock-mode": _Spec("t:", "t=w"),
    "copy-mode": _Spec("eHt:uq", "t=w"),
    "delete-buffer": _Spec("b:"),
    "display-message": _Spec("apvt:F:", "t=w", needs="p"),
    "has-session": _Spec("t:", "t=s"),
    "join-pane": _Spec("bdfhvp:l:s:t:", "s=w t=w"),
    "last-pane": _Spec("det:Z", "t=w"),
    "last-window": _Spec("t:", "t=s"),
    "link-window": _Spec("abdks:t:", "s=w t=w"),
    "list-buffers": _Spec("F:f:"),
    "list-commands": _Spec("F:"),
    "list-keys": _Spec("1aNP:T:"),
    "list-panes": _Spec("asF:f:t:", "t=w", without_target="a"),
    "list-sessions": _Spec("F:f:"),
    "list-windows": _Spec("F:f:at:", "t=s", without_target="a"),
    "move-pane": _Spec("bdfhvp:l:s:t:", "s=w t=w"),
    "move-window": _Spec("abdks:t:", "s=w t=w"),
    "next-layout": _Spec("t:", "t=w"),
    "next-window": _Spec("at:", "t=s"),
    "paste-buffer": _Spec("db:prs:t:", "t=w"),
    "previous-layout": _Spec("t:", "t=w"),
    "previous-window": _Spec("at:", "t=s"),
    "rename-session": _Spec("t:", "t=s"),
    "rename-window": _Spec("t:", "t=w"),
    "resize-pane": _Spec("DLRTt:Ux:y:Z", "t=w"),
    "resize-window": _Spec("aADLRt:Ux:y:", "t=w"),
    "rotate-window": _Spec("DUZt:", "t=w"),
    "select-layout": _Spec("Enopt:", "t=w"),
    "select-pane": _Spec("DdegLlMmP:RT:t:UZ", "t=w"),
    "select-window": _Spec("lnpTt:", "t=w"),
    "send-keys": _Spec("FHlN:Rt:X", "t=w"),
    "send-prefix": _Spec("2t:", "t=w"),
    "set-buffer": _Spec("ab:n:"),
    "set-environment": _Spec("Fhgrt:u", "t=s", without_target="g"),
    "set-hook": _Spec("agpt:uw", "t=w", without_target="g"),
    "set-option": _Spec("aFgopqst:uUw", "t=w", without_target="gs"),
    "set-window-option": _Spec("aFgoqt:u", "t=w", without_target="g"),
    "show-environment": _Spec("hgst:", "t=s", without_target="g"),
    "show-hooks": _Spec("gpt:w", "t=w", without_target="g"),
    "show-options": _Spec("AgHpqst:vw", "t=w", without_target="gs"),
    "show-prompt-history": _Spec("T:"),
    "show-window-options": _Spec("gvt:", "t=w", without_target="g"),
    "swap-pane": _Spec("dDs:t:UZ", "s=w t=w"),
    "swap-window": _Spec("ds:t:", "s=w t=w"),
    "unbind-key": _Spec("anqT:"),
}

_CLIENT: Final = "it acts on the client that tmux finds, which would be the connection"
_FOLDER: Final = "it takes the folder and the PATH of the process that runs it"
_WAITS: Final = "it waits, which would hold up every later command"
_ENDS: Final = "it may end the session that the connection is attached to, and its reply with it"
_FILES: Final = "it reads or writes files of the process that runs it"
_RUNS: Final = "it runs further commands, which are any of the others"
_RAW: Final = "its output is bytes, which control mode escapes"
_PLACE: Final = "where it goes without a target depends on the session of its client"

NOT_CARRIED: Final[Mapping[str, str]] = {
    "attach-session": _CLIENT,
    "bind-key": _RUNS,
    "break-pane": _PLACE,
    "choose-buffer": _CLIENT,
    "choose-client": _CLIENT,
    "choose-tree": _CLIENT,
    "command-prompt": _CLIENT,
    "confirm-before": _CLIENT,
    "customize-mode": _CLIENT,
    "detach-client": _CLIENT,
    "display-menu": _CLIENT,
    "display-panes": _CLIENT,
    "display-popup": _CLIENT,
    "find-window": _CLIENT,
    "if-shell": _RUNS,
    "kill-pane": _ENDS,
    "kill-server": _ENDS,
    "kill-session": _ENDS,
    "kill-window": _ENDS,
    "list-clients": _CLIENT,
    "load-buffer": _FILES,
    "lock-client": _CLIENT,
    "lock-server": _CLIENT,
    "lock-session": _CLIENT,
    "new-pane": _FOLDER,
    "new-session": _FOLDER,
    "new-window": _FOLDER,
    "pipe-pane": _FOLDER,
    "refresh-client": _CLIENT,
    "respawn-pane": _FOLDER,
    "respawn-window": _FOLDER,
    "run-shell": _RUNS,
    "save-buffer": _FILES,
    "server-access": _CLIENT,
    "show-buffer": _RAW,
    "show-messages": _CLIENT,
    "source-file": _RUNS,
    "split-window": _FOLDER,
    "start-server": _ENDS,
    "suspend-client": _CLIENT,
    "switch-client": _CLIENT,
    "switch-mode": _CLIENT,
    "unlink-window": _ENDS,
    "wait-for": _WAITS,
}
"""Commands that are always a process, and why."""

_ALONE: Final = frozenset({_CLIENT, _RUNS})
"""Reasons for which no client of ours may be attached: tmux would find it where it finds none with libtmux."""

_OF_A_CLIENT = re.compile(r"#\{[^}]*(?<![a-z_])client_")
"""A format that tmux fills in for a client."""
_PLAIN_SESSION = r"[A-Za-z0-9_/][^:.]*"
_SESSION = re.compile(rf"(?:\$\d+|={_PLAIN_SESSION}|{_PLAIN_SESSION}):?")
_WINDOW_OR_PANE = re.compile(
    rf"%\d+|@\d+(?:\.\d+|\.%\d+)?|\$\d+|(?:\$\d+|=?{_PLAIN_SESSION}):(?:@?\d+(?:\.(?:%?\d+))?)?"
)


def route(command: Sequence[str]) -> Route:
    """Decide how a command goes: its name and its arguments, as `libtmux.Server.cmd` gives them to a process."""
    name, *words = command
    if (reason := NOT_CARRIED.get(name)) is not None:
        return Route("process alone" if reason in _ALONE else "process", reason)
    spec = CARRIED.get(name)
    if spec is None:
        return Route("process alone", "its name is an alias, or unknown to this version of streamrelay")
    if any(_ends_command(word) for word in words):
        return Route("process alone", _RUNS)
    if any("#(" in word for word in words):
        return Route("process", "it runs a shell command inside a format")
    if any(_OF_A_CLIENT.search(word) for word in words):
        return Route("process alone", _CLIENT)
    given: dict[str, str] = {}
    for option, value in _options(words, spec.options):
        if not option:
            return Route("process alone", "an option is unknown to this version of streamrelay")
        given[option] = value
    if not set(spec.needs) <= given.keys():
        return Route("process alone", _CLIENT)
    if set(spec.without_target) & given.keys() and "t" not in given:
        return Route("connection")
    for option, kind in spec.required.items():
        pattern = _SESSION if kind == "s" else _WINDOW_OR_PANE
        if not pattern.fullmatch(given.get(option, "")):
            return Route("process", _PLACE)
    return Route("connection")


def literal(words: Sequence[str]) -> list[str]:
    r"""Return arguments as tmux reads them from a process: `\;` at the end of one is a semicolon."""
    return [word[:-2] + ";" if word.endswith("\\;") else word for word in words]


def _ends_command(word: str) -> bool:
    return word.endswith(";") and not word.endswith("\\;")


def _options(words: Sequence[str], options: str) -> Iterator[tuple[str, str]]:
    """Yield each option and its value, as getopt finds them; an empty option stands for an unknown one."""
    takes = {option: options[at + 1 : at + 2] == ":" for at, option in enumerate(options) if option != ":"}
    waiting = iter(words)
    for word in waiting:
        if len(word) < 2 or word[0] != "-" or word == "--":
            return
        at = 1
        while at < len(word):
            option = word[at]
            at += 1
            if option not in takes:
                yield "", word
                return
            if takes[option]:
                yield option, word[at:] or next(waiting, "")
                break
            yield option, ""
