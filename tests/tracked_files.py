"""The files of the repository: those that git tracks, and new ones that it does not ignore."""

import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def tracked_files() -> list[str]:
    """Return the paths relative to `ROOT`, deleted files included."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=True,
        timeout=60,
    )
    return [name for name in listed.stdout.decode().split("\0") if name]
