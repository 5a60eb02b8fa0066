"""Whatever happens, in whatever order."""

from hypothesis import given, settings
from hypothesis import strategies as st

from streamrelay.delivery.machine import (
    CANCELLED,
    Enter,
    Paste,
)
from streamrelay.events import Injected, TurnEnded, TurnStarted
from tests.delivery.machines import DIALOG, EMPTY, LEAVING, WORKING, Pane, holding, profile
from tests.sampling import examples

STANDINGS = [EMPTY, DIALOG, WORKING, LEAVING, holding("half a wo"), holding("text of m0"), holding("text of m1")]
ORDER = ["queued", "pasted", "painted", "submitted", "turn_started", "answered"]


@settings(max_examples=examples(300))
@given(st.data())
def test_whatever_happens_states_come_in_order_and_no_key_goes_where_it_must_not(data: st.DataObject) -> None:
    pane = Pane(profile=data.draw(st.sampled_from([None, profile("hold"), profile("queue")])))
    pane.put("m0", "m1", "m2")
    cancelled: set[str] = set()
    for _ in range(data.draw(st.integers(1, 40))):
        before = len(pane.effects)
        match data.draw(st.sampled_from(["look", "painted", "started", "ended", "cancelled"])):
            case "look":
                pane.look(
                    data.draw(st.sampled_from(STANDINGS)), after=data.draw(st.sampled_from([0.0, 0.05, 0.5, 3.0]))
                )
            case "painted":
                pane.hear(Injected(message_id=data.draw(st.sampled_from(["m0", "m1"])), state="painted"))
            case "started":
                pane.hear(TurnStarted(message_id=None, turn=data.draw(st.integers(0, 3))))
            case "cancelled":
                message_id = data.draw(st.sampled_from(["m0", "m1", "m2"]))
                was_pasted = "pasted" in pane.told(message_id)
                pane.effects += pane.machine.withdraw(message_id, CANCELLED)
                assert ("failed cancelled" in pane.told(message_id)) is not was_pasted
                cancelled |= set() if was_pasted else {message_id}
            case _:
                turn, certain = data.draw(st.integers(0, 3)), data.draw(st.booleans())
                pane.hear(TurnEnded(reason="quiet", certain=certain, turn=turn))
        typed = [effect for effect in pane.effects[before:] if isinstance(effect, Paste | Enter)]
        if typed:
            assert pane.pane_state.needs_human is None
            assert not pane.pane_state.withdrawn
        if any(isinstance(effect, Paste) for effect in typed):
            assert not pane.pane_state.composer.typed
    for message_id in ("m0", "m1", "m2"):
        states = [told.split()[0] for told in pane.told(message_id) if not told.startswith("queued ")]
        assert len(states) == len(set(states))
        regular = [state for state in states if state in ORDER]
        assert regular == sorted(regular, key=ORDER.index)
        enters = [e for e in pane.effects if isinstance(e, Enter) and e.message.message_id == message_id]
        assert len(enters) <= 2
    pasted = [effect.message.message_id for effect in pane.effects if isinstance(effect, Paste)]
    assert pasted == [one for one in ("m0", "m1", "m2") if one not in cancelled][: len(pasted)]
