"""Everything a user can list of a server, to compare before, during and after watching.

What streamrelay may leave while it watches is left out where `hubs` is False: sessions tagged `@streamrelay_hub`,
what is seen through them, and that a window is linked. When a session was used last is never listed: tmux's own order
of sessions by that is compared by what it decides (see `control.hub`). Nor is the name of a window that tmux names by
what runs in it, half a second late.
"""

from collections.abc import Iterable

from streamrelay.testing.tmux import PrivateTmux

_HUB = "#{?@streamrelay_hub,hub,}"
_SESSION = (
    "#{session_id} #{session_name} #{session_windows} #{session_group} #{session_marked} #{session_alerts} "
    "#{session_stack} #{session_path} #{session_created}"
)
_WINDOW = (
    "#{session_id} #{window_id} #{window_index} #{?automatic-rename,,#{window_name}} "
    "#{window_width}x#{window_height} #{window_raw_flags} "
    "#{window_active} #{window_layout} #{window_visible_layout} #{window_panes} #{window_last_flag} "
    "#{window_bell_flag}#{window_activity_flag}#{window_silence_flag} #{window_stack_index}"
)
_LINKED = " #{window_linked} #{window_linked_sessions_list}"
_PANE = (
    "#{session_id} #{window_id} #{pane_id} #{pane_index} #{pane_width}x#{pane_height} #{pane_left},#{pane_top} "
    "#{pane_active} #{pane_last} #{pane_pid} #{pane_title} #{pane_in_mode} #{pane_current_path} #{pane_dead} "
    "#{pane_input_off} #{pane_pipe} #{pane_synchronized} #{pane_marked}"
)
_CLIENT = "#{client_name} #{client_session} #{client_width}x#{client_height} #{client_last_session} #{client_flags}"
_ATTACHED = (
    "#{session_id} #{session_attached} #{window_id} #{window_active_sessions_list} #{window_active_clients_list}"
)
_GLOBAL = (
    ("list-buffers",),
    ("list-commands",),
    ("list-keys",),
    ("show-environment", "-g"),
    ("show-options", "-g"),
    ("show-options", "-gw"),
    ("show-options", "-s"),
    ("show-hooks", "-g"),
    ("show-hooks", "-gw"),
)


def listed(server: PrivateTmux, *, hubs: bool = True) -> dict[str, str]:
    """Return what every `list-*` and `show-*` prints, by command; without what hubs leave unless `hubs`.

    Who is attached is under "clients" and "attached". What programs print and where their cursors are is not listed.
    """
    said = {" ".join(words): server.run(*words) for words in _GLOBAL}

    def rows(*command: str) -> list[str]:
        lines = [line.partition("|") for line in server.run(*command[:-1], "-F", f"{_HUB}|{command[-1]}").splitlines()]
        return [line for tag, _, line in lines if hubs or not tag]

    sessions = rows("list-sessions", _SESSION)
    windows = rows("list-windows", "-a", _WINDOW + (_LINKED if hubs else ""))
    panes = rows("list-panes", "-a", _PANE)
    rest = {
        "sessions": sessions,
        "windows": windows,
        "panes": panes,
        "clients": rows("list-clients", _CLIENT),
        "attached": rows("list-windows", "-a", _ATTACHED),
    }
    said |= {name: "\n".join(lines) for name, lines in rest.items()}
    for session in _firsts(sessions):
        for command in ("show-environment", "show-options", "show-hooks"):
            said[f"{command} {session}"] = server.run(command, "-t", f"{session}:")
    for target, flag in [
        *((one.split(" ")[1], "-w") for one in windows),
        *((one.split(" ")[2], "-p") for one in panes),
    ]:
        for command in ("show-options", "show-hooks"):
            said[f"{command} {flag} {target}"] = server.run(command, flag, "-t", target)
    return said


def _firsts(lines: Iterable[str]) -> list[str]:
    return [line.split(" ", 1)[0] for line in lines]
