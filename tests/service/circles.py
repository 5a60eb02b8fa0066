"""A stage for gatherings: scripted agents that are started for one, what each really got, and what it should have.

The model of who hears what is made of the seeds alone, and of what each speaker itself wrote down: it got private
words in its tenures and answered them, and each of these answers is heard by all others, once, in order.
"""

import asyncio
import json
import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from streamrelay.service.api import Gathering, Invited, StartGathering
from streamrelay.service.local import LocalService
from streamrelay.testing.agent import read_got
from tests.service.conftest import PATIENCE, Stage

SEED = re.compile(r"You are \w+ \(\d+\) in this gathering\.\n")
ANNOUNCED = re.compile(r"--- Phase: (?:(INHALE|HOLD|EXHALE) \(round (\d)/(\d)\)|(CLOSE)) ---\n")
PIECE = re.compile(r"(\w+) \((\d+)\), the piece is yours\. Phase: (\w+) \(round (\d)/(\d)\)\.\n")
BEAT = re.compile(r"\[Beat (\d)/(\d)\] Signals: .*\. Is your thread still alive\? Continue, pivot, or pass\.")
LAST = "Your turn is up. What would you like to say last?"
HARVEST = re.compile(r"\w+ \(\d+\), the circle has closed and it is your turn: make the harvest\.\n")


class CircleStage(Stage):
    """Scripted agents that are started for a gathering."""

    def invited(self, name: str, number: int, *options: str, answers: Sequence[str] = (), **said: Any) -> Invited:
        script = self.folder / f"{name}.json"
        script.write_text(json.dumps(list(answers) or [f"words {{number}} of {name}"]))
        arguments = (str(self.folder / name), "--answers", str(script), *options)
        return Invited(name=name, number=number, agent="sprite", arguments=arguments, **said)

    def said(self, name: str) -> list[str]:
        return [got.text for got in read_got(self.folder / name) if got.kind == "said"]

    def exchanges(self, name: str) -> list[tuple[str, str]]:
        """What an agent got, each with what it answered."""
        return list(zip(self.heard(name), [*self.said(name), *([""] * len(self.heard(name)))], strict=False))

    async def held(self, service: LocalService, *participants: Invited, **said: Any) -> Gathering:
        fast = {"structure": "1-1-1", "beats_per_turn": 2, "beat_interval_seconds": 0.5, "last_words_seconds": 8.0}
        request = StartGathering(participants=participants, **(fast | said))
        return await service.start_gathering(request)

    async def until_over(self, service: LocalService, gathering: str, patience: float = PATIENCE) -> Gathering:
        async def over() -> bool:
            return (await service.gathering(gathering)).closed_at is not None

        await until(over, patience, lambda: self.explain(service, gathering))
        return await service.gathering(gathering)

    async def explain(self, service: LocalService, gathering: str) -> str:
        events = [str(event) for event in await service.read_since(0, limit=100_000)]
        return "\n".join([*events, (await service.gathering_transcript(gathering)).markdown])


async def until(
    holds: Callable[[], Awaitable[object]], patience: float, explain: Callable[[], Awaitable[str]] | None = None
) -> None:
    try:
        async with asyncio.timeout(patience):
            while not await holds():
                await asyncio.sleep(0.02)
    except TimeoutError:
        if explain is not None:
            print(await explain())
        raise


@dataclass
class Model:
    """What everybody should have got, from what the speakers say that they got in their tenures and answered."""

    circle: CircleStage
    speakers: dict[int, str]
    harvester: tuple[int, str]
    rounds: Sequence[tuple[str, int]]
    beats: int
    typed: dict[str, list[list[str]]] = field(default_factory=dict)
    """What a person typed in each of his tenures."""

    def tenures(self, name: str) -> list[list[tuple[str, str]]]:
        """The tenures of a speaker by its own account: private words and its answers."""
        tenures: list[list[tuple[str, str]]] = []
        for got, answer in self.circle.exchanges(name):
            if PIECE.match(got):
                tenures.append([(got, answer)])
            elif BEAT.fullmatch(got) or got == LAST:
                tenures[-1].append((got, answer))
        return tenures

    def check_tenure(self, place: tuple[str, int, int], name: str, number: int, got: list[str]) -> None:
        """The piece in the right round; then beats that count up, each once, and the last word last."""
        found = PIECE.match(got[0])
        assert found is not None
        phase, turn, rounds = place
        assert found.groups() == (name, str(number), phase, str(turn), str(rounds))
        beats = [found for each in got[1:] if (found := BEAT.fullmatch(each))]
        assert got[1:] in ([beat[0] for beat in beats], [*(beat[0] for beat in beats), LAST])
        counted = [int(beat[1]) for beat in beats]
        assert counted == sorted(set(counted))
        assert set(counted) <= set(range(1, self.beats))
        assert all(int(beat[2]) == self.beats for beat in beats)

    def spoken(self) -> list[tuple[tuple[str, int, int], int, str, list[str]]]:
        """Every tenure in order: its place, who has it, and what is said in it."""
        left = {name: self.tenures(name) for name in self.speakers.values()}
        persons = {name: list(said) for name, said in self.typed.items()}
        result = []
        for phase, rounds in self.rounds:
            for turn in range(1, rounds + 1):
                for number, name in sorted(self.speakers.items()):
                    tenure = left[name].pop(0)
                    place = (phase, turn, rounds)
                    self.check_tenure(place, name, number, [got for got, _ in tenure])
                    said = persons[name].pop(0) if name in persons else [answer for _, answer in tenure]
                    result.append((place, number, name, said))
        assert not any(left.values())
        return result

    def check(self, *, digest: bool = False) -> list[tuple[str, str]]:
        """Compare what everybody got with what it should have; return all that was said, with who said it."""
        spoken = self.spoken()
        everything = [(f"{name} ({number})", text) for _, number, name, said in spoken for text in said]
        places = list(dict.fromkeys(place for place, *_ in spoken))
        for number, name in [*self.speakers.items(), self.harvester]:
            heard = self.circle.heard(name)
            assert SEED.match(heard[0]), heard[0]
            last = heard[-1]
            if (number, name) == self.harvester:
                assert HARVEST.match(last), last
                assert last.endswith("\n\n".join(f"{who}:\n\n{text}" for who, text in everything))
                heard = heard[:-1]
            announced = [found.groups() for got in heard if (found := ANNOUNCED.match(got))]
            expected = [(phase, str(turn), str(rounds), None) for phase, turn, rounds in places]
            assert announced == [*expected, (None, None, None, "CLOSE")], name
            others = [(who, text) for who, text in everything if who != f"{name} ({number})"]
            got = self.attributed(heard)
            assert got == others, (name, got, others)
            if not digest:
                assert self.in_order(heard, name) == self.expected_order(spoken, name)
        return everything

    def attributed(self, heard: Sequence[str]) -> list[tuple[str, str]]:
        """Everything that somebody is said to have said."""
        names = "|".join(re.escape(f"{name} ({number})") for number, name in self.speakers.items())
        one = re.compile(
            rf"(?:^|(?<=\n\n))({names}):\n\n(.*?)(?=\n\n(?:{names}):\n\n|\n\n\n|\nYou have |\Z)", re.DOTALL
        )
        return [(found[1], found[2].strip()) for got in heard for found in one.finditer(got)]

    def in_order(self, heard: Sequence[str], name: str) -> list[str]:
        """What one member heard, each by what kind it is."""
        kinds = []
        own = {LAST, *(text for texts in self.typed.get(name, ()) for text in texts)}
        for got in heard[1:]:
            if found := ANNOUNCED.match(got):
                kinds.append(found[4] or f"{found[1]} {found[2]}")
            elif PIECE.match(got):
                kinds.append("piece")
            elif not BEAT.fullmatch(got) and got not in own:
                kinds.append(got)
        return kinds

    def expected_order(self, spoken: Sequence[tuple[Any, int, str, list[str]]], name: str) -> list[str]:
        kinds: list[str] = []
        before = None
        for (phase, turn, _), number, speaker, said in spoken:
            if (phase, turn) != before:
                before = (phase, turn)
                kinds.append(f"{phase} {turn}")
            kinds += ["piece"] if speaker == name else [f"{speaker} ({number}):\n\n{text}" for text in said]
        return [*kinds, "CLOSE"]
