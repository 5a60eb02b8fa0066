"""Export of a session: Markdown for people, JSON for programs.

Neither holds a key, a server's address or a prompt: only who said what, in which round, and what it cost.
"""

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from typing import Final

import msgspec

from streamrelay.council.context import Entry
from streamrelay.council.coordinator import RoundKind
from streamrelay.council.store import CouncilStore, SessionInfo, Spent
from streamrelay.counts import counted
from streamrelay.delivery.sanitise import sanitised
from streamrelay.errors import UsageError

_ROUNDS: Final[dict[RoundKind, str]] = {
    "open": "Round {}",
    "blind": "Round {}: blind",
    "dissent": "Round {}: dissent",
    "chair": "Round {}: the chair sums up",
    "again": "Round {}: another try",
}


async def export(store: CouncilStore, session: str, *, as_json: bool) -> str:
    """Return the export of a stored session; raises UsageError for an unknown id."""
    info = next((stored for stored in await store.sessions() if stored.id == session), None)
    if info is None:
        raise UsageError(f"no session of the council is called {session}", hint="streamrelay council list")
    write = as_json_document if as_json else as_markdown
    return write(info, await store.entries(session), await store.spent(session))


def as_markdown(info: SessionInfo, entries: Sequence[tuple[Entry, bool]], spent: Iterable[Spent]) -> str:
    """Return a session as Markdown, without control characters; each entry comes with whether it is queued."""
    lines = [f"# {info.title or 'A council'}", "", f"{info.id} · {_date(info.created)} · {', '.join(info.members)}"]
    round_ = 0
    for entry, queued in entries:
        if entry.round and entry.round != round_ and entry.kind == "member":
            round_ = entry.round
            lines += ["", f"## {_ROUNDS[entry.round_kind].format(round_)}"]
        remark = " (broken off)" if entry.partial else " (queued)" if queued else ""
        lines += ["", f"**{entry.author}**{remark}", "", entry.text]
    lines += ["", "## Cost", "", *(f"* {line}" for line in spent_lines(spent))]
    return sanitised("\n".join(lines)) + "\n"


def as_json_document(info: SessionInfo, entries: Sequence[tuple[Entry, bool]], spent: Iterable[Spent]) -> str:
    """Return a session as one JSON object."""
    messages = [{**msgspec.to_builtins(entry), "queued": queued} for entry, queued in entries]
    document = {
        "session": info.id,
        "created": _date(info.created),
        "title": info.title,
        "members": info.members,
        "messages": messages,
        "spent": msgspec.to_builtins(list(spent)),
    }
    return msgspec.json.format(msgspec.json.encode(document), indent=2).decode() + "\n"


def spent_lines(spent: Iterable[Spent]) -> Iterator[str]:
    """Yield a line with tokens and cost for each member, or one sentence if no member has answered."""
    rows = list(spent)
    for row in rows:
        cost = "no price known" if row.cost is None else f"${row.cost:.4f}"
        tokens = f"{row.read:,} tokens read, {row.written:,} written" if row.read or row.written else "no tokens told"
        yield f"{row.member}: {counted(row.answers, 'answer')}, {tokens}, {cost}"
    if not rows:
        yield "no member has answered yet"


def _date(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
