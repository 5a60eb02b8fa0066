"""The state of the machine, from /proc and the disk."""

import os
import shutil
from collections.abc import Iterable
from pathlib import Path

from streamrelay.pulse.model import Disk, SystemState

_MEMORY = Path("/proc/meminfo")
_KILOBYTE = 1024


def system_state(folders: Iterable[str] = ()) -> SystemState:
    """Return load, memory, and room on the file systems of home and of those folders. Blocking: for a thread."""
    free, total = _memory()
    return SystemState(
        load=os.getloadavg()[0],
        processors=os.cpu_count() or 1,
        memory_free=free,
        memory_total=total,
        disks=tuple(_disks([str(Path.home()), *folders])),
    )


def _memory() -> tuple[int | None, int | None]:
    """Return the available and the total memory in bytes, as far as they are known."""
    try:
        lines = _MEMORY.read_text(encoding="ascii").splitlines()
    except OSError:
        # macOS tells the whole alone.
        return None, os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    told = {name: int(value.split()[0]) * _KILOBYTE for name, _, value in (line.partition(":") for line in lines)}
    return told.get("MemAvailable"), told.get("MemTotal")


def _disks(folders: Iterable[str]) -> Iterable[Disk]:
    seen: set[int] = set()
    for folder in folders:
        try:
            device = Path(folder).stat().st_dev
            if device in seen:
                continue
            seen.add(device)
            usage = shutil.disk_usage(folder)
        except OSError:
            continue
        yield Disk(folder=folder, free=usage.free, total=usage.total)
