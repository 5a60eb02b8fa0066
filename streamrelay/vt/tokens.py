"""Cut the bytes of a program into text and control strings, wherever the bytes themselves were cut.

The grammar is tmux's state machine (3.3a input.c), written as one regular expression:

* A C0 control inside an escape or control sequence takes effect at once and the sequence goes on: such controls
  are moved in front of it (`CSI 1 CR ; 1 m` is `CR CSI 1;1 m`). DEL and bytes over 0x7e are ignored there.
* CAN and SUB abort everything; so does ESC, which begins the next sequence. A control *string* (OSC, APC, ESC k) that
  is cut short that way still counts, as far as it got.
* Only OSC may end with BEL. A DCS with a proper header ends with ESC \\ alone, whatever is inside; with an improper
  one it is ignored up to the next ESC.
* 8-bit controls are not known: bytes over 0x7f are UTF-8 or nothing.

UTF-8 is tmux's as well: a lead byte takes as many bytes as it asks for, valid or not, and gives nothing if they make
no character. Only a C0 control or ASCII cuts it short; behind an escape sequence it goes on. DEL is nothing anywhere.

What is unfinished at the end of the input waits for more. Waiting is bounded: parameters over tmux's limit of 64
bytes are forgotten with the rest of their sequence, the payload of a string over its limit of 1 MiB likewise.

A group that may fail halfway is repeated greedily, never possessively (`*+`): Python before 3.11.5 does not return to
the end of the previous repetition (gh-106052). Nothing that must match follows such a group, so both mean the same.
"""

import codecs
import re
from collections.abc import Sequence

UNFINISHED = re.compile(r"\x1b(?:\[[0-9;:]{0,60}+)?\Z")
"""Finds the beginning of what may become an SGR; a longer one is none that anybody sends."""

STRAY = re.compile("[\udc80-\udcff]")
"""Finds bytes that were no UTF-8 in a control string."""

JUNK = r"[^\x18\x1a\x1b -~]"
"""What may stand inside an escape or control sequence without being part of it."""
_ESC = rf"\x1b{JUNK}*+"
_ABORT = r"[\x18\x1a]|(?=\x1b)"
_DCS_HEAD = rf"{JUNK}*+[<-?]?+{JUNK}*+(?:[0-9;]{JUNK}*+)*+(?:[ -/]{JUNK}*+)*+[@-~]"
_DCS_BODY = r"[^\x1b]*+(?:\x1b[^\\][^\x1b]*+)*+"
_RUN = r"\[\??[0-9;]*+[@-ac-~] (?:\x1b\[\??[0-9;]*+[@-ac-~])* (?:\r\n)?"
# Every control begins with a byte of one set, which `re` searches for four times as fast as for alternatives.
_TOKENS = re.compile(
    rf"""( [\x00-\x1f] (?: (?<=\x1b) (?: {_RUN} | {JUNK}*+ (?:
        \[ (?:{JUNK}|[ -?])*+ (?:[@-~]|{_ABORT}|\Z)
      | \] [^\x07\x18\x1a\x1b]*+ (?:\x07|\x1b\\|{_ABORT}|\Z)
      | P{_DCS_HEAD} {_DCS_BODY} (?:\x1b\\|\x1b?\Z)
      | P(?!{_DCS_HEAD}) [^\x18\x1a\x1b]*+ (?:{_ABORT}|\Z)
      | [X^_k] [^\x18\x1a\x1b]*+ (?:\x1b\\|{_ABORT}|\Z)
      | (?:[ -/]{JUNK}*+)++ (?:[0-~]|{_ABORT}|\Z)
      | [0-~] | {_ABORT} | \Z
    )) | (?<=\r)\n | (?<!\x1b) ))""",
    re.VERBOSE,
)
_SEQUENCES = re.compile(r"\x1b[^\x1b\r]+|\r\n")
_FINISHED = re.compile(
    rf"""\x1b{_RUN} | {_ESC} (?:
        \[ (?:{JUNK}|[ -?])*+ [@-~\x18\x1a]
      | \] [^\x07\x18\x1a\x1b]*+ (?:[\x07\x18\x1a]|\x1b\\)
      | P{_DCS_HEAD} {_DCS_BODY} \x1b\\
      | P(?!{_DCS_HEAD}) [^\x18\x1a\x1b]*+ [\x18\x1a]
      | [X^_k] [^\x18\x1a\x1b]*+ (?:[\x18\x1a]|\x1b\\)
      | (?:[ -/]{JUNK}*+)++ [0-~\x18\x1a]
      | [0-OQ-WYZ\\`-jl-~\x18\x1a]
    )""",
    re.VERBOSE,
)
_HEAD = re.compile(rf"({_ESC})(.?)(.*)", re.DOTALL)
_DCS_OPEN = re.compile(rf"{_DCS_HEAD}({_DCS_BODY})(\x1b?)", re.DOTALL)
_CONTROLS = re.compile(r"[\x00-\x17\x19\x1c-\x1f]")
_JUNK_RUN = re.compile(f"{JUNK}+")
_STRING_ENDS = {
    "]": re.compile(r"[\x07\x18\x1a\x1b]"),
    **dict.fromkeys("_k", re.compile(r"[\x18\x1a\x1b]")),
}
_STRINGS = ("]", "P", "X", "^", "_", "k")
_PARAMETERS_LIMIT = 100
_STRING_LIMIT = 1 << 20

_UTF8 = re.compile(rb"[\xc2-\xdf][\x80-\xff]?|[\xe0-\xef][\x80-\xff]{0,2}|[\xf0-\xf4][\x80-\xff]{0,3}|[\x80-\xff]")
DELETE = b"\x7f"
_HIGH = bytes(range(0x80, 0x100))
DROPPED = "\x80"
"""Stands for bytes that are no character: no width, so nothing is drawn, but like them it ends what REP repeats."""


def controls_first(sequence: str) -> tuple[str, str]:
    """Return the C0 controls inside an escape or control sequence, and the sequence without them."""
    return "".join(_CONTROLS.findall(sequence)), _JUNK_RUN.sub("", sequence)


def split_controls(text: str) -> list[str]:
    """Return text and control strings in turn; one that is not finished is the last but one.

    Plain control sequences that follow each other, and a line feed behind them, are one string (but for REP, which
    needs to know what came before it): programs that repaint send the same runs again and again, a fifth faster.
    """
    return _TOKENS.split(text)


def split_run(control: str) -> list[str]:
    """Return the parts of a run of control sequences, or just the one."""
    if control[:2] == "\x1b[" and (control[-1] == "\n" or "\x1b" in control[2:]):
        return _SEQUENCES.findall(control)
    return [control]


class Tokenizer:
    """Turns bytes into text and control strings, and keeps what is unfinished."""

    def __init__(self, instead: str = DROPPED) -> None:
        """Begin; bytes that are no character become `instead`."""
        self._instead = instead.encode()
        self._bytes = b""
        """The beginning of a character at the end of the input."""
        self._behind = b""
        """The beginning of a character that goes on behind an escape sequence."""
        self._rest = ""
        """The beginning of a control string."""
        self._payload: list[str] = []
        """What came of an OSC, APC or ESC k so far, introducer included; empty while in none."""
        self._payload_size = 0
        self._payload_end = _STRING_ENDS["]"]

    @property
    def ground(self) -> bool:
        """Whether nothing unfinished is kept."""
        return not (self._bytes or self._behind or self.in_sequence)

    @property
    def in_sequence(self) -> bool:
        """Whether the beginning of a control string is kept."""
        return bool(self._rest or self._payload)

    @property
    def begun(self) -> bytes | None:
        """What is kept, if that is but the beginning of a character or of a short control sequence; else None."""
        if self._behind or self._payload or (self._rest and not UNFINISHED.match(self._rest)):
            return None
        return self._rest.encode() + self._bytes

    def begin(self, sequence: str, character: bytes) -> None:
        """Keep the beginning of a control sequence, or of a character, and nothing else."""
        self._rest, self._bytes = sequence, character

    def split(self, data: bytes) -> list[str]:
        """Return `cut` of all that `data` brings."""
        return self.cut(*self.text(data))

    def text(self, data: bytes) -> tuple[str, bool]:
        """Decode what comes next; `cut` is to be told whether bytes that were no UTF-8 stand in it as surrogates."""
        text, strays = self._decode(data)
        strays = strays or bool(self._behind)
        if self._rest and not self._payload:
            text, self._rest = self._rest + text, ""
        return text, strays

    def cut(self, text: str, strays: bool) -> list[str]:
        """Return text and control strings in turn, beginning and ending with text, which may be empty.

        Control strings are as they came, junk included (see `controls_first`).
        """
        if self._payload:
            text = self._after_payload(text)
        elif self._rest:
            text, self._rest = self._rest + text, ""
        tokens = split_controls(text)
        if not tokens[-1] and len(tokens) > 1 and tokens[-2][0] == "\x1b" and not _FINISHED.fullmatch(tokens[-2]):
            del tokens[-1]
            for control in self._hold(tokens.pop()):
                tokens += control, ""
        if strays:
            tokens = [part for token in tokens for part in _without_line_feed(token)]
            tokens[::2] = self._without_strays(tokens)
        return tokens

    def _decode(self, data: bytes) -> tuple[str, bool]:
        if DELETE in data:
            data = data.replace(DELETE, b"")
        if self._bytes:
            data, self._bytes = self._bytes + data, b""
        strays = False
        try:
            text, used = codecs.utf_8_decode(data, "strict", False)
        except UnicodeDecodeError:
            strays = True
            used = len(data) - _unfinished(data)
            text = data[:used].decode("utf-8", "surrogateescape")
        if used < len(data):
            self._bytes = data[used:]
        return text, strays

    def _after_payload(self, text: str) -> str:
        """Add to the unfinished control string; return what there is to split now."""
        end = self._payload_end.search(text)
        if end is None:
            self._keep(text)
            return ""
        kept, self._payload = self._payload, []
        if self._payload_size <= _STRING_LIMIT:
            return "".join(kept) + text
        return text[end.start() if end[0] == "\x1b" else end.end() :]

    def _keep(self, text: str) -> None:
        self._payload_size += len(text)
        if self._payload_size <= _STRING_LIMIT:
            self._payload.append(text)
        else:
            self._payload[1:] = []

    def _without_strays(self, tokens: Sequence[str]) -> list[str]:
        """Return the texts among `tokens`, every second one, without bytes that are no character."""
        texts: list[str] = []
        for position in range(0, len(tokens), 2):
            text = tokens[position]
            if not text and position < len(tokens) - 1 and not _cuts(tokens[position + 1]):
                texts.append("")  # a sequence follows the other
                continue
            if self._behind or STRAY.search(text):
                data = self._behind + text.encode("utf-8", "surrogateescape")
                size = _unfinished(data)
                is_cut = position < len(tokens) - 1 and _cuts(tokens[position + 1])
                self._behind = data[len(data) - size :] if size and not is_cut else b""
                text = _UTF8.sub(self._character, data[: len(data) - len(self._behind)]).decode()
                text += DROPPED if self._behind else ""
            texts.append(text)
        return texts

    def _character(self, match: re.Match[bytes]) -> bytes:
        try:
            match[0].decode()
        except UnicodeDecodeError:
            return self._instead
        return match[0]

    def _hold(self, token: str) -> str:
        """Keep an unfinished control string, in the shortest form that means the same; return its C0 controls."""
        head, kind, body = _HEAD.fullmatch(token).groups()  # type: ignore[union-attr]  # every token has a head
        controls, head = controls_first(head)
        if kind in _STRING_ENDS:
            self._payload = [head + kind]
            self._payload_size = 0
            self._payload_end = _STRING_ENDS[kind]
            self._keep(body)
        elif kind == "P":
            self._rest = head + kind + _shortest_dcs(body)
        elif kind and kind in "X^":
            self._rest = head + kind
        else:
            inner, body = controls_first(body)
            controls += inner
            overlong = "<<" if kind == "[" else "    "  # both mean: ignore this one, whatever comes
            self._rest = head + kind + (body if len(body) < _PARAMETERS_LIMIT else overlong)
        return controls


def _shortest_dcs(body: str) -> str:
    """Return the shortest beginning of a DCS that leaves the parser where `body` does; its payload is not used."""
    opened = _DCS_OPEN.fullmatch(body)
    if opened:
        return "q" + opened[2]
    head = _JUNK_RUN.sub("", body)
    shape = re.fullmatch(r"([<-?]?)([0-9;]?)[0-9;]*([ -/]?)[ -/]*", head)
    return "".join(shape.groups()) if shape else ":"


def _unfinished(data: bytes) -> int:
    """Return how many bytes at the end of `data` begin a character."""
    run = data[len(data.rstrip(_HIGH)) :]
    last = b""
    for match in _UTF8.finditer(run):
        last = match[0]
    size = 0 if not last or last[0] < 0xC2 or last[0] > 0xF4 else 2 + (last[0] >= 0xE0) + (last[0] >= 0xF0)
    return len(last) if len(last) < size else 0


def _cuts(control: str) -> bool:
    """Whether a control cuts a character short: one that is a C0 control, or has one inside that takes effect."""
    return control[0] != "\x1b" or (control[1:2] not in _STRINGS and _CONTROLS.search(control, 1) is not None)


def _without_line_feed(token: str) -> tuple[str, ...]:
    """Part a run of sequences from the line feed behind it, which alone cuts a character short."""
    return (token[:-2], "", "\r\n") if token[:2] == "\x1b[" and token[-2:] == "\r\n" else (token,)
