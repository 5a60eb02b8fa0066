"""The text of a proposed profile: each line with its evidence, and a comment for each key without evidence.

What came out of a pane is written as data alone: quoted rows as TOML strings, comments without anything that could end
a line or turn text around.
"""

import json
from collections.abc import Iterable, Sequence

from streamrelay.learning.findings import Finding, FoundValue, Key, NoFinding

_TABLES: tuple[tuple[str, tuple[Key, ...]], ...] = (
    ("recognise", ("recognise.commands", "recognise.interpreters", "recognise.signs")),
    ("state", ("state.busy_titles", "state.idle_titles")),
    ("screen", ("screen.footers", "screen.furniture", "screen.activity")),
    (
        "delivery",
        (
            "delivery.ready",
            "delivery.composer",
            "delivery.submit_delay",
            "delivery.paste_limit",
            "delivery.mid_turn",
        ),
    ),
)
_ELSEWHERE: tuple[Key, ...] = ("dialogs", "stop_hook", "transcript")
_SINGLE = frozenset({"delivery.composer", "delivery.submit_delay", "delivery.paste_limit", "delivery.mid_turn"})


def write_profile(title: str, recording: str, about: str, findings: Sequence[Finding]) -> str:
    """Return the TOML of a profile; `recording` is what its quoted rows are from."""
    lines = [
        f"# Proposed by `streamrelay learn` from {_comment(recording)}: {about}.",
        "# One recording shows what it shows. Each pattern quotes the row it was made from, and is held to it whenever",
        "# this file is read; a comment says on what evidence it stands, or that there was none.",
        f"title = {_string(title)}",
    ]
    for table, keys in _TABLES:
        held = [finding for finding in findings if finding.key in keys]
        if held:
            lines += ["", f"[{table}]"]
        for key in keys:
            lines += _key(key, [finding for finding in held if finding.key == key], recording)
    rest = [finding for finding in findings if finding.key in _ELSEWHERE]
    return "\n".join([*lines, *[""][: len(rest)], *(f"# {one.key}: {_comment(one.why)}" for one in rest)]) + "\n"


def _key(key: Key, findings: Iterable[Finding], recording: str) -> list[str]:
    name = key.partition(".")[2]
    lines: list[str] = []
    items: list[str] = []
    for finding in findings:
        match finding:
            case NoFinding(why=why):
                lines.append(f"# {name}: {_comment(why)}")
            case FoundValue() if key in _SINGLE:
                lines += [f"# {_comment(finding.why)}", f"{name} = {_value(finding, recording)}"]
            case FoundValue():
                items += [f"    # {_comment(finding.why)}", f"    {_value(finding, recording)},"]
    return [*lines, *([f"{name} = [", *items, "]"] if items else [])]


def _value(found: FoundValue, recording: str) -> str:
    if isinstance(found.value, float | int):
        return f"{found.value:g}"
    if found.seen is None:
        return _string(found.value)
    source = f"{recording} at {found.t:.3f} s"
    return f"{{ pattern = {_literal(found.value)}, seen = {_string(found.seen)}, source = {_string(source)} }}"


def _literal(pattern: str) -> str:
    return f"'{pattern}'" if "'" not in pattern and pattern.isprintable() else _string(pattern)


def _string(text: str) -> str:
    """Return a TOML basic string: JSON's, with everything that cannot be printed written out."""
    return "".join(_escaped(character) for character in json.dumps(text, ensure_ascii=False))


def _escaped(character: str) -> str:
    if character.isprintable():
        return character
    code = ord(character)
    if 0xD800 <= code <= 0xDFFF:
        return "\\ufffd"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def _comment(text: str) -> str:
    return "".join(character if character.isprintable() else "\ufffd" for character in text)
