"""A short gathering: two speakers and a harvester, one round in each phase, and the harvest.

They are the scripted agents of the duet, and what they say stands here: each of them answers everything that is typed
to it, and only what it says with the piece is heard by the others, which their own accounts prove.
"""

import asyncio
import contextlib
import json
import sys
from collections.abc import Callable
from pathlib import Path

import msgspec

import streamrelay
from streamrelay.agents import load_profiles, parse_profile
from streamrelay.events import GatheringClosed
from streamrelay.service.api import Gathering, GatheringTranscript, Invited, StartGathering
from streamrelay.service.local import LocalService
from streamrelay.testing.agent import PROFILE, read_got
from streamrelay.testing.tmux import PrivateTmux

Show = Callable[[str, str], None]

SPEAKERS, HARVESTER = {1: "Sage", 2: "Rex"}, "Ada"
QUESTION = "What wants attention today?"
CIRCLE = "circle"
_LISTENS = "(listening)"
_WORDS = {
    "Sage": (
        "The tests pass, and take twice as long as a month ago.",
        "You want fewer tests, Rex, and I want faster ones. Both would be done by one that starts tmux once.",
        "One shared server for the slow half; the fast half stays as it is.",
    ),
    "Rex": (
        "Two people asked how to add a profile. The guide says it, and no reader finds it.",
        "Half of them start a server of their own. That is what is slow, not how many there are.",
        "Agreed. And a link to the profiles from the first page of the guide.",
    ),
}
_HARVEST = """\
todos: one tmux server for the slow tests (Sage, Rex agrees).
document edits: the guide's first page links to the profiles (Rex).

## Trail

The slow tests have a plan. Open: who measures it. Ask next: did anybody find the profiles?"""
_START = f"""
[start]
command = {json.dumps([sys.executable, "-m", "streamrelay.testing.agent"])}
"""
_TIME_LIMIT = 40.0


def _answers(name: str) -> list[str]:
    """Return what a participant answers to each message, in order."""
    if name == HARVESTER:
        # The seed, the three rounds with two contributions each, the close.
        return [_LISTENS] * 11 + [_HARVEST]
    first = 2 if name == "Sage" else 3
    answers = [_LISTENS] * 12
    for turn, words in enumerate(_WORDS[name]):
        answers[first + 3 * turn] = f"{words}\n\nI pass."
    return answers


async def _closed(service: LocalService) -> None:
    async with contextlib.aclosing(service.batches(0)) as batches:
        async for batch in batches:
            if any(isinstance(event, GatheringClosed) for event in batch):
                return


class Ring:
    """The gathering, and what each member got."""

    def __init__(self, tmux: PrivateTmux, folder: Path, show: Show) -> None:
        self._tmux = tmux
        self._folder = folder
        self._show = show
        self._told: GatheringTranscript | None = None

    @property
    def contributions(self) -> int:
        """How many there were that all others have heard."""
        return 0 if self._told is None else sum(entry.kind == "said" for entry in self._told.entries)

    async def run(self) -> None:
        """Hold it, and show its transcript."""
        # Who is known by a profile is not spoken to before it is ready, however long it takes.
        profiles = [*load_profiles(), parse_profile("sprite", PROFILE + _START, source="sprite.toml")]
        connection = streamrelay.connect(
            tmux=self._tmux.binary, socket_path=str(self._tmux.socket_path), profiles=profiles
        )
        async with connection as server, LocalService(server, folder=self._folder / "service") as service:
            members = [self._invited(name, number) for number, name in SPEAKERS.items()]
            members.append(self._invited(HARVESTER, len(members) + 1))
            held = await service.start_gathering(
                StartGathering(rhythm="daily", participants=members, opening_question=QUESTION)
            )
            async with asyncio.timeout(_TIME_LIMIT):
                await _closed(service)
            self._told = await service.gathering_transcript(held.gathering)
        for line in self._told.markdown.rstrip("\n").split("\n"):
            self._show(CIRCLE, line)

    def judge(self) -> list[str]:
        """Return the failures."""
        if self._told is None:
            return ["the gathering did not come to its end"]
        gathering: Gathering = self._told.gathering
        failures = [] if gathering.reason == "complete" else [f"the gathering ended: {gathering.reason}"]
        if gathering.harvest.split() != _HARVEST.split():
            failures.append(f"the harvest is {gathering.harvest!r}")
        expected = [(name, f"{_WORDS[name][turn]}\n\nI pass.") for turn in range(3) for name in SPEAKERS.values()]
        said = [(entry.name, entry.text) for entry in self._told.entries if entry.kind == "said"]
        if said != expected:
            failures.append(f"in the gathering {said} was said")
        numbers = {name: number for number, name in SPEAKERS.items()}
        for listener in (*SPEAKERS.values(), HARVESTER):
            got = [one.text for one in read_got(self._log(listener)) if one.kind == "message"]
            heard = [text for text in got if any(text.startswith(f"{name} ({numbers[name]}):") for name in numbers)]
            others = [f"{name} ({numbers[name]}):\n\n{text}" for name, text in expected if name != listener]
            if heard != others:
                failures.append(f"{listener} heard {heard} in the gathering")
        return failures

    def _invited(self, name: str, number: int) -> Invited:
        answers = self._folder / f"{name}.answers"
        answers.write_bytes(msgspec.json.encode(_answers(name)))
        words = ("--log", str(self._log(name)), "--answers", str(answers))
        invited = Invited(name=name, number=number, agent="sprite", arguments=words)
        return msgspec.structs.replace(invited, role="harvester") if name == HARVESTER else invited

    def _log(self, name: str) -> Path:
        return self._folder / f"{name}.got"
