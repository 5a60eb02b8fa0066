"""A pane that does what a test says, and the machine that types into it."""

from dataclasses import replace

from streamrelay.agents import AgentProfile, parse_profile
from streamrelay.delivery.machine import (
    MIN_WAIT,
    DeliveryMachine,
    Effect,
    Enter,
    PaneView,
    Paste,
    ReportState,
)
from streamrelay.delivery.message import DeliveryPolicy, Message
from streamrelay.delta.pane_state import ComposerView, PaneState
from streamrelay.events import Event, Injected, TurnEnded, TurnStarted

EMPTY = PaneState(
    "generic",
    converses=True,
    prints=False,
    answers=False,
    asks_for_paste=True,
    withdrawn=False,
    needs_human=None,
    rows=(">",),
    composer=ComposerView(rows=(">",)),
)


def holding(text: str) -> PaneState:
    return replace(EMPTY, composer=ComposerView(rows=(f"> {text}",), text=text, typed=text))


DIALOG = replace(EMPTY, needs_human="permission")
WORKING = replace(EMPTY, answers=True)
LEAVING = replace(EMPTY, withdrawn=True)


class Pane:
    """A machine, and a pane that does what a test says; tmux answers at once."""

    def __init__(self, policy: DeliveryPolicy | None = None, profile: AgentProfile | None = None) -> None:
        self.machine = DeliveryMachine(policy)
        self.profile = profile
        self.pane_state = EMPTY
        self.now = 0.0
        self.effects: list[Effect] = []
        self._turn = 0

    def put(self, *ids: str) -> None:
        for message_id in ids:
            self.effects += self.machine.put(Message(message_id, f"text of {message_id}"), self.now)

    def look(self, pane_state: PaneState | None = None, *, after: float = 0.0) -> None:
        """Let time pass and the machine look, and do what it wants done."""
        self.now += after
        self.pane_state = pane_state or self.pane_state
        while True:
            effects = self.machine.look(PaneView(self.pane_state, self.profile, None), self.now)
            self.effects += effects
            asked = [effect for effect in effects if isinstance(effect, Paste | Enter)]
            if not asked:
                return
            for effect in asked:
                if isinstance(effect, Paste):
                    self.effects += self.machine.pasted(self.now)
                else:
                    if effect.attempt == 1:
                        self._turn += 1
                        self.hear(Injected(message_id=effect.message.message_id, state="entering", turn=self._turn))
                    self.effects += self.machine.entered(self.now)
            if any(isinstance(effect, Enter) for effect in asked):
                return

    def hear(self, event: Event) -> None:
        self.effects += self.machine.handle(event, self.now)

    def deliver(self, message_id: str) -> None:
        """Let a message be pasted, painted and submitted, the composer still showing it."""
        self.look(EMPTY)
        self.hear(Injected(message_id=message_id, state="painted"))
        self.look(holding(f"text of {message_id}"), after=MIN_WAIT)

    def answer(self, message_id: str, turn: int) -> None:
        self.hear(TurnStarted(message_id=message_id, turn=turn))
        self.look(EMPTY, after=0.1)
        self.hear(TurnEnded(reason="signal", certain=True, turn=turn))

    def told(self, message_id: str = "m1") -> list[str]:
        return [
            f"{effect.state} {effect.reason}".strip()
            for effect in self.effects
            if isinstance(effect, ReportState) and effect.message_id == message_id
        ]

    def count(self, kind: type[Effect]) -> int:
        return sum(isinstance(effect, kind) for effect in self.effects)


def profile(mid_turn: str) -> AgentProfile:
    text = f'title = "S"\n[recognise]\ncommands = ["s"]\n[delivery]\nready = ["^>$"]\nmid_turn = "{mid_turn}"\n'
    return parse_profile("s", text, source="s.toml")
