"""The token of the page: a file that only its user can read, created when it is first needed."""

import os
import secrets
from pathlib import Path

from streamrelay.errors import StorageError

_BYTES = 32


def token_in(file: Path) -> str:
    """Return the token in a file, which is created if it does not exist. Raises StorageError.

    It outlives the daemon, so that a page that is open goes on; who deletes the file and starts the daemon again has
    shut out everybody who had it.
    """
    try:
        made = file.with_name(f"{file.name}.{secrets.token_hex(8)}")
        made.touch(mode=0o600, exist_ok=False)
        try:
            made.write_text(secrets.token_urlsafe(_BYTES), encoding="ascii")
            # A second process finds the whole file of the first.
            os.link(made, file)
        except FileExistsError:
            pass
        finally:
            made.unlink()
        token = file.read_text(encoding="ascii")
    except (OSError, UnicodeDecodeError) as error:
        raise StorageError(f"{file} cannot be used: {error}") from error
    if len(token) < _BYTES or not token.isprintable() or " " in token:
        raise StorageError(f"{file} holds no token")
    return token
