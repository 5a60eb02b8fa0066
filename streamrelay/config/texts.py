"""The text files of one kind in a folder, the user's or one that comes with the package."""

from collections.abc import Iterator
from importlib.resources.abc import Traversable
from pathlib import Path

from streamrelay.config.own_text import check_own_folder, read_own_text
from streamrelay.errors import ConfigError


def texts_in(folder: Path | Traversable, suffix: str, *, is_users: bool) -> Iterator[tuple[str, str, str]]:
    """Yield name (without the suffix), source and text of each file, by name; nothing for a missing folder.

    Raises ConfigError for what cannot be read; in a folder that `is_users` and not the package's, also for a file that
    is not plain or is too large, and for what another user can change.
    """
    try:
        if not folder.is_dir():
            return
        if is_users and isinstance(folder, Path):
            check_own_folder(folder)
        files = sorted((file for file in folder.iterdir() if file.name.endswith(suffix)), key=lambda file: file.name)
    except OSError as error:
        raise ConfigError(str(folder), "", f"cannot be listed: {error.strerror}") from error
    for file in files:
        try:
            text = read_own_text(file) if is_users and isinstance(file, Path) else file.read_text(encoding="utf-8")
        except OSError as error:
            raise ConfigError(str(file), "", f"cannot be read: {error.strerror}") from error
        except UnicodeDecodeError as error:
            raise ConfigError(str(file), "", f"no UTF-8: {error.reason}") from error
        yield file.name.removesuffix(suffix), str(file), text
