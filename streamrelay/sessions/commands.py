"""The command lines that start, list and end sessions; pure.

No shell reads the user's words, and tmux expands none of them:

* tmux hands a command of one word to a shell and executes one of several as it is (spawn.c), so a program always comes
  behind a fixed `sh -c 'exec "$@"'`. That also sets the `PATH`: tmux replaces the one of `new-session -e` by that of a
  client without a session (3.3a spawn.c, spawn_pane).
* `new-session -c` is a format (3.3a cmd-new-session.c), in which `#(...)` would be run and no escape of a `#` holds for
  every version. What an option holds is not expanded again, so the folder travels in one.

Options of its pane identify a session, so they live as long as the pane, also without us. The pane remains when its
program ends. Once the session is released (`RELEASE`), the pane closes as soon as its watcher has read the last output.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

import regex

from streamrelay.control.quoting import command_line
from streamrelay.panes.final_output import RELEASE
from streamrelay.sessions.start_failure import FOREGROUND_FORMAT, MAX_ROWS

SESSION, TITLE, AGENT = "@streamrelay_session", "@streamrelay_title", "@streamrelay_agent"
GATHERING = "@streamrelay_gathering"
"""What a pane was started for, when that was a gathering."""
_FOLDER = "@streamrelay_folder"
_RUN = 'PATH=$1; export PATH; shift; exec "$@"'
_RUN_WITH_ITS_PATH = 'exec "$@"'
_RUNNER = "sh"
BEFORE_PROGRAM = frozenset({"tmux", _RUNNER})
"""What is in the foreground until the program itself is: the server's own child, and what runs the program."""

LIST_MARKS = ("list-panes", "-a", "-F", f"#{{pane_id}}\t#{{{SESSION}}}\t#{{{AGENT}}}\t#{{{TITLE}}}")
FORGET_FOLDER = ("set-option", "-su", _FOLDER)
LOOK_FOR_ENDED = ("run-shell", "true")
"""tmux misses the end of a program that ends while it is being started, 1 of 20 (3.3a), until another child ends."""
_NO_NAME = regex.compile(r"[^\w-]+")


@dataclass(frozen=True, slots=True)
class SessionMark:
    """What a session that was started here is known by."""

    session: str
    agent: str
    title: str


@dataclass(frozen=True, slots=True)
class SessionLaunch:
    """A session that is to be: `name` is tmux's, `words` the program and its arguments."""

    name: str
    mark: SessionMark
    words: Sequence[str]
    cwd: str
    columns: int
    lines: int
    environment: Mapping[str, str]
    own: Mapping[str, str] = field(default_factory=dict)
    """Variables of the program alone: other windows of its tmux session do not get them."""
    is_released: bool = True
    """Whether the pane goes with its program once its last words are read."""


def start_commands(birth: SessionLaunch) -> list[tuple[str, ...]]:
    """Return the commands, for one line, that start a session and print the id of its pane.

    In one line, because a program that ends at once takes a pane with it that is not to remain yet.
    """
    pane = f"={birth.name}:"
    given = {**birth.environment, **birth.own}
    variables = [word for name, value in given.items() for word in ("-e", f"{name}={value}")]
    size = ("-x", str(birth.columns), "-y", str(birth.lines))
    place = ("-s", birth.name, "-c", f"#{{{_FOLDER}}}")
    if (search_path := birth.environment.get("PATH")) is None:
        run = (_RUNNER, "-c", _RUN_WITH_ITS_PATH, _RUNNER, *birth.words)
    else:
        run = (_RUNNER, "-c", _RUN, _RUNNER, search_path, *birth.words)
    options = {
        SESSION: birth.mark.session,
        TITLE: birth.mark.title,
        AGENT: birth.mark.agent,
        **({RELEASE: "1"} if birth.is_released else {}),
        "remain-on-exit": "on",
    }
    return [
        ("set-option", "-s", _FOLDER, birth.cwd),
        ("new-session", "-d", "-P", "-F", "#{pane_id}", *place, *size, *variables, "--", *run),
        *(("set-environment", "-u", "-t", f"={birth.name}", name) for name in birth.own),
        *(("set-option", "-p", "-t", pane, option, value) for option, value in options.items()),
    ]


def foreground_command(pane: str) -> tuple[str, ...]:
    """Return the command that asks whether a pane's program has ended, how, and which one is in its foreground."""
    return ("display-message", "-p", "-t", pane, FOREGROUND_FORMAT)


def release_command(pane: str) -> tuple[str, ...]:
    """Return the command after which a pane goes with its program, once its last words are read.

    It spares a pane whose program has ended by now: a watcher may be about to release it.
    """
    release = command_line(("set-option", "-p", "-t", pane, RELEASE, "1"))
    return ("if-shell", "-F", "-t", pane, "#{?pane_dead,0,1}", release)


def tail_command(pane: str) -> tuple[str, ...]:
    """Return the command that prints the last rows of a pane.

    With some of its history: when a program ends, tmux scrolls the screen by a row to say so (3.3a server-fn.c,
    server_destroy_pane), and that row may be all it printed.
    """
    return ("capture-pane", "-p", "-J", "-t", pane, "-S", str(-MAX_ROWS))


def end_command(pane: str, session: str) -> tuple[str, ...]:
    """Return the command that ends a session if it is the one in the pane: a new server gives the same ids again."""
    return ("if-shell", "-F", "-t", pane, f"#{{==:#{{{SESSION}}},{session}}}", command_line(("kill-pane", "-t", pane)))


def mark_gathering(pane: str, gathering: str) -> tuple[str, ...]:
    """Return the command that marks a session as one that was started for a gathering."""
    return ("set-option", "-p", "-t", pane, GATHERING, gathering)


def parse_marks(lines: Iterable[str]) -> dict[str, SessionMark]:
    """Parse the output of `LIST_MARKS`: the sessions started here, by pane."""
    marks: dict[str, SessionMark] = {}
    for line in lines:
        pane, _, rest = line.partition("\t")
        words = rest.split("\t", 2)
        if pane.startswith("%") and len(words) == 3 and words[0]:
            marks[pane] = SessionMark(*words)
    return marks


def session_name(title: str, taken: Iterable[str]) -> str:
    """Return a name for a tmux session that needs no quoting and that none of the others has."""
    base = _NO_NAME.sub("-", title).strip("-_")[:40] or "session"
    others = set(taken)
    return next(
        name
        for number in range(1, len(others) + 2)
        if (name := base if number == 1 else f"{base}-{number}") not in others
    )
