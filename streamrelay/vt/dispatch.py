"""Which control means what: tables, and the step from a control string to something that can be carried out.

A control string is looked at once: `compile_control` returns a closure over its parameters (see parameters.py).
Unknown sequences do nothing.
"""

import re
from collections.abc import Callable, Mapping
from functools import cache

from streamrelay.vt import cursor as move
from streamrelay.vt import editing as op
from streamrelay.vt.osc import compile_string
from streamrelay.vt.parameters import INT_MAX, Parameters, number, split_sequence
from streamrelay.vt.state import TerminalState
from streamrelay.vt.tokens import JUNK, controls_first, split_run

Operation = Callable[[TerminalState], None]

_INTRODUCER = re.compile(rf"\x1b({JUNK}*)([\]PX^_k])")
_RENDITIONS = 1024
_LIMIT = 8192
_LONGEST = 128


def nothing(_state: TerminalState) -> None:
    """Do nothing: what tmux does on controls it does not know."""


C0: Mapping[str, Operation] = {
    "\a": move.bell,
    "\b": move.backspace,
    "\t": move.tab,
    "\n": move.linefeed,
    "\v": move.linefeed,
    "\f": move.linefeed,
    "\r": move.carriage_return,
    "\r\n": move.new_line,
    "\x0e": lambda state: move.shift(state, True),
    "\x0f": lambda state: move.shift(state, False),
}

ESCAPES: Mapping[str, Operation] = {
    "7": move.save_cursor,
    "8": move.restore_cursor,
    "=": lambda state: op.set_mode(state, "application_keypad", True),
    ">": lambda state: op.set_mode(state, "application_keypad", False),
    "D": move.linefeed,
    "E": move.new_line,
    "H": move.set_tab_stop,
    "M": move.reverse_index,
    "c": op.reset,
    "#8": op.alignment_display,
    "(0": lambda state: move.define_charset(state, "g0", True),
    "(B": lambda state: move.define_charset(state, "g0", False),
    ")0": lambda state: move.define_charset(state, "g1", True),
    ")B": lambda state: move.define_charset(state, "g1", False),
}

COUNTED: Mapping[str, Callable[[TerminalState, int], None]] = {
    "@": op.insert_characters,
    "A": move.cursor_up,
    "B": move.cursor_down,
    "C": move.cursor_forward,
    "D": move.cursor_back,
    "E": move.cursor_down1,
    "F": move.cursor_up1,
    "G": move.cursor_to_column,
    "L": op.insert_lines,
    "M": op.delete_lines,
    "P": op.delete_characters,
    "S": op.scroll_up,
    "T": op.scroll_down,
    "X": op.erase_characters,
    "Z": move.back_tab,
    "`": move.cursor_to_column,
    "b": op.repeat,
    "d": move.cursor_to_line,
}
"""Sequences of one parameter that is at least 1."""

MODES: Mapping[int, Callable[[TerminalState, bool], None]] = {
    4: lambda state, on: op.set_mode(state, "insert", on),
}
PRIVATE_MODES: Mapping[int, Callable[[TerminalState, bool], None]] = {
    1: lambda state, on: op.set_mode(state, "application_cursor", on),
    3: op.set_columns,
    6: op.set_origin,
    7: lambda state, on: op.set_mode(state, "wrap", on),
    25: lambda state, on: op.set_mode(state, "cursor_visible", on),
    47: lambda state, on: op.set_alternate(state, on, with_cursor=False),
    1047: lambda state, on: op.set_alternate(state, on, with_cursor=False),
    1049: lambda state, on: op.set_alternate(state, on, with_cursor=True),
    2004: op.set_bracketed_paste,
    2026: op.synchronize,
}


def compile_control(token: str) -> Operation:
    """Return what the control string `token` (see tokens.py), which is no run of several, does."""
    if token[0] != "\x1b":
        return C0.get(token, nothing)
    introducer = _INTRODUCER.match(token)
    if introducer:
        controls, _ = controls_first(introducer[1])
        operation = compile_string(introducer[2], token[introducer.end() :])
    else:
        controls, token = controls_first(token)
        operation = _compile_csi(token) if token[1:2] == "[" else ESCAPES.get(token[1:], nothing)
    return in_turn(*(C0.get(control, nothing) for control in controls), operation) if controls else operation


class Compiled(dict[str, Operation]):
    """Maps control strings, and runs of them, to what they do; fills itself as they turn up."""

    def __missing__(self, control: str) -> Operation:
        parts = split_run(control)
        operation = in_turn(*[self[part] for part in parts]) if len(parts) > 1 else compile_control(control)
        if len(control) <= _LONGEST:
            if len(self) >= _LIMIT:
                self.clear()
            self[control] = operation
        return operation


@cache
def compiled() -> Compiled:
    """Return the table of the process, shared because what a control does depends on nothing but the control."""
    return Compiled()


def in_turn(*operations: Operation) -> Operation:
    """Return one operation that carries out several."""

    def run(state: TerminalState) -> None:
        for operation in operations:
            operation(state)

    return run


def _compile_csi(sequence: str) -> Operation:
    split = split_sequence(sequence)
    if split is None:
        return nothing
    name, parameters = split
    if name == "m":
        return _graphics(sequence, parameters)
    if name in {"h", "l", "?h", "?l"}:
        table = PRIVATE_MODES if name[0] == "?" else MODES
        modes = [table[mode] for mode in parameters if isinstance(mode, int) and mode in table]
        return in_turn(*(_switch(mode, name[-1] == "h") for mode in modes))
    compile_one = _SEQUENCES.get(name)
    return compile_one(parameters) if compile_one else nothing


def _switch(mode: Callable[[TerminalState, bool], None], on: bool) -> Operation:
    return lambda state: mode(state, on)


def _graphics(sequence: str, parameters: Parameters) -> Operation:
    def select_graphic_rendition(state: TerminalState) -> None:
        key = sequence, state.pen
        known = state.renditions.get(key)
        if known is None or state.acs_pen is not None:
            state.set_style(state.style.after(parameters))
            if len(state.renditions) >= _RENDITIONS:
                state.renditions.clear()
            state.renditions[key] = state.pen
        else:
            symbols = state.grid.symbols
            state.style, state.pen, state.eraser = symbols.styles[known], known, symbols.erasers[known]

    return select_graphic_rendition


def _counted(function: Callable[[TerminalState, int], None]) -> Callable[[Parameters], Operation]:
    def compile_one(parameters: Parameters) -> Operation:
        count = number(parameters, 0, 1, 1)
        return nothing if count < 0 else lambda state: function(state, count)

    return compile_one


def _position(parameters: Parameters) -> Operation:
    line, column = number(parameters, 0, 1, 1), number(parameters, 1, 1, 1)
    return nothing if min(line, column) < 0 else lambda state: move.cursor_position(state, line, column)


def _margins(parameters: Parameters) -> Operation:
    top, bottom = number(parameters, 0, 1, 1), number(parameters, 1, 1, INT_MAX)
    return nothing if min(top, bottom) < 0 else lambda state: op.set_margins(state, top, bottom)


def _erase_in_display(parameters: Parameters) -> Operation:
    how, which = number(parameters, 0, 0, 0), number(parameters, 1, 0, 0)
    return lambda state: op.erase_in_display(state, how, which)


def _erase_in_line(parameters: Parameters) -> Operation:
    how = number(parameters, 0, 0, 0)
    return lambda state: op.erase_in_line(state, how)


def _clear_tab_stop(parameters: Parameters) -> Operation:
    how = number(parameters, 0, 0, 0)
    return lambda state: move.clear_tab_stop(state, how)


def _always(operation: Operation) -> Callable[[Parameters], Operation]:
    return lambda _parameters: operation


_SEQUENCES: Mapping[str, Callable[[Parameters], Operation]] = {
    **{final: _counted(function) for final, function in COUNTED.items()},
    "H": _position,
    "f": _position,
    "J": _erase_in_display,
    "K": _erase_in_line,
    "g": _clear_tab_stop,
    "r": _margins,
    "s": _always(move.save_cursor),
    "u": _always(move.restore_cursor),
}
