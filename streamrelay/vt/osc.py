"""Control strings: OSC, APC and ESC k. DCS, PM and SOS do nothing here (tmux 3.3a input.c, input_exit_osc).

An OSC that does not begin with a digit does nothing. APC sets the title as OSC 0 does; ESC k names the window,
which is another name than the title. A title that is no UTF-8 is ignored.
"""

import re
from collections.abc import Callable, Mapping

from streamrelay.vt.engine import TerminalEventKind
from streamrelay.vt.state import TerminalState
from streamrelay.vt.tokens import STRAY

_CONTROLS = re.compile(r"[\x00-\x1f]+")
_OSC = re.compile(r"(\d+);?(.*)", re.DOTALL)
_EVENTS: Mapping[int, TerminalEventKind] = {
    9: "notification",
    52: "clipboard",
    133: "prompt_mark",
    633: "prompt_mark",
    7501: "agent_state",
}
_TITLES = (0, 2)


def compile_string(kind: str, body: str) -> Callable[[TerminalState], None]:
    """Return what the control string does whose introducer ends in `kind`; `body` includes its end."""
    payload = _CONTROLS.sub("", body.removesuffix("\x1b\\"))
    valid = STRAY.search(payload) is None
    if not valid:
        payload = payload.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
    if kind == "k":
        return lambda state: state.events.add("title", payload)
    if kind == "_":
        return _title(payload, valid)
    match = _OSC.fullmatch(payload) if kind == "]" else None
    if match is None or len(match[1]) > len("7501"):
        return _nothing
    number, text = int(match[1]), match[2]
    if number in _TITLES:
        return _title(text, valid)
    event = _EVENTS.get(number)
    return _nothing if event is None else lambda state: state.events.add(event, text)


def _title(title: str, valid: bool) -> Callable[[TerminalState], None]:
    return (lambda state: state.set_title(title)) if valid else _nothing


def _nothing(_state: TerminalState) -> None:
    pass
