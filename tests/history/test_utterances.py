"""Which lines belong together."""

from hypothesis import given
from hypothesis import strategies as st

from streamrelay.events import Gap, Text, TurnStarted
from streamrelay.history.utterances import MAX_CHARACTERS, Utterances


def test_an_utterance_is_bounded() -> None:
    utterances = Utterances()
    firsts = set()
    for number in range(100):
        said = utterances.take(number, Text(text="x" * 1000, origin="program", pane="%1"), 0.0)
        assert said is not None
        assert len(said.text) <= MAX_CHARACTERS + 1001
        firsts.add(said.first)
    assert len(firsts) > 4


def test_a_gap_divides() -> None:
    utterances = Utterances()
    before = utterances.take(1, Text(text="a", origin="program", pane="%1"), 0.0)
    assert utterances.take(2, Gap(reason="paused", pane="%1"), 0.0) is None
    after = utterances.take(3, Text(text="b", origin="program", pane="%1"), 0.0)
    assert before is not after


@given(
    st.lists(
        st.tuples(
            st.sampled_from(["%1", "%2"]),
            st.sampled_from(["program", "typed", "injected"]),
            st.integers(0, 2),
            st.floats(0, 10),
        )
    )
)
def test_every_line_is_in_one_utterance_of_its_own_kind(steps: list[tuple[str, str, int, float]]) -> None:
    utterances = Utterances()
    now = 0.0
    seen: dict[int, list[str]] = {}
    for number, (pane, origin, turn, rest) in enumerate(steps):
        now += rest
        event = Text(text=str(number), origin=origin, pane=pane, turn=turn)  # type: ignore[arg-type]
        said = utterances.take(number, event, now)
        assert said is not None
        assert (said.pane, said.origin, said.turn, said.last) == (pane, origin, turn, number)
        seen[said.first] = list(said.lines)
        if turn == 2:
            utterances.take(number, TurnStarted(pane=pane), now)
    assert sorted(int(line) for lines in seen.values() for line in lines) == list(range(len(steps)))
