"""What follows from one step, as a value."""

import pytest

from streamrelay.events import Receipt
from streamrelay.relay.rules import Notice, Participant, Withdraw
from streamrelay.relay.steps import RelayStep

ANN, BOB = (Participant(f"s-{name}", f"%{number}", name, number) for number, name in enumerate(("Ann", "Bob"), 1))


@pytest.mark.requirement("GAT-11b")
def test_what_is_put_and_withdrawn_in_one_step_is_not_typed_and_said_so() -> None:
    step = RelayStep()
    step.follow([Notice("m1", (ANN, BOB), "your turn"), Notice("m2", (ANN,), "stays")])
    step.follow([Withdraw("m1", (ANN,))])
    assert [(each.message.message_id, each.panes) for each in step.outgoing] == [("m1", ("%2",)), ("m2", ("%1",))]
    assert step.events == [Receipt(message_id="m1", pane="%1", state="failed", reason="superseded")]
    assert step.withdrawn == []
    step.follow([Withdraw("m1", (BOB,)), Withdraw("m0", (ANN,))])
    assert [each.message.message_id for each in step.outgoing] == ["m2"]
    assert step.withdrawn == [Withdraw("m0", (ANN,))]
