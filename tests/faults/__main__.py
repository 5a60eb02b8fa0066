"""`python -m tests.faults --seed 7 [--faults 8] [--seeds 20]`: run schedules; print each seed and its verdict."""

import argparse
import asyncio
import shutil
import sys
import time
from pathlib import Path
from typing import get_args

from streamrelay.testing.tmux import PrivateTmux
from tests.faults.campaign import run_campaign
from tests.faults.schedule import FAULTS, FaultKind, schedule
from tests.faults.stage import own_home


def main() -> int:
    """Run the seeds that the command line names; return 1 if the checker finds anything."""
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description=__doc__)
    parser.add_argument("--seed", type=int, default=0, help="first seed (%(default)s)")
    parser.add_argument("--seeds", type=int, default=1, help="number of seeds (%(default)s)")
    parser.add_argument("--faults", type=int, default=8, help="faults of each schedule (%(default)s)")
    parser.add_argument("--kinds", nargs="+", choices=get_args(FaultKind), default=FAULTS, help="kinds of faults")
    parser.add_argument("--without-gathering", action="store_true", help="leave the gathering out")
    parser.add_argument("--keep", type=Path, help="folder that keeps the logs and the database of each failing seed")
    given = parser.parse_args()
    wrong = 0
    for seed in range(given.seed, given.seed + given.seeds):
        began = time.monotonic()
        faults = schedule(seed, given.faults, given.kinds)
        with PrivateTmux() as tmux, own_home(tmux.directory) as state:
            verdict = None
            try:
                verdict = asyncio.run(
                    run_campaign(tmux, tmux.directory / "exchange", state, faults, gathers=not given.without_gathering)
                )
            finally:
                if given.keep and (verdict is None or verdict.findings):
                    shutil.copytree(tmux.directory, given.keep / f"seed-{seed}", ignore=_sockets, dirs_exist_ok=True)
        wrong += bool(verdict.findings)
        print(f"seed {seed}: {verdict} ({time.monotonic() - began:.1f} s)", flush=True)
        for finding in verdict.findings[:20]:
            print("   ", *finding)
        if verdict.findings:
            print("    faults:", " ".join(fault.kind for fault in faults))
    return 1 if wrong else 0


def _sockets(folder: str, names: list[str]) -> list[str]:
    return [name for name in names if (Path(folder) / name).is_socket()]


if __name__ == "__main__":
    sys.exit(main())
