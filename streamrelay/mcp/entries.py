"""Converts journaled events into entries for agents: who said what, and whether it was delivered.

The lines of one turn are one entry. Text that streamrelay types (`injected`) is left out, because its speaker's output
is an entry already.
"""

from collections.abc import Iterable, Mapping
from datetime import UTC, datetime

import msgspec

from streamrelay.counts import deliveries
from streamrelay.events import (
    Event,
    Gap,
    LinkClosed,
    LinkCreated,
    LinkExtended,
    LinkSpent,
    NeedsHuman,
    PaneClosed,
    Receipt,
    RelayClosed,
    RelayDelivered,
    RelayOpened,
    RelayWithheld,
    Text,
    TurnEnded,
)
from streamrelay.mcp.results import JournalEntry, label
from streamrelay.sessions.model import Session

MAX_CHARACTERS = 20_000
"""The limit of one answer: an agent reads all of it into its context."""


def read(
    events: Iterable[Event], limit: int, sessions: Mapping[str, Session] | None = None
) -> tuple[list[JournalEntry], int | None]:
    """Return the entries of at most `limit` events, and the `seq` of the last event read (None without one).

    `sessions` are the running sessions by pane. The function stops early at `MAX_CHARACTERS` of text.
    """
    entries: list[JournalEntry] = []
    speaking: tuple[str, int, str] | None = None
    characters, last = 0, None
    for _, event in zip(range(limit), events, strict=False):
        entry = _entry(event, sessions or {})
        if entry is not None:
            characters += len(entry.text) + 1
            if characters > MAX_CHARACTERS and entries:
                break
            entry = _shortened(entry)
            speaker = (event.session, event.turn, entry.what) if isinstance(event, Text) else None
            if speaker is not None and speaker == speaking:
                before = entries.pop()
                entry = msgspec.structs.replace(entry, at=before.at, text=f"{before.text}\n{entry.text}")
            entries.append(entry)
            speaking = speaker
        last = event.seq
    return entries, last


def moment(at: float) -> str:
    """Return a Unix time as readable text, in UTC."""
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M:%SZ")


def _entry(event: Event, sessions: Mapping[str, Session]) -> JournalEntry | None:
    told = _told(event)
    if told is None:
        return None
    what, text = told
    at = event.at if isinstance(event.at, float | int) else 0.0
    known = sessions.get(event.pane)
    session, title = (known.session, label(known.title)) if known else (event.pane or event.session, "")
    return JournalEntry(seq=event.seq, at=moment(at), session=session, title=title, what=what, text=text)


def _told(event: Event) -> tuple[str, str] | None:
    match event:
        case Text(origin="program", text=text):
            return "says", text
        case Text(origin="typed", text=text):
            return "a person typed", text
        case TurnEnded():
            return "has finished its turn", ""
        case NeedsHuman(kind=kind, text=text):
            return f"waits for a person ({kind})", text
        case PaneClosed(reason=reason):
            return f"is gone ({reason})", ""
        case Gap(reason=reason):
            return f"something may be missing here ({label(reason)})", ""
        case Receipt(message_id=message_id, state=state, reason=reason):
            return f"message {label(message_id)} is {state}{f' ({label(reason)})' if reason else ''}", ""
        case _:
            return _of_conversations(event)


def _of_conversations(event: Event) -> tuple[str, str] | None:
    match event:
        case LinkCreated(link=link, titles=(first, second)):
            return f"link {link} of {label(first)} and {label(second)} begins", ""
        case LinkSpent(link=link, deliveries=count):
            return f"link {link} is spent after {deliveries(count)}", ""
        case LinkExtended(link=link, budget=budget):
            return f"link {link} continues, up to {deliveries(budget)}", ""
        case LinkClosed(link=link, reason=reason):
            return f"link {link} is closed ({reason})", ""
        case RelayOpened(relay=relay, participants=names):
            return f"relay {relay} of {', '.join(map(label, names))} begins", ""
        case RelayDelivered(speaker=speaker, listeners=listeners):
            return f"what {label(speaker)} said goes to {', '.join(map(label, listeners))}", ""
        case RelayWithheld(speaker=speaker, why=why):
            return f"what {label(speaker)} said was not delivered ({label(why)})", ""
        case RelayClosed(relay=relay, reason=reason):
            return f"relay {relay} is closed ({reason})", ""
        case _:
            return None


def _shortened(entry: JournalEntry) -> JournalEntry:
    if len(entry.text) <= MAX_CHARACTERS:
        return entry
    rest = len(entry.text) - MAX_CHARACTERS
    return msgspec.structs.replace(entry, text=f"{entry.text[:MAX_CHARACTERS]} [and {rest} characters more]")
