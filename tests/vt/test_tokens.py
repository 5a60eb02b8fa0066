"""The grammar of control strings, and how UTF-8 goes wrong as it does in tmux."""

import itertools

import pytest

from streamrelay.vt.tokens import Tokenizer, controls_first

CASES = {
    "text": (b"text", ["text"]),
    "line feeds": (b"a\r\nb\nc\r", ["a", "\r\n", "b", "\n", "c", "\r", ""]),
    "csi": (b"a\x1b[1;31mb", ["a", "\x1b[1;31m", "b"]),
    "csi with a control inside": (b"\x1b[1\r;3mb", ["", "\x1b[1\r;3m", "b"]),
    "csi cut short by escape": (b"\x1b[1\x1b[2mb", ["", "\x1b[1", "", "\x1b[2m", "b"]),
    "csi aborted": (b"\x1b[31\x18mb", ["", "\x1b[31\x18", "mb"]),
    "osc ended by bell": (b"\x1b]0;t\x07b", ["", "\x1b]0;t\x07", "b"]),
    "osc ended by st": (b"\x1b]0;t\x1b\\b", ["", "\x1b]0;t\x1b\\", "b"]),
    "osc ended by escape": (b"\x1b]0;t\x1b[mb", ["", "\x1b]0;t", "", "\x1b[m", "b"]),
    "apc does not end by bell": (b"\x1b_a\x07b\x1b\\c", ["", "\x1b_a\x07b\x1b\\", "c"]),
    "dcs ends by st alone": (b"\x1bPq\x18\x1b[m\x1b\x1b\\\x1b\\c", ["", "\x1bPq\x18\x1b[m\x1b\x1b\\\x1b\\", "c"]),
    "dcs with an improper head ends by escape": (b"\x1bP:q\x1b[mc", ["", "\x1bP:q", "", "\x1b[m", "c"]),
    "escapes": (b"\x1b7\x1b(0\x1b#8\x1b\\x", ["", "\x1b7", "", "\x1b(0", "", "\x1b#8", "", "\x1b\\", "x"]),
    "eight bit controls are no controls": (b"a\xc2\x9b31mb", ["a\x9b31mb"]),
    "delete is nothing": (b"a\x7fb", ["ab"]),
}


@pytest.mark.parametrize("name", CASES)
def test_tokens(name: str) -> None:
    data, tokens = CASES[name]
    assert Tokenizer().split(data) == tokens


UTF8 = {
    "a lead byte takes what it asks for": (b"\xe4\xc3\xa4x", "x"),
    "ascii cuts it short": (b"\xe4\xb8x", "x"),
    "lone continuation": (b"a\xb8b", "ab"),
    "never a lead byte": (b"a\xc0\xff\xf8b", "ab"),
    "overlong": (b"a\xe0\x80\x80b", "ab"),
    "surrogate": (b"a\xed\xa0\x80b", "ab"),
    "delete is nothing": (b"\xe4\x7f\xb8\x96x\x7f\xff\x7fy", "世xy"),
    "it goes on behind sequences": (b"\xe4\x1b[m\xb8\x1b]2;t\x07\x1b7\x96x", "\x1b[m\x1b]2;t\x07\x1b7世x"),
    "a control behind a sequence cuts it short": (b"\xe4\x1b[m\r\n\xb8\x96x", "\x1b[m\r\nx"),
    "what follows a sequence is part of it": (b"\xe4\x1b[m\xe7\x95\x8cx", "\x1b[mx"),
    "too high": (b"a\xf4\x90\x80\x80b", "ab"),
    "valid among invalid": ("ä世".encode() + b"\xff" + "😀".encode(), "ä世😀"),
}


@pytest.mark.parametrize("name", UTF8)
def test_utf8_goes_wrong_as_in_tmux_wherever_it_is_cut(name: str) -> None:
    data, text = UTF8[name]
    for at in range(len(data) + 1):
        tokens = Tokenizer()
        assert "".join(tokens.split(data[:at]) + tokens.split(data[at:])).replace("\x80", "") == text


@pytest.mark.parametrize(
    ("data", "text"),
    [(b"a\xffb", "a?b"), (b"\xe4\xb8x", "?x"), (b"\xb8\xb8x", "??x"), (b"\xe4\xc3\xa4x", "?x"),
     (b"\xe4\x18\x96", "?\x18?"), (b"\xe4\x1b[m\r\n", "\x1b[m?\r\n"),
     (b"\xe4\x1b[\rm\x96x", "?\x1b[\rm?x"), (b"\xe4\x1b[m\xb8\x96x", "\x1b[m世x")],
)  # fmt: skip
def test_what_stands_for_bad_bytes_stands_once_for_those_a_lead_byte_takes(data: bytes, text: str) -> None:
    assert "".join(Tokenizer("?").split(data)).replace("\x80", "") == text


def test_what_is_unfinished_waits() -> None:
    for data in (b"\x1b[1;31m", b"\x1b]0;title\x1b\\", b"\x1bPq\x1bx\x1b\\", b"\x1b(0", "😀".encode(), b"\x1bkn\x1b\\"):
        tokens = Tokenizer()
        for byte in data[:-1]:
            tokens.split(bytes([byte]))
            assert not tokens.ground
        tokens.split(data[-1:])
        assert tokens.ground


def test_controls_inside_a_waiting_sequence_come_at_once() -> None:
    tokens = Tokenizer()
    assert tokens.split(b"a\x1b[1\r") == ["a", "\r", ""]
    assert tokens.split(b"\n;3") == ["", "\n", ""]
    assert tokens.split(b"Hx") == ["", "\x1b[1;3H", "x"]


def test_long_parameters_void_their_sequence_alone() -> None:
    tokens = Tokenizer()
    pieces = [b"\x1b["] + [b"1;"] * 5000 + [b"mtext"]
    split = list(itertools.chain.from_iterable(tokens.split(piece) for piece in pieces))
    assert split[-1] == "text"
    assert max(map(len, split)) < 200


def test_controls_first() -> None:
    assert controls_first("\x1b\n[1\r;\x7f3é1m") == ("\n\r", "\x1b[1;31m")
