"""Looking up a program: only in the PATH of the process that asks for the session.

The tmux server and the daemon have PATHs of their own, as old as they are: an agent that nvm installed is on the PATH
of the user's shell alone. So the asking process passes its PATH on; the program is found in it, starts by its absolute
path, and has that PATH itself, because most agents are scripts for an interpreter that is found the same way.
"""

import os
import shutil
from collections.abc import Mapping
from pathlib import Path

from streamrelay.errors import StartFailed

HINT = "start it by its absolute path, or add its folder to PATH; a shell's alias or function is no program"


def own_search_path(environment: Mapping[str, str] = os.environ) -> str:
    """Return the PATH of this process, without the folders whose names are not valid text."""
    return os.pathsep.join(filter(_is_text, environment.get("PATH", os.defpath).split(os.pathsep)))


def find_program(name: str, *, search_path: str, cwd: str) -> str:
    """Return the absolute path of a program, as a shell in `cwd` with the PATH `search_path` would find it.

    Raises StartFailed, which names what was searched.
    """
    if "/" in name:
        program = Path(cwd) / name
        if not program.is_file():
            raise StartFailed(f"program not found: {program}", hint="check the path", data={"program": name})
        if not os.access(program, os.X_OK):
            hint = f"make it executable: chmod +x {program}"
            raise StartFailed(f"cannot execute {program}: permission denied", hint=hint, data={"program": name})
        return str(program)
    # A relative or empty entry of PATH is relative to where the program starts.
    folders = os.pathsep.join(str(Path(cwd) / folder) for folder in search_path.split(os.pathsep))
    found = shutil.which(name, path=folders)
    if found is None:
        raise program_not_found(name, search_path)
    return found


def program_not_found(name: str, search_path: str, *, where: str = "") -> StartFailed:
    """Return the error for a program that is not in the PATH that was searched; `where` says whose PATH that is."""
    message = f"program not found: {name} (searched the PATH{where}: {search_path})"
    return StartFailed(message, hint=HINT, data={"program": name, "search_path": search_path})


def _is_text(folder: str) -> bool:
    try:
        folder.encode()
    except UnicodeEncodeError:
        return False
    return True
