"""A whole gathering, against what the specification says of it: loops over phases, rounds and speakers, and a sum.

The model knows nothing of the code: its words, times and order are those of the seeds and of the requirements. What it
says is compared with all that each member heard, each at its exact time.
"""

from dataclasses import dataclass, field

import pytest

from streamrelay.gathering.steps import Passed, Reached, Said, Stopped

SPEAKERS = {2: "Rex", 4: "Mo", 7: "Sage"}
HARVESTER = 1
EVERYBODY = (1, 2, 4, 7)
REACH = 2.0
ROUNDS = (("INHALE", 2), ("HOLD", 2), ("EXHALE", 2))
HARVEST = "todos: none\n## Trail\nnothing moved"

# What a speaker does in its n-th tenure: seconds after the prompt has reached it, and what it says.
SCRIPT: dict[tuple[int, int], list[tuple[float, str]]] = {
    (2, 1): [(5, "The tests pass, but slowly."), (70, "And there are many."), (185, "That is all.")],
    (4, 1): [(30, "I see no risk."), (31.5, "I pass.")],
    (7, 1): [],
    (2, 2): [(0.5, "I pass to Sage.")],
    (4, 2): [(59.5, "Short of a beat.\n\nOf two paragraphs."), (60.5, "Behind it. I pass.")],
    (7, 2): [(200, "Late words.")],
    (2, 3): [(10, "Two of us\ndisagree.")],
    (4, 3): [(10, "(tool)")],
    (7, 3): [(10, "Passing to Rex.")],
    (7, 4): [(125, "One."), (170, "Two."), (195, "Last.")],
    (2, 5): [(1, "Converge.")],
    (7, 6): [(179, "Just before the last beat.")],
}


@dataclass
class Model:
    """The nested loops of the ceremony, with a clock that is added up."""

    digest: bool
    heard: list[tuple[float, int, str]] = field(default_factory=list)
    said: list[tuple[int, str]] = field(default_factory=list)
    unheard: dict[int, list[str]] = field(default_factory=lambda: {number: [] for number in EVERYBODY})

    def hear(self, t: float, number: int, text: str) -> None:
        self.heard.append((t, number, text))

    def owed(self, number: int) -> str:
        texts, self.unheard[number] = self.unheard[number], []
        return "".join(f"\n\n{text}" for text in texts)

    def speak(self, t: float, speaker: int, text: str) -> None:
        self.said.append((speaker, text))
        for number in EVERYBODY:
            if number != speaker:
                attributed = f"{SPEAKERS[speaker]} ({speaker}):\n\n{text}"
                if self.digest:
                    self.unheard[number].append(attributed)
                else:
                    self.hear(t, number, attributed)

    def tenure(self, t: float, speaker: int, count: int) -> float:
        """Return when the piece goes on."""
        self.hear(t, speaker, "(piece)" + self.owed(speaker))
        begin = t + REACH
        marks: list[tuple[float, str]] = [
            (begin + 60, "(beat 1/3)"),
            (begin + 120, "(beat 2/3)"),
            (begin + 180, "(up)"),
        ]
        words = [(begin + after, text) for after, text in SCRIPT.get((speaker, count), [])]
        for at, text in sorted([*marks, *words]):
            if text.startswith("(") and text != "(tool)":
                self.hear(at, speaker, text)
                continue
            if text == "(tool)":
                return at
            self.speak(at, speaker, text)
            if "I pass" in text or "Passing to" in text:
                return at
            if at > begin + 180:
                # It was asked for its last words, and has said them.
                return at
        return begin + 210

    def run(self) -> None:
        t = 0.0
        for number in EVERYBODY:
            self.hear(t, number, "(seed)")
        counts = dict.fromkeys(SPEAKERS, 0)
        for phase, rounds in ROUNDS:
            for number in range(1, rounds + 1):
                for each in EVERYBODY:
                    more = self.owed(each) if each == HARVESTER else ""
                    self.hear(t, each, f"--- Phase: {phase} (round {number}/{rounds}) ---{more}")
                for speaker in sorted(SPEAKERS):
                    counts[speaker] += 1
                    t = self.tenure(t, speaker, counts[speaker])
        for each in EVERYBODY:
            self.hear(t, each, "--- Phase: CLOSE ---" + self.owed(each))
        log = "\n\n".join(f"{SPEAKERS[speaker]} ({speaker}):\n\n{text}" for speaker, text in self.said)
        self.hear(t, HARVESTER, f"(harvest)\n\n{log}")
        self.end = t + 40.0


def answers():
    counts = dict.fromkeys(SPEAKERS, 0)
    lasts: dict[int, str] = {}

    def answer(prompt):
        if prompt.kind == "turn":
            counts[prompt.to] += 1
            yield REACH, Reached(prompt.to, prompt.message_id)
            for after, text in SCRIPT.get((prompt.to, counts[prompt.to]), []):
                if text == "(tool)":
                    yield REACH + after, Passed(prompt.to)
                elif after < 180:
                    yield REACH + after, Said(prompt.to, text)
                else:
                    lasts[prompt.to] = text
                    lasts[-prompt.to] = after - 180
        elif prompt.kind == "last":
            yield 0.25, Reached(prompt.to, prompt.message_id)
            if prompt.to in lasts:
                yield lasts.pop(-prompt.to), Said(prompt.to, lasts.pop(prompt.to), answers=prompt.message_id)
        elif prompt.kind == "beat":
            yield 0.25, Reached(prompt.to, prompt.message_id)
        elif prompt.kind == "harvest":
            yield 1.0, Reached(prompt.to, prompt.message_id)
            yield 40.0, Said(prompt.to, HARVEST, answers=prompt.message_id)
        else:
            # Who answers a seed is heard by nobody.
            yield (
                0.5,
                Said(prompt.to, "Understood, I wait.", answers=prompt.message_id) if prompt.to != 2 else Stopped(2),
            )

    return answer


def reduced(heard) -> tuple[float, int, str]:
    """What a member heard, as the model says it: the literal words where they are laid down, else what it is."""
    text, name = heard.text, SPEAKERS.get(heard.to, "Ada")
    match heard.kind:
        case "seed":
            assert text.startswith(f"You are {name} ({heard.to}) in this gathering.\n")
            text = "(seed)"
        case "turn":
            head, _, digest = text.partition("passes the piece on.")
            assert head.startswith(f"{name} ({heard.to}), the piece is yours. Phase: ")
            text = f"(piece){digest}"
        case "beat":
            head, _, rest = text.partition(" Signals: ")
            assert rest.endswith(". Is your thread still alive? Continue, pivot, or pass.")
            assert head in {"[Beat 1/3]", "[Beat 2/3]"}
            text = f"({head[1:-1].lower()})"
        case "last":
            assert text == "Your turn is up. What would you like to say last?"
            text = "(up)"
        case "harvest":
            _, _, log = text.partition("it is kept.")
            text = f"(harvest){log}"
        case "all":
            line, _, rest = text.partition("\n")
            _, _, digest = rest.partition("no answer is needed.")
            text = line + digest
        case _:
            speaker = int(heard.kind.removeprefix("from "))
            text = f"{SPEAKERS[speaker]} ({speaker}):\n\n{text}"
    return heard.t, heard.to, text


@pytest.mark.requirement("GAT-07", "GAT-08", "GAT-11a")
@pytest.mark.parametrize("restarts", [False, True], ids=["once", "restarted-at-every-step"])
@pytest.mark.parametrize("listening", ["each", "digest"])
def test_everybody_hears_what_the_model_says_at_the_time_it_says(circle, listening, restarts):
    model = Model(digest=listening == "digest")
    model.run()
    played = circle(answers(), listening=listening, restarts=restarts)
    played.run()
    for member in EVERYBODY:
        expected = [(t, text) for t, to, text in model.heard if to == member]
        assert [(t, text) for t, to, text in map(reduced, played.heard) if to == member] == expected
    assert played.closed == "complete"
    assert played.now - 1000.0 == pytest.approx(model.end)
    assert [(e.number, e.text) for e in played.ceremony.record if e.kind == "said"] == model.said
    assert [e.text for e in played.ceremony.record if e.kind == "harvest"] == [HARVEST]
