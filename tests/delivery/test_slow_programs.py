"""Messages to a program on a machine that is short of time: it reads late, paints late, and is heard late, in pieces.

The machine that types and the stream that listens are the real ones. Whatever comes late, each message is typed once,
and each answer is said once, in the turn of the message that it answers.
"""

import functools
import heapq
import itertools
import random
from collections import deque
from collections.abc import Callable
from dataclasses import replace

import pytest

from streamrelay.delivery.machine import DeliveryMachine, Enter, PaneView, Paste
from streamrelay.delivery.message import Message
from streamrelay.delta.inputs import Looked, Output, Pasted, Submitted, Waited
from streamrelay.delta.stream import DeltaStream
from streamrelay.events import Event, Injected, Text
from streamrelay.testing import transcript_program
from streamrelay.testing.painted_talk import TELLING, name
from streamrelay.testing.transcript_program import TranscriptProgram
from streamrelay.vt import TmuxScreen

START, WORKS = 3.0, 0.1
MESSAGES = [
    "You are Mo (4) in this gathering.\n\n" + "\n".join(f"Sentence {n} of what you are to know." for n in range(14)),
    "--- Phase: INHALE (round 1/1) ---\nSay what is there.",
    *(f"{name} (1):\n\nwords {number} of {name}" for name in ("Sage", "Rex") for number in (1, 2)),
    f"Mo (4), the piece is yours.\n{'You have one beat, and you speak to all. ' * 12}",
    "Your turn is up. What would you like to say last?",
]


class SlowPane:
    """A scripted agent, what types into it and what listens to it, in simulated time; `slow` stretches every delay."""

    def __init__(self, look: transcript_program.UiStyle, seed: int, slow: float) -> None:
        self._random = random.Random(seed)
        self._slow = slow
        self._program = TranscriptProgram(look)
        self._stream = DeltaStream(TmuxScreen(look.columns, look.lines), pane="%0")
        self._machine = DeliveryMachine()
        self.events: list[Event] = []
        self.said: list[tuple[str, str]] = []
        """What the program answered, with the message that it answered."""
        self._now = 0.0
        self._due: list[tuple[float, int, Callable[[], None]]] = []
        self._numbers = itertools.count()
        self._written = bytearray()
        self._printed: float | None = None
        self._typed: deque[str | None] = deque()
        """What stands in the terminal's input; None is the Enter."""
        self._draft = ""
        self._answering: str | None = None
        self._until = 0.0
        self._queue: deque[str] = deque()
        self._is_typing = False

    def run(self, messages: list[str]) -> None:
        """Send them, a while apart, and go on until nothing is due."""
        self._hear(self._stream.apply(Output(self._now, "%0", self._program.starts())))
        start = START
        for number, text in enumerate(messages, 1):
            self._after(start, functools.partial(self._put, Message(f"m{number}", text)))
            start += self._random.choice([0, 0.05, 0.2, 0.5, 1, 2, 4])
        while self._due or self._stream.deadline() is not None:
            due = self._stream.deadline()
            if due is not None and (not self._due or due < self._due[0][0]):
                self._now = max(self._now, due)
                self._hear(self._stream.apply(Waited(self._now, "%0")))
            else:
                at, _, does = heapq.heappop(self._due)
                self._now = max(self._now, at)
                does()

    def _after(self, delay: float, does: Callable[[], None]) -> None:
        heapq.heappush(self._due, (self._now + delay, next(self._numbers), does))

    def _delay(self) -> float:
        longest = self._random.choice([0.01, 0.01, 0.01, 0.1 * self._slow, 0.1 * self._slow, 2.0 * self._slow])
        return self._random.uniform(0, longest)

    # Who types, and who listens

    def _put(self, message: Message) -> None:
        self._machine.put(message, self._now)
        self._deliver()

    def _hear(self, events: list[Event]) -> None:
        self.events += events
        for event in events:
            self._machine.handle(event, self._now)
        self._after(0.0, self._deliver)

    def _deliver(self) -> None:
        if self._is_typing or self._machine.idle:
            return
        self.events += self._stream.apply(Looked(self._now, "%0"))
        for effect in self._machine.look(PaneView(self._stream.pane_state, last_output=self._printed), self._now):
            if isinstance(effect, Paste | Enter):
                self._is_typing = True
                self._type(effect)
        due = self._machine.deadline()
        if due is not None and not self._is_typing:
            self._after(max(0.001, due - self._now), self._deliver)

    def _type(self, effect: Paste | Enter) -> None:
        message = effect.message
        if isinstance(effect, Paste):
            self._hear(self._stream.apply(Pasted(self._now, "%0", message.message_id, message.text)))
        elif effect.attempt == 1:
            self._hear(self._stream.apply(Submitted(self._now, "%0", message.message_id)))
        began = self._now
        self._after(self._random.uniform(0.001, 0.01), lambda: self._has_typed(effect, began))

    def _has_typed(self, effect: Paste | Enter, began: float) -> None:
        self._is_typing = False
        is_paste = isinstance(effect, Paste)
        self._typed.append(effect.message.text if is_paste else None)
        if is_paste:
            self._machine.pasted(began)
        else:
            self._machine.entered(self._now)
        self._after(self._delay(), self._read)
        self._after(0.0, self._deliver)

    # The program

    def _write(self, data: bytes) -> None:
        self._written += data
        self._after(self._random.choice([0.001, 0.003, 0.1 * self._slow]), self._listen)

    def _listen(self) -> None:
        """Read what was written, as a rule all of it."""
        data = bytes(self._written)
        stop = len(data) if self._random.random() > 0.1 else self._random.randrange(len(data) + 1)
        del self._written[:stop]
        if self._written:
            self._after(self._random.uniform(0, 0.02 * self._slow), self._listen)
        if stop:
            self._printed = self._now
            self._hear(self._stream.apply(Output(self._now, "%0", data[:stop])))

    def _read(self) -> None:
        """Take all that was typed by now, and paint only then."""
        pasted = False
        while self._typed:
            typed = self._typed.popleft()
            if typed is None and self._draft:
                self._submit()
                pasted = False
            elif typed is not None:
                self._draft, pasted = self._draft + typed, True
        if pasted:
            self._write(self._program.drafts(self._draft))

    def _submit(self) -> None:
        message, self._draft = self._draft, ""
        self._write(self._program.drafts(message))
        if self._answering is not None:
            self._queue.append(message)
            self._program.drafts("")
            return
        self._begin(message)

    def _begin(self, message: str) -> None:
        self._answering, self._until = message, self._now + WORKS
        draft = self._draft
        self._program.drafts(message)
        self._write(self._program.submits())
        if draft:
            self._write(self._program.drafts(draft))
        self._after(0.08, self._work)

    def _work(self) -> None:
        if self._answering is None:
            return
        if self._now < self._until:
            self._write(self._program.works())
            self._after(0.08, self._work)
            return
        answer = f"answer {len(self.said) + 1}"
        self.said.append((self._answering, answer))
        self._answering = None
        self._write(self._program.says(answer))
        if self._queue:
            self._begin(self._queue.popleft())
        else:
            self._write(self._program.rests())


def _check(look: transcript_program.UiStyle, seed: int, slow: float) -> None:
    pane = SlowPane(replace(look, folds_from=5, columns=80, lines=24), seed, slow)
    pane.run(MESSAGES)
    assert [message for message, _ in pane.said] == MESSAGES
    turns = {
        event.message_id: event.turn
        for event in pane.events
        if isinstance(event, Injected) and event.state == "entering"
    }
    said = [
        (event.text, event.turn)
        for event in pane.events
        if isinstance(event, Text) and event.origin == "program" and event.text
    ]
    assert said == [(f"answer {number}", turns[f"m{number}"]) for number in range(1, len(MESSAGES) + 1)]


@pytest.mark.sampled(12)
@pytest.mark.requirement("DEL-01", "DEL-02c", "DEL-05")
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("look", TELLING, ids=name)
def test_what_a_slow_program_answers_is_said_in_the_turn_of_its_message(
    look: transcript_program.UiStyle, seed: int
) -> None:
    _check(look, seed, slow=1.0 + seed % 2 * 2)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(4, 64))
@pytest.mark.parametrize("look", TELLING, ids=name)
def test_whatever_comes_late_each_answer_is_said_in_the_turn_of_its_message(
    look: transcript_program.UiStyle, seed: int
) -> None:
    _check(look, seed, slow=1.0 + seed % 2 * 2)
