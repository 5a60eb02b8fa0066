"""Compare what every recording says with what it said: `python -m tests.golden` (see CONTRIBUTING.md).

python -m tests.golden              what differs, by kind of event and recording; status 1 if anything does
python -m tests.golden --lines      the lines themselves as well
python -m tests.golden --write      take what is said now for right
"""

import argparse
import sys

from tests.golden.events import FILE, all_lines, changes, kinds, read, write


def main() -> int:
    """Run the command."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--lines", action="store_true")
    options = parser.parse_args()
    now = all_lines()
    before = read() if FILE.exists() else {}
    found = list(changes(before, now))
    gone, new = (kinds(line for change in found for line in getattr(change, side)) for side in ("gone", "new"))
    for kind in sorted({*gone, *new}):
        print(f"{kind:24} {-gone[kind]:6} {new[kind]:+6}")
    for change in found:
        print(f"{change.name}: {len(change.gone)} lines gone, {len(change.new)} new")
        if options.lines:
            print("\n".join([*(f"  - {line}" for line in change.gone), *(f"  + {line}" for line in change.new)]))
    print(f"{len(found)} of {len(now)} recordings differ")
    if options.write:
        write(now)
        return 0
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
