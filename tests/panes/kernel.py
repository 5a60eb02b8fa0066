"""What the kernel that runs the tests shows of processes."""

import contextlib
import subprocess
import time
from pathlib import Path


def shows_waits() -> bool:
    """Return whether the kernel shows where a process sleeps; some always give `0`, or have no such file."""
    with subprocess.Popen(["sleep", "60"]) as process:
        try:
            for _ in range(50):
                with contextlib.suppress(OSError):
                    if "nanosleep" in Path(f"/proc/{process.pid}/wchan").read_text():
                        return True
                time.sleep(0.02)
            return False
        finally:
            process.kill()
