"""The simplest way to listen to a pane: take the escape sequences out of its bytes, and read what is left as lines.

* A line ends at a line feed; after carriage returns, what was printed last stands.
* The echo is found by its text: a line that equals an injected line is dropped, once for each time it was injected.
* It knows no screen and no turns: what is painted twice is said twice, and no turn ever ends.
"""

import re
from collections import Counter
from collections.abc import Iterator

from streamrelay.events import Event, Text
from streamrelay.recordings import Output, Pasted, Recording

ESCAPES = re.compile(
    r"""
    \x1b \] [^\x07\x1b]* (?: \x07 | \x1b\\ )?      # OSC
    | \x1b [PX^_k] .*? (?: \x1b\\ | \Z )           # DCS, SOS, PM, APC, the title of screen
    | \x1b \[ [0-?]* [\ -/]* (?: [@-~] | \Z )       # CSI
    | \x1b [\ -/]* [0-~]                           # all others
    | [\x00-\x08\x0b\x0c\x0e-\x1f\x7f]             # control characters, but tab, line feed, carriage return
    """,
    re.VERBOSE | re.DOTALL,
)


def stripped(recording: Recording) -> Iterator[Event]:
    """Yield what is left of a recording without its escape sequences, line by line."""
    echoes: dict[str, Counter[str]] = {}
    unfinished: dict[str, bytes] = {}
    now = 0.0
    said = 0

    def texts(pane: str, lines: list[bytes]) -> Iterator[Event]:
        nonlocal said
        for line in lines:
            text = plain(line)
            if not text.strip():
                continue
            ledger = echoes.get(pane, Counter())
            if ledger[text.strip()] > 0:
                ledger[text.strip()] -= 1
                continue
            said += 1
            yield Text(t=now, pane=pane, text=text, origin="program", line=said)

    for entry in recording.entries():
        now = entry.t
        match entry:
            case Output():
                *lines, unfinished[entry.pane] = (unfinished.get(entry.pane, b"") + entry.data).split(b"\n")
                yield from texts(entry.pane, lines)
            case Pasted():
                ledger = echoes.setdefault(entry.pane, Counter())
                ledger.update(line.strip() for line in entry.text.split("\n"))
    for pane, rest in unfinished.items():
        yield from texts(pane, [rest])


def plain(line: bytes) -> str:
    """Return the text of a line of output: what stands after its last carriage return, if anything does."""
    text = ESCAPES.sub("", line.decode(errors="replace"))
    return next((part.rstrip() for part in reversed(text.split("\r")) if part.strip()), "")
