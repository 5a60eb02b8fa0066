"""Who calls over HTTP: a token names a session and proves it.

A token is the session's id with its authentication code (HMAC-SHA-256) under a key that only this user can read. So
nothing has to be kept for it, it outlives a restart of the daemon, and it is worth nothing on another tmux server:
`scope` goes into the code, and says which one this is. A token is compared in constant time, and never logged.
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
"""The variable in which a session that was started here finds its token."""
_KEY_BYTES = 32
_LONGEST = 500


class Tokens:
    """Issues and reads the tokens of one tmux server's sessions."""

    def __init__(self, key: bytes, scope: str) -> None:
        self._key = key
        self._scope = scope.encode()

    @classmethod
    def of_server(cls, server: ServerInfo) -> Self:
        """Return those of a running tmux server, under this user's key; raises StorageError."""
        return cls.load(state_home() / "mcp.key", f"{server.socket_path}:{server.pid}")

    @classmethod
    def load(cls, file: Path, scope: str) -> Self:
        """Take the key from a file, which is made (0600) where it is not there; raises StorageError."""
        try:
            file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            made = file.with_name(f"{file.name}.{secrets.token_hex(8)}")
            made.touch(mode=0o600, exist_ok=False)
            try:
                made.write_bytes(secrets.token_bytes(_KEY_BYTES))
                # Whoever comes second finds the first one's, whole.
                os.link(made, file)
            except FileExistsError:
                pass
            finally:
                made.unlink()
            key = file.read_bytes()
        except OSError as error:
            raise StorageError(f"{file} cannot be used: {error.strerror}") from error
        if len(key) != _KEY_BYTES:
            raise StorageError(f"{file} is no key: it has {len(key)} bytes")
        return cls(key, scope)

    def issue(self, session: str) -> str:
        """Return the token of a session, always the same one."""
        name = urlsafe_b64encode(session.encode()).rstrip(b"=").decode()
        return f"{name}.{self._code(session)}"

    def session_of(self, token: str) -> str | None:
        """Return whose token it is; None if it is nobody's."""
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
