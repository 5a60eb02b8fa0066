"""The command line of the package."""

from benchmarks import measuring
from benchmarks.fidelity import measure, options

if __name__ == "__main__":
    raise SystemExit(measuring.run(options(), measure))
