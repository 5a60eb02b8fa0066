"""What every reader does besides reading: says when it is ready, and what came of it.

    reader MARKER PANE... --socket PATH [--until N] [--transport pipes|cc]

`ready` is printed when the reader is attached and would see the next byte; one line of JSON (`Reading`) once N panes
have said the marker (MARKER-0, MARKER-1 ...; all of them unless told). Readers are processes of their own, so that
none is measured with another's leftovers.
"""

import argparse
import resource
import sys
import time

import msgspec


class Reading(msgspec.Struct):
    """What a reader saw.

    `ended` is when it saw the marker (seconds of the machine's monotonic clock), `cpu` the seconds of processor time
    between ready and marker, of the reader and of the children it has waited for, `seen` the lines by the moment they
    were seen and the place of their pane among those that were asked for, `gaps` how often the stream said that
    something is missing.
    """

    ended: float
    cpu: float
    seen: list[tuple[float, int, list[str]]] = []
    gaps: int = 0

    def texts(self) -> list[str]:
        """Return all lines in order."""
        return [text for _, _, texts in self.seen for text in texts]


def arguments(doc: str | None) -> argparse.ArgumentParser:
    """Return a parser with what all readers take."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("marker", help="what is printed at the end, with the number of the pane behind it")
    parser.add_argument("panes", nargs="+", help="the panes to read")
    parser.add_argument("--until", type=int, default=0, help="how many panes have to end (default: all)")
    parser.add_argument("--socket", required=True, help="the socket of the tmux server")
    parser.add_argument("--tmux", default="tmux", help="the tmux binary")
    parser.add_argument("--transport", choices=["pipes", "cc"], default="pipes")
    return parser


def processor_time() -> float:
    """Return the processor time of this process and of the children it has waited for, in seconds."""
    used = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(usage.ru_utime + usage.ru_stime for usage in used)


class Watch:
    """Announces that the reader is ready, and takes the time from there."""

    def __init__(self) -> None:
        print("ready", flush=True)
        self._cpu = processor_time()

    def stop(self) -> Reading:
        """Return a reading without lines: the marker was seen now."""
        return Reading(ended=time.monotonic(), cpu=processor_time() - self._cpu)


def hand_over(reading: Reading) -> None:
    """Give the reading to whoever started this reader.

    Not by `print`: without a buffer (PYTHONUNBUFFERED) Python drops what the first write left over.
    """
    with open(sys.stdout.fileno(), "wb", closefd=False) as output:
        output.write(msgspec.json.encode(reading) + b"\n")
