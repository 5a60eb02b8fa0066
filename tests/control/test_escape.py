import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st

from streamrelay.control.escape import escape, is_well_formed, unescape, unescape_joined

PIECES = st.lists(
    st.binary(max_size=12) | st.sampled_from([b"\\", b"\\0", b"\\01", b"\\015", b"5", b"\\x41"]), min_size=1
)


@given(st.binary())
def test_what_tmux_escapes_comes_back(data: bytes) -> None:
    assert unescape(escape(data)) == data


@pytest.mark.requirement("ENG-03a")
@pytest.mark.parametrize(
    ("escaped", "plain"),
    [
        (b"", b""),
        (b"plain", b"plain"),
        (rb"\015\012", b"\r\n"),
        (rb"\134", b"\\"),
        (rb"\134015", rb"\015"),
        (b"\x7f\x80\xff\xe4\xb8", b"\x7f\x80\xff\xe4\xb8"),
        (b"\xe2\x94\x80\\033[0m\xf0\x9f", b"\xe2\x94\x80\x1b[0m\xf0\x9f"),
        (rb"\000\377", b"\x00\xff"),
    ],
)
def test_octal_is_read_and_every_other_byte_is_raw(escaped: bytes, plain: bytes) -> None:
    assert unescape(escaped) == plain


@pytest.mark.parametrize(
    "alien", [rb"\n", rb"\x41", rb"\x", b"\\", rb"\0", rb"\01", rb"\400", rb"\8", rb"\\", rb"\u0041"]
)
def test_what_tmux_would_not_write_stands_as_it_is(alien: bytes) -> None:
    assert unescape(alien) == alien
    assert unescape(rb"\033" + alien + rb"\033") == b"\x1b" + alien + b"\x1b"


def test_only_bytes_below_space_and_the_backslash_are_escaped() -> None:
    escaped = {byte for byte in range(256) if escape(bytes((byte,))) != bytes((byte,))}
    assert escaped == {*range(0x20), ord("\\")}


@given(st.binary())
def test_no_bytes_raise_or_warn(data: bytes) -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        unescape(data)


@given(PIECES)
def test_joining_makes_no_escape_of_two_halves(pieces: list[bytes]) -> None:
    well_formed = is_well_formed(b"\n".join(pieces))
    assert unescape_joined(pieces, well_formed=well_formed) == b"".join(map(unescape, pieces))
