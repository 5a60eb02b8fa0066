"""A token names one session of one tmux server, and nobody can make one without the key."""

import stat

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamrelay.errors import StorageError
from streamrelay.mcp.tokens import Tokens

KEY = b"k" * 32


@given(session=st.text(min_size=1, max_size=60).filter(lambda text: text.isprintable()))
def test_a_token_is_its_sessions(session):
    tokens = Tokens(KEY, "server")
    token = tokens.issue(session)
    assert tokens.session_of(token) == session
    assert token.isascii()
    assert not set(token) & set(" \n\r,;")


@given(token=st.text(max_size=80))
def test_nothing_else_is_a_token(token):
    assert Tokens(KEY, "server").session_of(token) is None


def test_a_changed_token_another_key_and_another_server_are_nobodys():
    token = Tokens(KEY, "server").issue("%1")
    name, _, code = token.partition(".")
    other = Tokens(KEY, "server").issue("%2").partition(".")[0]
    for changed in (
        f"{other}.{code}",
        f"{name}.{code[:-1]}",
        f"{name}.",
        f".{code}",
        code,
        f"{name}.{'A' * len(code)}",
    ):
        assert Tokens(KEY, "server").session_of(changed) is None
    assert Tokens(b"x" * 32, "server").session_of(token) is None
    assert Tokens(KEY, "another").session_of(token) is None
    assert Tokens(KEY, "server1").issue("23") != Tokens(KEY, "server12").issue("3")


def test_the_key_is_made_once_and_nobody_elses_to_read(tmp_path):
    file = tmp_path / "state" / "mcp.key"
    first, second = Tokens.load(file, "server"), Tokens.load(file, "server")
    assert second.session_of(first.issue("%1")) == "%1"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert [path.name for path in file.parent.iterdir()] == ["mcp.key"]


def test_a_key_that_is_none_is_refused(tmp_path):
    file = tmp_path / "mcp.key"
    file.write_bytes(b"short")
    with pytest.raises(StorageError, match="5 bytes"):
        Tokens.load(file, "server")
    with pytest.raises(StorageError):
        Tokens.load(tmp_path / "mcp.key" / "below", "server")
