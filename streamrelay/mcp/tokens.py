"""The tokens by which HTTP callers prove their session.

A token is the session's id with its authentication code (HMAC-SHA-256) under a key that only this user can read. No
token is stored, and tokens outlive a restart of the daemon. The code includes the tmux server (`scope`), so a token is
invalid on another server. Tokens are compared in constant time and never logged.
"""

import hashlib
import hmac
import os
import secrets
from base64 import urlsafe_b64decode, urlsafe_b64encode
from pathlib import Path
from typing import Self

from streamrelay.control.tmux import ServerInfo
from streamrelay.delivery.state import state_home
from streamrelay.errors import StorageError

VARIABLE = "STREAMRELAY_TOKEN"
"""The environment variable with the token, in sessions that streamrelay starts."""
_KEY_BYTES = 32
_LONGEST = 500


class Tokens:
    """Issues and reads the tokens of one tmux server's sessions."""

    def __init__(self, key: bytes, scope: str) -> None:
        self._key = key
        self._scope = scope.encode()

    @classmethod
    def of_server(cls, server: ServerInfo) -> Self:
        """Return the tokens of a running tmux server, under this user's key; raises StorageError."""
        return cls.load(state_home() / "mcp.key", f"{server.socket_path}:{server.pid}")

    @classmethod
    def load(cls, file: Path, scope: str) -> Self:
        """Read the key from a file, or create the file (0600) with a new key; raises StorageError."""
        try:
            file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            made = file.with_name(f"{file.name}.{secrets.token_hex(8)}")
            made.touch(mode=0o600, exist_ok=False)
            try:
                made.write_bytes(secrets.token_bytes(_KEY_BYTES))
                # Of two processes at once, the second one finds the complete key of the first.
                os.link(made, file)
            except FileExistsError:
                pass
            finally:
                made.unlink()
            key = file.read_bytes()
        except OSError as error:
            raise StorageError(f"cannot use the key file {file}: {error.strerror}") from error
        if len(key) != _KEY_BYTES:
            raise StorageError(f"invalid key file {file}: it has {len(key)} bytes")
        return cls(key, scope)

    def issue(self, session: str) -> str:
        """Return the token of a session; every call returns the same one."""
        name = urlsafe_b64encode(session.encode()).rstrip(b"=").decode()
        return f"{name}.{self._code(session)}"

    def session_of(self, token: str) -> str | None:
        """Return the token's session; None for an invalid token."""
        name, _, code = token.partition(".")
        if len(token) > _LONGEST or not code.isascii():
            return None
        try:
            session = urlsafe_b64decode(name + "=" * (-len(name) % 4)).decode()
        except ValueError:
            return None
        return session if session and hmac.compare_digest(code, self._code(session)) else None

    def _code(self, session: str) -> str:
        message = b"%d:%s%s" % (len(self._scope), self._scope, session.encode())
        return urlsafe_b64encode(hmac.digest(self._key, message, hashlib.sha256)).rstrip(b"=").decode()
