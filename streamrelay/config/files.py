"""Reads the configuration on demand: the user's file, the project's file and the environment.

A project's file may come with another person's repository, so it cannot set keys that are reserved for the user
(`Key`). A file of another user, for example in a shared parent folder, is ignored.
"""

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Literal

from streamrelay.config.layers import Layer, read_environment, read_toml
from streamrelay.config.own_text import read_own_text
from streamrelay.config.resolution import Resolved, resolve

PROJECT_FILE = ".streamrelay.toml"


def user_folder(environment: Mapping[str, str] = os.environ) -> Path:
    """Return the folder of the user's own files: $XDG_CONFIG_HOME/streamrelay, by default in ~/.config."""
    configured = environment.get("XDG_CONFIG_HOME", "")
    # A relative path is invalid (XDG base directory specification).
    home = Path(configured) if configured.startswith("/") else Path.home() / ".config"
    return home / "streamrelay"


def user_file(environment: Mapping[str, str] = os.environ) -> Path:
    """Return the path of the user's configuration file, which may not exist."""
    return user_folder(environment) / "config.toml"


def project_file(start: Path | None = None) -> Path | None:
    """Return the nearest `.streamrelay.toml` in `start` (default: the working directory) or above, if any."""
    try:
        folder = Path.cwd() if start is None else start.absolute()
    except OSError:
        # The working directory is gone, so it has no parents.
        return None
    return next((file for above in (folder, *folder.parents) if _is_trusted(file := above / PROJECT_FILE)), None)


def load(
    *,
    start: Path | None = None,
    project: bool = True,
    environment: Mapping[str, str] = os.environ,
    flags: Layer | None = None,
) -> Resolved:
    """Return the configuration for a folder, or without `project` the one for a daemon.

    Raises ConfigError for an invalid file or variable.
    """
    files: list[tuple[Path | None, Literal["user", "project"]]] = [
        (user_file(environment), "user"),
        (project_file(start) if project else None, "project"),
    ]
    layers: Iterable[Layer] = (_read(file, kind) for file, kind in files if file is not None)
    return resolve([*layers, read_environment(environment), flags or Layer("flag")])


def _read(file: Path, kind: Literal["user", "project"]) -> Layer:
    try:
        # A project's file may be anybody's: it can set nothing that is reserved for the user.
        text = read_own_text(file, checks_owner=kind == "user")
    except (FileNotFoundError, NotADirectoryError):
        return Layer(kind)
    return read_toml(text, file=str(file), kind=kind)


def _is_trusted(file: Path) -> bool:
    try:
        return file.is_file() and file.stat().st_uid in {os.getuid(), 0}
    except OSError:
        return False
