"""Keys of nodes, and what they seal: only the two nodes of a pair can read and write what travels between them. Pure.

A node has private keys (X25519) of its own and the public keys of its peers. One private and one public key make a
secret for each direction (HKDF-SHA256). Each envelope has a random salt; the secret and the salt make its own key and
nonce (ChaCha20-Poly1305). Version, sender, addressee, both keys and the salt are authenticated with the text.

The first key of a node is the one it uses; the others are accepted too, so that a key can be replaced while messages
are on their way (docs/federation.md). Logs and errors name a key by its fingerprint, never by its text.
"""

import base64
import binascii
import hashlib
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Literal, NamedTuple

from streamrelay.errors import UsageError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305

VERSION = b"5"
PRIVATE, PUBLIC = "sr-private-", "sr-public-"
KEY_SIZE, SALT_SIZE = 32, 16
MAX_SEALED_SIZE = 8 << 20
"""Bytes of a sealed envelope; a message has a million characters at most, so it always fits."""

RefusalReason = Literal[
    "malformed",
    "too_large",
    "unknown_version",
    "other_node",
    "unknown_peer",
    "unknown_key",
    "forged",
    "unreadable",
    "clock",
    "replayed",
]
"""Why a node refuses an entry of its inbox."""


class Refused(Exception):  # never leaves the service
    """An entry that this node does not use: `reason` for counting, the text for people, the sender it claims."""

    def __init__(self, reason: RefusalReason, why: str, sender: str = "") -> None:
        super().__init__(why)
        self.reason: RefusalReason = reason
        self.sender = sender


class Unsealed(NamedTuple):
    """The content of a sealed entry, and who provably wrote it."""

    sender: str
    salt: bytes
    text: bytes


class KeyPair(NamedTuple):
    """A private key and its public key, 32 bytes each."""

    private: bytes
    public: bytes

    @classmethod
    def generate(cls) -> "KeyPair":
        """Make a new pair."""
        from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

        private = X25519PrivateKey.generate()
        return cls(private.private_bytes_raw(), private.public_key().public_bytes_raw())

    @classmethod
    def read(cls, text: str) -> "KeyPair":
        """Return the pair of a private key in its written form; raises UsageError for any other text."""
        from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

        private = _decoded(text, PRIVATE, "private")
        return cls(private, X25519PrivateKey.from_private_bytes(private).public_key().public_bytes_raw())

    @property
    def private_text(self) -> str:
        """The private key as the key file holds it."""
        return PRIVATE + _encoded(self.private)

    @property
    def public_text(self) -> str:
        """The public key as peers write it into their configuration."""
        return PUBLIC + _encoded(self.public)


def read_public(text: str) -> bytes:
    """Return a public key from its written form; raises UsageError for any other text."""
    return _decoded(text, PUBLIC, "public")


def fingerprint(public: bytes) -> str:
    """Return 16 hexadecimal digits that name a public key."""
    return hashlib.sha256(public).hexdigest()[:16]


def read_peer_keys(lines: Sequence[str]) -> dict[str, tuple[bytes, ...]]:
    """Return the public keys by peer from lines `NODE KEY`; raises UsageError for any other line."""
    keys: dict[str, tuple[bytes, ...]] = {}
    for line in lines:
        node, _, text = line.strip().partition(" ")
        if not text:
            raise UsageError(f"invalid peer key {line!r}", hint='write "NODE sr-public-..." in federation.peer_keys')
        keys[node] = (*keys.get(node, ()), read_public(text.strip()))
    return keys


def read_key_file(text: str) -> tuple[KeyPair, ...]:
    """Return the private keys of a key file, one a line; raises UsageError for any other line, or none at all."""
    lines = [line.strip() for line in text.splitlines()]
    keys = tuple(KeyPair.read(line) for line in lines if line and not line.startswith("#"))
    if not keys:
        raise UsageError("the key file holds no key", hint="make one: streamrelay peers add-key")
    return keys


class KeyRing:
    """The keys of one node: its own pairs, and the public keys of each peer; the first of each are the ones in use."""

    def __init__(self, own: Sequence[KeyPair], peers: Mapping[str, Sequence[bytes]]) -> None:
        if peers and not own:
            raise UsageError("a node needs a key", hint="make one: streamrelay peers add-key")
        self._own = tuple(own)
        self._peers = {peer: tuple(keys) for peer, keys in peers.items()}
        self._secrets: dict[tuple[bytes, bytes, bool], bytes] = {}
        known = [pair.public for pair in self._own] + [key for keys in self._peers.values() for key in keys]
        self._fingerprints = {key: fingerprint(key).encode() for key in known}

    def fingerprints(self, peer: str) -> tuple[str, ...]:
        """Return the fingerprints of a peer's keys, the one in use first."""
        return tuple(fingerprint(key) for key in self._peers.get(peer, ()))

    @property
    def own_fingerprints(self) -> tuple[str, ...]:
        """The fingerprints of the node's own keys, the one in use first."""
        return tuple(fingerprint(pair.public) for pair in self._own)

    def seal(self, sender: str, to: str, text: bytes, salt: bytes) -> dict[bytes, bytes]:
        """Return the fields of an entry that only `to` can read; `salt` are 16 random bytes, never used twice.

        Raises UsageError where no key of the peer is known.
        """
        if not (keys := self._peers.get(to)):
            raise UsageError(f"there is no key of node {to}", hint=f'add "{to} sr-public-..." to federation.peer_keys')
        own, theirs = self._own[0], keys[0]
        names = (self._fingerprints[own.public], self._fingerprints[theirs])
        head = b" ".join((sender.encode(), to.encode(), *names, salt.hex().encode()))
        cipher, nonce = self._cipher(own, theirs, salt, sending=True)
        return {b"v": VERSION, b"head": head, b"sealed": cipher.encrypt(nonce, text, _authenticated(head))}

    def unseal(self, fields: Mapping[bytes, bytes], to: str) -> Unsealed:
        """Return what an entry holds; raises Refused for everything that no peer has sealed for this node."""
        if (version := fields.get(b"v")) != VERSION:
            if version is None and b"envelope" not in fields:
                raise Refused("malformed", "it is no envelope")
            raise Refused(
                "unknown_version",
                f"it is of version {_shown(version or b'1')}; this node speaks version {_shown(VERSION)}",
            )
        if sum(map(len, fields.values())) > MAX_SEALED_SIZE:
            raise Refused("too_large", f"it is longer than {MAX_SEALED_SIZE:,} bytes")
        if b"head" not in fields or b"sealed" not in fields:
            raise Refused("malformed", "it is no envelope: a field is missing")
        sender, to_node, named, own_named, salt = _read_head(fields[b"head"])
        if to_node != to:
            raise Refused("other_node", "it is for another node", sender)
        if sender not in self._peers:
            raise Refused("unknown_peer", f"{sender} is none of our peers", sender)
        theirs = next((key for key in self._peers[sender] if self._fingerprints[key] == named), None)
        own = next((pair for pair in self._own if self._fingerprints[pair.public] == own_named), None)
        if theirs is None or own is None:
            whose, name = ("of its sender", named) if theirs is None else ("of ours", own_named)
            raise Refused("unknown_key", f"this node knows no key {_shown(name)} {whose}", sender)
        from cryptography.exceptions import InvalidTag

        cipher, nonce = self._cipher(own, theirs, salt, sending=False)
        try:
            text = cipher.decrypt(nonce, fields[b"sealed"], _authenticated(fields[b"head"]))
        except InvalidTag as error:
            raise Refused("forged", "it is not sealed with the keys that it names, or was changed", sender) from error
        return Unsealed(sender, salt, text)

    def _cipher(self, own: KeyPair, theirs: bytes, salt: bytes, *, sending: bool) -> tuple["ChaCha20Poly1305", bytes]:
        from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
        from cryptography.hazmat.primitives.hashes import SHA256
        from cryptography.hazmat.primitives.kdf.hkdf import HKDFExpand

        known = (own.public, theirs, sending)
        if known not in self._secrets:
            self._secrets[known] = _secret(own, theirs, sending=sending)
        material = HKDFExpand(SHA256(), KEY_SIZE + 12, info=salt).derive(self._secrets[known])
        return ChaCha20Poly1305(material[:KEY_SIZE]), material[KEY_SIZE:]


def _secret(own: KeyPair, theirs: bytes, *, sending: bool) -> bytes:
    """Return the secret of one direction between two keys."""
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
    from cryptography.hazmat.primitives.hashes import SHA256
    from cryptography.hazmat.primitives.kdf.hkdf import HKDF

    try:
        shared = X25519PrivateKey.from_private_bytes(own.private).exchange(X25519PublicKey.from_public_bytes(theirs))
    except ValueError as error:
        raise UsageError(
            f"invalid public key {fingerprint(theirs)}: it makes no secret",
            hint="print the key of the other machine there: streamrelay peers key",
        ) from error
    first, second = (own.public, theirs) if sending else (theirs, own.public)
    return HKDF(SHA256(), KEY_SIZE, salt=None, info=b"streamrelay federation 2" + first + second).derive(shared)


def _read_head(head: bytes) -> tuple[str, str, bytes, bytes, bytes]:
    """Return sender, addressee, the names of both keys and the salt; raises Refused for any other bytes.

    A name has no space in it (`check_node`), so no two heads have the same bytes.
    """
    words = head.split(b" ")
    try:
        sender, to, key, for_key, salt_text = words
        salt = bytes.fromhex(salt_text.decode("ascii"))
    except ValueError as error:
        raise Refused("malformed", "it is no envelope: its head cannot be read") from error
    if len(salt) != SALT_SIZE:
        raise Refused("malformed", "it is no envelope: its salt has the wrong size")
    return _shown(sender), _shown(to), key, for_key, salt


def _authenticated(head: bytes) -> bytes:
    """Return what is authenticated with the text."""
    return VERSION + b" " + head


def _shown(value: bytes) -> str:
    """Return bytes of a stranger as a short text that is safe to log."""
    text = value[:64].decode("ascii", "backslashreplace")
    return "".join(character if character.isprintable() else "?" for character in text)


def _encoded(key: bytes) -> str:
    return base64.urlsafe_b64encode(key).decode().rstrip("=")


def _decoded(text: str, prefix: str, kind: str) -> bytes:
    # The text itself stays out of the error: it may be a secret, or a part of one.
    hint = f"a {kind} key is one word that begins with {prefix}; make one: streamrelay peers add-key"
    if not text.startswith(prefix):
        raise UsageError(f"this is no {kind} key", hint=hint)
    try:
        key = base64.b64decode(text.removeprefix(prefix) + "=", altchars=b"-_", validate=True)
    except (binascii.Error, ValueError) as error:
        raise UsageError(f"this is no {kind} key: it is damaged", hint=hint) from error
    if len(key) != KEY_SIZE:
        raise UsageError(f"this is no {kind} key: it has {len(key)} bytes instead of {KEY_SIZE}", hint=hint)
    return key
