"""The judgement itself."""

import json
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal, NamedTuple

Kind = Literal["lost", "doubled", "reordered", "misattributed", "invented", "echoed"]
Record = Mapping[str, str]


class Finding(NamedTuple):
    """One violation: of what kind, where, who did not hear what as they should have."""

    kind: Kind
    channel: str
    listener: str
    text: str
    why: str = ""


@dataclass
class Verdict:
    """All violations, and how much was judged."""

    said: int = 0
    heard: int = 0
    findings: list[Finding] = field(default_factory=list)

    @property
    def counts(self) -> dict[str, int]:
        """How many violations there are of each kind."""
        return dict(Counter(finding.kind for finding in self.findings))

    def __str__(self) -> str:
        wrong = ", ".join(f"{count} {kind}" for kind, count in sorted(self.counts.items())) or "nothing wrong"
        return f"{self.said} said, {self.heard} heard: {wrong}"


class _Saying(NamedTuple):
    channel: str
    speaker: str
    place: int


def read_histories(folder: Path) -> list[list[Record]]:
    """Return the histories in a folder, one a file."""
    return [
        [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
        for path in sorted(folder.glob("*.jsonl"))
    ]


def check(histories: Iterable[Sequence[Record]]) -> Verdict:
    """Judge the histories of all nodes together."""
    histories = list(histories)
    members: dict[str, set[str]] = defaultdict(set)
    sayings: dict[str, _Saying] = {}
    undue: set[str] = set()
    verdict = Verdict()
    for history in histories:
        for record in history:
            if record["event"] == "joined":
                members[record["channel"]].add(record["who"])
            elif record["event"] == "said":
                if record["text"] in sayings:
                    raise ValueError(f"a text was said twice, so that it names no saying: {record['text']!r}")
                sayings[record["text"]] = _Saying(record["channel"], record["who"], len(sayings))
                if record.get("due") == "no":
                    undue.add(record["text"])
    verdict.said = len(sayings)
    times: Counter[tuple[str, str, str]] = Counter()
    latest: dict[tuple[str, str, str], int] = {}
    for history in histories:
        for record in history:
            if record["event"] == "heard":
                verdict.heard += 1
                verdict.findings += _judge(record, sayings, times, latest)
    for text, saying in sayings.items():
        if text in undue:
            continue
        for listener in sorted(members[saying.channel] - {saying.speaker}):
            if not times[saying.channel, listener, text]:
                verdict.findings.append(Finding("lost", saying.channel, listener, text))
    return verdict


def _judge(
    record: Record,
    sayings: Mapping[str, _Saying],
    times: Counter[tuple[str, str, str]],
    latest: dict[tuple[str, str, str], int],
) -> Iterable[Finding]:
    channel, listener, text = record["channel"], record["who"], record["text"]
    saying = sayings.get(text)
    if saying is None:
        yield Finding("invented", channel, listener, text, "nobody said this")
        return
    times[channel, listener, text] += 1
    if (saying.channel, saying.speaker) != (channel, record["from"]):
        yield Finding("misattributed", channel, listener, text, f"{saying.speaker} said it in {saying.channel}")
        return
    if listener == saying.speaker:
        yield Finding("echoed", channel, listener, text)
        return
    if times[channel, listener, text] > 1:
        yield Finding("doubled", channel, listener, text)
        return
    key = (channel, saying.speaker, listener)
    if saying.place < latest.get(key, -1):
        yield Finding("reordered", channel, listener, text)
    latest[key] = max(saying.place, latest.get(key, -1))
