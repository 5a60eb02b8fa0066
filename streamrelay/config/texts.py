"""The text files of one kind in a folder, the user's or one that comes with the package."""

from collections.abc import Iterator
from importlib.resources.abc import Traversable
from pathlib import Path

from streamrelay.errors import ConfigError


def texts_in(folder: Path | Traversable, suffix: str) -> Iterator[tuple[str, str, str]]:
    """Yield name (without the suffix), source and text of each file, by name; nothing for a missing folder.

    Raises ConfigError for what cannot be read.
    """
    try:
        if not folder.is_dir():
            return
        files = sorted((file for file in folder.iterdir() if file.name.endswith(suffix)), key=lambda file: file.name)
    except OSError as error:
        raise ConfigError(str(folder), "", f"cannot be listed: {error.strerror}") from error
    for file in files:
        try:
            text = file.read_text(encoding="utf-8")
        except OSError as error:
            raise ConfigError(str(file), "", f"cannot be read: {error.strerror}") from error
        except UnicodeDecodeError as error:
            raise ConfigError(str(file), "", f"no UTF-8: {error.reason}") from error
        yield file.name.removesuffix(suffix), str(file), text
