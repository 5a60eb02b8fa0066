"""`python -m tests.fuzz TARGET --megabytes 100 --seed 0`: fuzz one reader; print how much memory grew."""

import argparse
import random
import sys

from streamrelay.testing.tmux import resident
from tests.fuzz.targets import TARGETS, fuzz

BATCH = 1000
MAX_GROWTH = 20 << 20
"""Bytes by which the resident memory may grow after the first tenth."""


def main() -> int:
    """Run the target that the command line names; return 1 if its memory grows."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("target", choices=[*TARGETS, "all"], help="reader to fuzz")
    parser.add_argument("--megabytes", type=float, default=1.0, help="input of each target (%(default)s)")
    parser.add_argument("--seed", type=int, default=0, help="(%(default)s)")
    given = parser.parse_args()
    grown = 0
    for name in TARGETS if given.target == "all" else [given.target]:
        chance, done, due = random.Random(given.seed), 0, int(given.megabytes * 1e6)
        warm = None
        while done < due:
            done += fuzz(TARGETS[name], BATCH, chance)
            if warm is None and done >= due / 10:
                warm = resident()
        growth = resident() - (warm or 0)
        grown += growth > MAX_GROWTH
        print(f"{name}: {done / 1e6:.1f} MB, no foreign error, memory grew by {growth / 1e6:.1f} MB", flush=True)
    return 1 if grown else 0


if __name__ == "__main__":
    sys.exit(main())
