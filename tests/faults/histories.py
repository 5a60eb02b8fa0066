"""Turn the logs that the agents wrote into histories for `tests.history_checker`; pure.

The agents write what they said and what was typed into them. Nothing here comes from the daemon's own journal.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from tests.service.circles import BEAT, HARVEST, LAST, PIECE

Record = dict[str, str]
NOTICE = "[streamrelay]"
_SPOKEN = re.compile(r"^\[(\w+)\]: (.*)$", re.MULTILINE)
"""What a member of a council is typed of one who spoke."""
LATE: Mapping[str, str] = {"due": "no"}
"""Marks a text that was on its way when the run ended, or that the budget of the link left unheard."""


class Said(NamedTuple):
    """What an agent said, and when (seconds of `time.monotonic`)."""

    who: str
    text: str
    at: float


def split_header(typed: str) -> tuple[str, str]:
    """Return the sender and the text of a delivered message; the sender is empty where no header names one."""
    if typed.startswith("[From ") and "] " in typed:
        sender, _, text = typed.removeprefix("[From ").partition("] ")
        return sender, text
    return "", typed


def link_history(
    said: Sequence[Said], heard: Mapping[str, Sequence[str]], budget: int, channel: str = "link"
) -> list[Record]:
    """Judge a link of two agents: the first `budget` things that they said in turn are due.

    The header of a message from another machine names its sender as `NAME@NODE`.
    """
    in_turn = sorted(said, key=lambda one: one.at)
    records = [{"event": "joined", "channel": channel, "who": who} for who in heard]
    records += [
        {"event": "said", "channel": channel, "who": one.who, "text": one.text} | ({} if place < budget else LATE)
        for place, one in enumerate(in_turn)
    ]
    for who, messages in heard.items():
        for typed in messages:
            if not typed.startswith(NOTICE):
                sender, text = split_header(typed)
                records.append(heard_record(channel, who, sender.partition("@")[0], text))
    return records


def relay_history(
    said: Mapping[str, Sequence[str]], heard: Mapping[str, Sequence[tuple[str, str]]], due: Mapping[str, int]
) -> list[Record]:
    """Judge a relay: of each speaker the first `due[speaker]` things are due; `heard` has (sender, text)."""
    records = [{"event": "joined", "channel": "relay", "who": who} for who in said]
    for who, texts in said.items():
        records += [
            {"event": "said", "channel": "relay", "who": who, "text": f"{who}: {text}"}
            | ({} if place < due[who] else LATE)
            for place, text in enumerate(texts)
        ]
    for who, messages in heard.items():
        records += [heard_record("relay", who, sender, f"{sender}: {text}") for sender, text in messages]
    return records


def notes_history(listener: str, sent: Sequence[str], heard: Sequence[str], due: int) -> list[Record]:
    """Judge messages of a user to one agent: they arrive once and in order, the first `due` of them for certain."""
    channel = f"notes-{listener}"
    records = [{"event": "joined", "channel": channel, "who": who} for who in ("user", listener)]
    records += [
        {"event": "said", "channel": channel, "who": "user", "text": text} | ({} if place < due else LATE)
        for place, text in enumerate(sent)
    ]
    return records + [heard_record(channel, listener, "user", text) for text in heard]


def gathering_history(
    exchanges: Mapping[str, Sequence[tuple[str, str]]], speakers: Sequence[str], *, is_over: bool
) -> list[Record]:
    """Judge a gathering by what each member was told and answered; the answers in its tenures are what it said.

    The harvester gets all of it once more, when the circle has closed. Nothing is due unless the gathering `is_over`.
    """
    due = {} if is_over else LATE
    records = [{"event": "joined", "channel": "gathering", "who": who} for who in exchanges]
    records += [{"event": "joined", "channel": "harvest", "who": who} for who in exchanges if who not in speakers]
    for who in speakers:
        for text in spoken_in_tenures(exchanges[who]):
            records.append({"event": "said", "channel": "gathering", "who": who, "text": text} | due)
            records.append({"event": "said", "channel": "harvest", "who": who, "text": f"harvest: {text}"} | due)
    for listener, told in exchanges.items():
        for message, _ in told:
            channel, before = ("harvest", "harvest: ") if HARVEST.match(message) else ("gathering", "")
            records += [
                heard_record(channel, listener, speaker, before + text)
                for speaker, text in attributed(message, speakers)
            ]
    return records


def spoken_in_tenures(told: Sequence[tuple[str, str]]) -> Iterator[str]:
    """Return the answers of a member to what only the holder of the talking piece is told."""
    for message, answer in told:
        if answer and (PIECE.match(message) or BEAT.fullmatch(message) or message == LAST):
            yield answer


def attributed(message: str, speakers: Sequence[str]) -> list[tuple[str, str]]:
    """Return each text in a message of the moderator with the speaker that it names."""
    names = "|".join(rf"{re.escape(name)} \(\d\)" for name in speakers)
    one = re.compile(rf"(?:^|(?<=\n\n))({names}):\n\n(.*?)(?=\n\n(?:{names}):\n\n|\n\n\n|\nYou have |\Z)", re.DOTALL)
    return [(found[1].split(" (")[0], found[2].strip()) for found in one.finditer(message)]


def council_history(
    person: str,
    entered: Sequence[str],
    transcript: Sequence[tuple[str, str]],
    exchanges: Mapping[str, Sequence[tuple[str, str]]],
    *,
    is_over: bool,
    unconfirmed: Sequence[str] = (),
) -> list[Record]:
    """Judge a council: each member is typed what the `person` and the others said, and the person reads every answer.

    `transcript` has (author, text). Nobody is typed the last answers, which the next round would bring; in a session
    that is not over nothing is due. What is `unconfirmed` was entered, and may or may not have been accepted.
    """
    due = {} if is_over else LATE
    records = [{"event": "joined", "channel": "council", "who": who} for who in (person, *exchanges)]
    records += [{"event": "said", "channel": "council", "who": person, "text": text} | due for text in entered]
    records += [{"event": "said", "channel": "council", "who": person, "text": text} | LATE for text in unconfirmed]
    for who, told in exchanges.items():
        channel = f"read-{who}"
        records += [{"event": "joined", "channel": channel, "who": one} for one in (person, who)]
        answers = [answer for _, answer in told if answer]
        for place, text in enumerate(answers):
            records.append(
                {"event": "said", "channel": "council", "who": who, "text": text}
                | (due if place < len(answers) - 1 else LATE)
            )
            records.append({"event": "said", "channel": channel, "who": who, "text": f"read: {text}"} | due)
    for listener, told in exchanges.items():
        for message, _ in told:
            found = _SPOKEN.findall(message)
            records += [heard_record("council", listener, speaker, text) for speaker, text in found]
    for author, text in transcript:
        if author != person:
            records.append(heard_record("council", person, author, text))
            records.append(heard_record(f"read-{author}", person, author, f"read: {text}"))
    return records


def heard_record(channel: str, who: str, sender: str, text: str) -> Record:
    """Return the record of one delivered message."""
    return {"event": "heard", "channel": channel, "who": who, "from": sender, "text": text}
