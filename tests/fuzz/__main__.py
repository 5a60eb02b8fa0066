"""`python -m tests.fuzz TARGET --megabytes 100 --seed 0`: fuzz one reader or server; print how much memory grew."""

import argparse
import random
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from streamrelay.testing.tmux import resident
from tests.fuzz.servers import SERVERS, Fuzzed, fuzzed
from tests.fuzz.targets import TARGETS, fuzz

BATCH = 1000
MAX_GROWTH = 20 << 20
"""Bytes by which the resident memory may grow after the first tenth."""
MAX_LATE_GROWTH = 8 << 20
"""Bytes by which it may grow in the second half, when all caches are warm: what the allocator keeps in pieces."""


def main() -> int:
    """Run the target that the command line names; return 1 if its memory grows."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("target", choices=[*TARGETS, *SERVERS, "all"], help="reader or server to fuzz")
    parser.add_argument("--megabytes", type=float, default=1.0, help="input of each target (%(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="(%(default)s)")
    given = parser.parse_args()
    names = [*TARGETS, *SERVERS] if given.target == "all" else [given.target]
    grown = sum(grows(name, int(given.megabytes * 1e6), given.seed) for name in names)
    return 1 if grown else 0


def grows(name: str, due: int, seed: int) -> bool:
    """Fuzz one target with so many bytes, and tell whether its memory grew; each tenth is reported on stderr."""
    done, tenths, memory = 0, 0, [0]
    with opened(name, random.Random(seed)) as target:
        while done < due:
            done += target.feed()
            if done * 10 >= due * (tenths + 1):
                now = target.memory()
                # A round may be longer than a tenth.
                memory += [now] * (done * 10 // due - tenths)
                tenths = done * 10 // due
                print(f"{name}: {done / 1e6:.1f} MB, resident {now / 1e6:.1f} MB", file=sys.stderr)
    growth, late = memory[10] - memory[1], memory[10] - memory[5]
    print(
        f"{name}: {done / 1e6:.1f} MB, no foreign error, memory grew by {growth / 1e6:.1f} MB, "
        f"in the second half by {late / 1e6:.1f} MB",
        flush=True,
    )
    return growth > MAX_GROWTH or late > MAX_LATE_GROWTH


@contextmanager
def opened(name: str, chance: random.Random) -> Iterator[Fuzzed]:
    """Give a reader in this process, or a server of its own."""
    if name in TARGETS:
        yield Fuzzed(lambda: fuzz(TARGETS[name], BATCH, chance), resident)
    else:
        with fuzzed(name, chance, fill=True) as server:
            yield server


if __name__ == "__main__":
    sys.exit(main())
