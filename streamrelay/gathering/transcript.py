"""What is left of a gathering: the conversation as text, the transcript and the harvest as Markdown and JSON. Pure."""

import re
from collections.abc import Iterable, Sequence

import msgspec

from streamrelay.gathering.members import Member
from streamrelay.gathering.plan import Plan
from streamrelay.gathering.standing import Entry
from streamrelay.relay.attribution import ATTRIBUTED, filled

FORMAT = 1
LONGEST_TRAIL = 2_000


class Transcript(msgspec.Struct, frozen=True, kw_only=True):
    """A gathering as it is exported."""

    format: int = FORMAT
    gathering: str
    started_at: float = 0.0
    """Unix time; 0 where it is not known."""
    plan: Plan
    members: tuple[Member, ...]
    entries: tuple[Entry, ...]
    closed: str = ""
    """Why it is over; empty while it is not."""
    harvest: str = ""
    trail: str = ""


def transcript(
    gathering: str, plan: Plan, members: Sequence[Member], record: Sequence[Entry], *, started_at: float = 0.0
) -> Transcript:
    """Return all of a gathering as one value."""
    harvest = "\n".join(entry.text for entry in record if entry.kind == "harvest")
    closed = next((entry.text for entry in record if entry.kind == "closed"), "")
    return Transcript(
        gathering=gathering, started_at=started_at, plan=plan, members=tuple(members), entries=tuple(record),
        closed=closed, harvest=harvest, trail=trail(harvest),
    )  # fmt: skip


def conversation(record: Iterable[Entry], members: Iterable[Member]) -> str:
    """Return what was said, each contribution under the name of who said it."""
    names = {member.number: member for member in members}
    said = [entry for entry in record if entry.kind == "said"]
    return "\n\n".join(
        filled(ATTRIBUTED, name=names[entry.number].name, number=entry.number, text=entry.text) for entry in said
    )


def trail(harvest: str) -> str:
    """Return what a harvest leaves to the next gathering: what stands below its last heading that names the trail."""
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
    return "\n".join(below).strip()[:LONGEST_TRAIL].rstrip()


_TRAIL = re.compile(
    r"^\s*(?:#{1,6}\s*|\*\*\s*)?(?:the\s+)?trail(?:\s+entry)?\b(?:\s*\*\*)?\s*(?=$|[:*—–-])", re.IGNORECASE
)
