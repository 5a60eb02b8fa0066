"""Exports a gathering: the conversation as text, the transcript and the harvest as Markdown and JSON. Pure."""

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, datetime
from types import MappingProxyType

import msgspec

from streamrelay.gathering.members import Member
from streamrelay.gathering.plan import Plan, counted
from streamrelay.gathering.state import RecordEntry
from streamrelay.relay.attribution import ATTRIBUTED, filled

FORMAT = 1
MAX_TRAIL_LENGTH = 2_000


class GatheringExport(msgspec.Struct, frozen=True, kw_only=True):
    """The export of a gathering."""

    format: int = FORMAT
    gathering: str
    started_at: float = 0.0
    """Unix time; 0 if unknown."""
    plan: Plan
    members: tuple[Member, ...]
    entries: tuple[RecordEntry, ...]
    closed: str = ""
    """Why it ended; empty while it is in progress."""
    harvest: str = ""
    trail: str = ""


def export(
    gathering: str, plan: Plan, members: Sequence[Member], record: Sequence[RecordEntry], *, started_at: float = 0.0
) -> GatheringExport:
    """Return the export of a gathering."""
    harvest = "\n".join(entry.text for entry in record if entry.kind == "harvest")
    closed = next((entry.text for entry in record if entry.kind == "closed"), "")
    return GatheringExport(
        gathering=gathering, started_at=started_at, plan=plan, members=tuple(members), entries=tuple(record),
        closed=closed, harvest=harvest, trail=trail(harvest),
    )  # fmt: skip


def conversation(record: Iterable[RecordEntry], members: Iterable[Member]) -> str:
    """Return the contributions, each under its speaker's name.

    A line that looks like such a name is quoted, so that no member can speak for another.
    """
    headers = {member.number: filled(ATTRIBUTED, name=member.name, number=member.number, text="") for member in members}
    names = {header.strip() for header in headers.values()}

    def unmistakable(text: str) -> str:
        return "\n".join(f"> {line}" if line.strip() in names else line for line in text.split("\n"))

    said = [entry for entry in record if entry.kind == "said"]
    return "\n\n".join(headers[entry.number] + unmistakable(entry.text) for entry in said)


def as_json(exported: GatheringExport) -> str:
    """Return a transcript as JSON that can be read as one, indented, with a line feed."""
    return msgspec.json.format(msgspec.json.encode(exported), indent=2).decode() + "\n"


def as_markdown(exported: GatheringExport) -> str:
    """Return a transcript as Markdown: the members, the contributions of each round with names and times, the harvest.

    Contributions are quoted, so that their text cannot pass for a part of the transcript.
    """
    plan = exported.plan
    names = {member.number: member.label for member in exported.members}
    rounds = plan.breath
    begun = f", {datetime.fromtimestamp(exported.started_at, UTC):%Y-%m-%d %H:%M} UTC" if exported.started_at else ""
    beats = f"{counted(plan.beats_per_turn, 'beat')} of {plan.beat_interval_seconds:g} s"
    lines = [
        f"# Gathering {exported.gathering}",
        "",
        f"{plan.rhythm.capitalize()}, {rounds}{begun}. {beats}.",
        "",
        *(["Opening question:", "", *quoted(plan.question), ""] if plan.question else []),
        *(f"* {member.label}, {member.role}{', a person' if member.is_human else ''}" for member in exported.members),
    ]
    for entry in exported.entries:
        who = names.get(entry.number, "")
        match entry.kind:
            case "phase" if entry.phase == "close":
                lines += ["", "## Close"]
            case "phase":
                lines += ["", f"## {entry.phase.capitalize()}, round {entry.round} of {rounds.rounds(entry.phase)}"]
            case "said":
                lines += ["", f"**{who}**, {_clock(entry.t)}", "", *quoted(entry.text)]
            case "passed":
                lines += ["", f"*{passed_words(who, entry.text)}, {_clock(entry.t)}.*"]
            case "left":
                lines += ["", f"*{who} is gone ({entry.text}), {_clock(entry.t)}.*"]
            case "harvest":
                lines += ["", f"**{who}**, the harvest, {_clock(entry.t)}", "", *quoted(entry.text)]
            case "paused" | "resumed" | "closed":
                lines += [
                    "",
                    f"*{entry.kind.capitalize()}{f' ({entry.text})' if entry.text else ''}, {_clock(entry.t)}.*",
                ]
    return "\n".join(lines) + "\n"


PASSED: Mapping[str, str] = MappingProxyType(
    {
        "phrase": "{who} passed the piece on",
        "tool": "{who} passed the piece on",
        "time": "Time is up for {who}",
        "last_words": "{who} said their last words",
        "left": "{who} left with the piece",
        "closed": "{who} gave the piece back: the gathering closes",
    }
)
"""How a holder's tenure ended, in the words that the page has too (web/page/circle.js)."""


def passed_words(who: str, how: str) -> str:
    """Return a sentence without its period: how the piece left its holder `who`, by `PassedHow`."""
    return PASSED.get(how, f"{{who}} passed the piece on ({how})").replace("{who}", who)


def quoted(text: str) -> list[str]:
    """Return the lines of a text as a quotation."""
    return [f"> {line}".rstrip() for line in text.splitlines()]


def _clock(seconds: float) -> str:
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def trail(harvest: str) -> str:
    """Return the part of a harvest for the next gathering: the text below its last heading that names the trail."""
    lines = harvest.split("\n")
    headings = [at for at, line in enumerate(lines) if _TRAIL.match(line)]
    if not headings:
        return ""
    begin = headings[-1]
    rest = _TRAIL.sub("", lines[begin]).strip(" :*-–—")
    depth = len(lines[begin]) - len(lines[begin].lstrip("#"))
    below: list[str] = [rest] if rest else []
    for line in lines[begin + 1 :]:
        if depth and re.match(rf"#{{1,{depth}}}\s", line):
            break
        below.append(line)
    return "\n".join(below).strip()[:MAX_TRAIL_LENGTH].rstrip()


_TRAIL = re.compile(
    r"^\s*(?:#{1,6}\s*|\*\*\s*)?(?:the\s+)?trail(?:\s+entry)?\b(?:\s*\*\*)?\s*(?=$|[:*—–-])", re.IGNORECASE
)
