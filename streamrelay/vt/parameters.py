"""The parameters of control sequences, by tmux's rules (3.3a input.c, input_split).

A missing one takes its default, one under the least makes the least, one with a colon makes the whole sequence void
(but for SGR), and so does one that is no 32-bit number; 24 parameters or more, over 63 bytes of them or 3 prefix and
intermediate bytes void it too.
"""

import re
from collections.abc import Sequence
from typing import Final

from streamrelay.vt.styles import Parameter

Parameters = Sequence[Parameter]

INT_MAX: Final = 2**31 - 1
_CSI = re.compile(r"\x1b\[([<-?]?)([0-9:;]*)([ -/]*)([@-~])")
_BYTES = 63
_COUNT = 24
_PREFIXES = 3


def split_sequence(sequence: str) -> tuple[str, Parameters] | None:
    """Return what names a control sequence (prefix, intermediates, final) and its parameters; None if it is void."""
    match = _CSI.fullmatch(sequence)
    if match is None or len(match[2]) > _BYTES or len(match[1]) + len(match[3]) > _PREFIXES:
        return None
    parameters = _split(match[2])
    return None if parameters is None else (match[1] + match[3] + match[4], parameters)


def graphics_parameters(sequence: str) -> Parameters | None:
    """Return the parameters of an SGR; None if it is void."""
    split = split_sequence(sequence)
    return None if split is None else split[1]


def number(parameters: Parameters, position: int, least: int, default: int) -> int:
    """Return a parameter, -1 where it makes the sequence void."""
    parameter = parameters[position] if position < len(parameters) else None
    if isinstance(parameter, str):
        return -1
    return default if parameter is None else max(parameter, least)


def _split(text: str) -> Parameters | None:
    if not text:
        return ()
    parameters: list[Parameter] = []
    for part in text.split(";"):
        if part.isdigit():
            value = int(part)
            if value > INT_MAX:
                return None
            parameters.append(value)
        else:
            parameters.append(part or None)
    return parameters if len(parameters) < _COUNT else None
