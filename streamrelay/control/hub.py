"""A hub, decided without I/O: one session of our own, into which the windows of watched panes are linked.

A control client hears only the windows linked into its session, so one client on such a session hears any pane of the
server. The rules that keep it out of the user's way (each measured on tmux 3.3a and 3.8):

* It is made, tagged and told to end with its client in one command line by the client that stays on it, so there is no
  moment at which it could be left behind. A tagged session without a control client is left over from a dead process.
* It ends by a hook of its own, not by `destroy-unattached`: that destroys a session while its client is still taking
  its leave, when any other client ends in the same moment, and then a tmux 3.3a crashes (10 of 40 times, with six
  `tmux ls` beside it; with the hook never).
* It ends without subscriptions. tmux looks at those once a second, in the session of their client, and where that has
  been killed and the client has output to take before it can go, tmux dies of it (3.3a and 3.5a, control.c,
  control_check_subs_session; not 3.8), and all sessions with it.
* Its current window is a window of its own, always. Attaching makes a client the "latest" of the current window, gives
  that window's program the focus and clears its flags; so no user's window is ever current here.
* It is the session used longest ago. tmux takes the session used last for whatever names only a window or a pane, or
  nothing at all from inside a pane: with a hub in front, `tmux new-window` typed in a detached session's pane would
  open in the hub. Nothing can make a hub older, so one client visits every other session once, in the order in which
  they were used (`visiting`): what tmux decides by that order stays as it was.
* A window lives as long as a session holds it, and a hub must not count. What only hubs hold is killed
  (`unlink-window -k`), unless it looks as if tmux would have refused: `unlink-window` without `-k` succeeds for a
  window that a hub holds too, and then leaves its session with a hole at its index. Such a window is handed back.
* Alerts of linked windows are not acted upon a second time (`*-action none`).
* A person who comes into a hub, thrown there by `detach-on-destroy off` or walking through the sessions, is sent where
  he would have come without it (`onward`). Hubs alone are no reason for a server to live.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Final

from streamrelay.control.quoting import command_line

TAG: Final = "@streamrelay_hub"
IS_HUB: Final = f"?{TAG},1,0"
"""The inside of a format that is 1 for whatever is seen through a hub."""

DEATHS: Final = "streamrelay-dead"
"""The subscription that tells which panes are dead."""
STOP_FOLLOWING_DEATHS: Final = command_line(("refresh-client", "-B", DEATHS))
"""What a client says last: then it goes, and the hub's hook ends the hub."""
FOLLOW_DEATHS: Final = command_line(("refresh-client", "-B", DEATHS + "::#{W:#{P:#{?pane_dead,#{pane_id} ,}}}"))
"""Has tmux tell, once a second, which panes are dead. Of a pane that remains when its program ends, that is told in no
other way, and a subscription to the pane itself is no longer looked at then (tmux 3.8)."""

_OPTIONS: Final = {
    "destroy-unattached": "off",
    "detach-on-destroy": "off",
    "bell-action": "none",
    "activity-action": "none",
    "silence-action": "none",
}
_VISITS: Final = 100
"""Sessions that one passing client visits."""
_WORDS: Final = "This session belongs to streamrelay, which hears the windows linked here. It ends by itself."


def opening(name: str, owner: str, flags: Sequence[str]) -> tuple[str, ...]:
    """Return the words of the command line with which a client makes a hub and attaches to it."""
    here = f"={name}:"
    words = ["new-session", "-E", "-f", ",".join(flags), "-s", name, "-x", "80", "-y", "24", "-c", "/", "--"]
    words += ["sh", "-c", 'echo "$0"; exec cat >/dev/null', _WORDS]
    for option, value in {TAG: owner, **_OPTIONS}.items():
        words += [";", "set-option", "-t", here, option, value]
    end = command_line(("if-shell", "-F", "-t", here, "#{session_attached}", "", f"kill-session -t {here}"))
    words += [";", "set-hook", "-t", here, "client-detached", end]
    return tuple(words)


def end_abandoned(hub: str) -> str:
    """Return the line that ends a hub which was lost and whose client tmux may still believe in."""
    return command_line(
        ("set-option", "-t", f"{hub}:", "detach-on-destroy", "on"),
        ("kill-session", "-t", f"{hub}:"),
    )


def link(hub: str, window: str) -> str:
    """Return the line that links a window into a hub, behind what is there."""
    return command_line(("link-window", "-d", "-s", window, "-t", f"{hub}:"))


def unlink(hub: str, window: str) -> str:
    """Return the line that takes a window out of a hub; the last to hold it ends it."""
    return command_line(("unlink-window", "-k", "-t", f"{hub}:{window}"))


@dataclass(frozen=True, slots=True)
class HubSession:
    """A session, as tmux lists it. `used` is when it was used last (Unix seconds)."""

    session: str
    used: int
    hub: bool
    name: str


LIST_SESSIONS: Final = ("list-sessions", "-F", f"#{{session_id}} #{{session_activity}} #{{{IS_HUB}}} #{{session_name}}")


def parse_sessions(lines: Iterable[str]) -> list[HubSession]:
    """Return the sessions of a reply to `LIST_SESSIONS`; lines that are none are left out."""
    found = []
    for line in lines:
        fields = line.split(" ", 3)
        if len(fields) == 4 and fields[0].startswith("$") and fields[1].isdecimal():
            found.append(HubSession(fields[0], int(fields[1]), fields[2] == "1", fields[3]))
    return found


@dataclass(frozen=True, slots=True)
class WindowLink:
    """A place at which a window is linked."""

    session: str
    index: int
    window: str
    hub: bool


LIST_PLACES: Final = ("list-windows", "-a", "-F", f"#{{session_id}} #{{window_index}} #{{window_id}} #{{{IS_HUB}}}")


def parse_window_links(lines: Iterable[str]) -> list[WindowLink]:
    """Return the places of a reply to `LIST_PLACES`; lines that are none are left out."""
    found = []
    for line in lines:
        fields = line.split(" ")
        if len(fields) == 4 and fields[0].startswith("$") and fields[1].isdecimal():
            found.append(WindowLink(fields[0], int(fields[1]), fields[2], fields[3] == "1"))
    return found


def visiting(sessions: Iterable[HubSession]) -> list[tuple[str, ...]]:
    """Return the words with which passing clients, one after the other, visit every session but hubs.

    The one used longest ago comes first. Several clients, because tmux takes 16 KiB of arguments at most. An error
    drops the rest of a line, except inside `if-shell`: without it, a session that has ended meanwhile would keep the
    client from detaching.
    """
    order = sorted((one for one in sessions if not one.hub), key=lambda one: (one.used, int(one.session[1:])))
    lines = []
    for at in range(0, len(order), _VISITS):
        first, *others = order[at : at + _VISITS]
        words = ["attach-session", "-E", "-f", "ignore-size,no-output", "-t", first.session]
        for one in others:
            words += [";", "if-shell", "-F", "1", command_line(("switch-client", "-E", "-t", one.session))]
        lines.append((*words, ";", "detach-client"))
    return lines


def leftovers(sessions: Iterable[HubSession], listened_to: Iterable[str]) -> list[str]:
    """Return the hubs to which no control client is attached any more."""
    alive = set(listened_to)
    return [one.session for one in sessions if one.hub and one.session not in alive]


_CLIENT: Final = "client "
LOOK_FOR_LEFTOVERS: Final = command_line(
    LIST_SESSIONS, ("list-clients", "-F", _CLIENT + "#{session_id} #{client_control_mode}")
)
"""Lists sessions and clients at one moment: tmux runs one line in one go.

A hub and its client come into being with one command, so a hub that is listed without its client has lost it, for good.
Two lines would list a hub without its client if it began between them.
"""


def parse_leftovers(lines: Sequence[str]) -> list[str]:
    """Return the hubs in a reply to `LOOK_FOR_LEFTOVERS` to which no control client is attached any more."""
    clients = [line.removeprefix(_CLIENT).split(" ") for line in lines if line.startswith(_CLIENT)]
    return leftovers(parse_sessions(lines), [fields[0] for fields in clients if fields[-1] == "1"])


def only_hubs(sessions: Iterable[HubSession]) -> bool:
    """Return whether no session is left but hubs."""
    return all(one.hub for one in sessions)


def let_go(window: str, former: WindowLink, places: Sequence[WindowLink]) -> WindowLink | None:
    """Tell where to hand back a window that only hubs hold now and that was at `former`; None if it is to end.

    A session that ended takes its windows along; an index that another window has was taken with `-k`.
    """
    its = [place for place in places if place.session == former.session]
    if not its or any(place.index == former.index for place in its):
        return None
    return WindowLink(former.session, former.index, window, hub=False)


def onward(sessions: Sequence[HubSession], hub: str, came_from: str, policy: str) -> str | None:
    """Return the session where a client that came into `hub` belongs; None where tmux would have let it go.

    `came_from` is the name of the session it was on, empty if that is gone: then `detach-on-destroy` moved it, and
    `policy` is the server's value of that. "next" and "previous" go by name. "off" took the session used longest ago
    up to tmux 3.3a, which a hub always is, and takes the one used last in later versions, which a hub never is while
    there is another.
    """
    by_name = sorted(sessions, key=lambda one: one.name.encode("utf-8", "surrogateescape"))
    others = [one for one in by_name if not one.hub]
    here = next((at for at, one in enumerate(by_name) if one.session == hub), None)
    if not others or here is None:
        return None
    following = next(one for one in (*by_name[here:], *by_name) if not one.hub)
    preceding = next(one for one in (*reversed(by_name[:here]), *reversed(by_name)) if not one.hub)
    known: Mapping[str, HubSession] = {one.name: one for one in others}
    if came_from in known:
        if known[came_from] is preceding:
            return following.session
        return preceding.session if known[came_from] is following else known[came_from].session
    if policy in {"next", "previous"}:
        return (following if policy == "next" else preceding).session
    return min(others, key=lambda one: one.used).session
