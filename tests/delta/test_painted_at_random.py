"""Talks put together at random: nothing is lost, said by somebody else, or said twice."""

import random
from collections.abc import Callable
from dataclasses import replace

import pytest

from streamrelay.testing.painted_talk import LOOKS, Talk
from streamrelay.testing.transcript_program import UiStyle

WORDS = (
    "the", "a", "keys", "drawer", "build", "why", "is", "it", "so", "go", "on", "next", "please", "tell", "me", "about",
    "fox", "lazy", "dog", "yes", "no",
)  # fmt: skip


class RandomTalk:
    """What happens, one thing after the other, and what has to be heard of it."""

    def __init__(self, seed: int) -> None:
        self._chance = random.Random(seed)
        self.talk = Talk(self._look())
        self.truth: list[tuple[str, str]] = []
        self._number = 0

    def run(self) -> None:
        happenings = (
            self.sends, self.sends, self.sends_unseen, self.types, self.types,
            self.types_a_command, self.loses, self.queues_a_message, self.queues_what_is_typed,
        )  # fmt: skip
        for _ in range(self._chance.randint(3, 6)):
            self._chance.choice(happenings)()
        self.talk.pane.ends()

    def sends(self) -> None:
        message = self._message()
        self.talk.sends(message)
        self._answers("injected", message)

    def sends_unseen(self) -> None:
        """The program paints nothing of it before it has read the Enter."""
        message = self._message()
        self.talk.pane.submits(self.talk.pane.pastes(message))
        self.talk.paints(self.talk.program.drafts(message) + self.talk.program.submits())
        self._answers("injected", message)

    def types(self) -> None:
        text = self._phrase()
        self._types(text)
        self.talk.paints(self.talk.program.submits())
        self._answers("typed", text)

    def types_a_command(self) -> None:
        """The transcript does not show it, and of its output nobody can tell what it answers."""
        self._types("/compact")
        self.talk.program.queues()
        self.talk.paints(self.talk.program.works())
        self.talk.answers(f"Compacted {self._number}.")

    def loses(self) -> None:
        message_id = self.talk.pane.pastes(self._message())
        self.talk.pane.rests(0.5)
        self.talk.pane.submits(message_id)
        self.talk.pane.rests(20)

    def queues_a_message(self) -> None:
        self._is_asked()
        message = self._phrase()
        if self._chance.random() < 0.5:
            self.talk.asks(message)
            self.talk.program.queues()
        else:
            self.talk.pane.submits(self.talk.pane.pastes(message))
        self._takes_up("injected", message)

    def queues_what_is_typed(self) -> None:
        self._is_asked()
        text = self._phrase()
        self._types(text)
        self.talk.program.queues()
        self._takes_up("typed", text)

    def _look(self) -> UiStyle:
        look = self._chance.choice(LOOKS)
        if self._chance.random() < 0.4:
            look = replace(look, folds_from=3)
        if self._chance.random() < 0.3:
            look = replace(look, bullet=self._chance.choice(["  ", "• ", "⏺ "]))
        return replace(look, placeholder="Try: write a test") if self._chance.random() < 0.3 else look

    def _phrase(self) -> str:
        self._number += 1
        return " ".join([*self._chance.choices(WORDS, k=self._chance.randint(1, 8)), str(self._number)])

    def _message(self) -> str:
        return self._phrase() if self._chance.random() < 0.6 else f"Ivy ({self._number}):\n\n{self._phrase()}"

    def _is_asked(self) -> None:
        message = self._message()
        self.talk.sends(message)
        self._says("injected", message, self.talk.streams)

    def _types(self, text: str) -> None:
        """Type as fast as snapshots are taken, or faster, and not seen to the end by chance."""
        seen = self._chance.choice([len(text), self._chance.randint(1, len(text))])
        typed = 1
        while typed <= seen:
            self.talk.paints(self.talk.program.drafts(text[:typed]))
            typed += self._chance.choice([1, 1, 1, 2, 3])
        self.talk.program.drafts(text)

    def _takes_up(self, origin: str, text: str) -> None:
        self.talk.paints(*(self.talk.program.works() for _ in range(self._chance.randint(1, 6))))
        self.talk.paints(self.talk.program.submits(text))
        self._answers(origin, text)

    def _answers(self, origin: str, asked: str) -> None:
        self._says(origin, asked, self.talk.answers)

    def _says(self, origin: str, asked: str, say: Callable[[str], None]) -> None:
        # Rows that are filled could be one line.
        words = [
            " ".join([*self._chance.choices(WORDS, k=self._chance.randint(2, 5)), f"{self._number}.{line}"])
            for line in range(self._chance.randint(1, 4))
        ]
        self.truth += [(origin, line) for line in asked.split("\n") if line]
        self.truth += [("program", line) for line in words]
        say("\n".join(words))


@pytest.mark.sampled(12)
@pytest.mark.requirement("DEL-01", "DEL-02b", "DEL-02c", "DEL-05")
@pytest.mark.parametrize("seed", [*range(60), *(pytest.param(seed, marks=pytest.mark.slow) for seed in range(60, 400))])
def test_all_is_heard_in_order(seed: int) -> None:
    happening = RandomTalk(seed)
    happening.run()
    heard = [line for line in happening.talk.heard() if not line[1].startswith("Compacted")]
    assert heard == happening.truth
