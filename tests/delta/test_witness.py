"""An agent's own record of an answer repairs what was read off its screen, and never puts a wrong word there."""

from typing import TypeVar

import pytest

from streamrelay.delta.inputs import HookReported, WitnessOpened, WitnessPassage, WitnessPolicy, WitnessReported
from streamrelay.delta.layout.rows import PaintedRow
from streamrelay.delta.transcript.answers import Answer, Passage
from streamrelay.delta.witness.second_witness import MAX_ANSWER, SecondWitness
from streamrelay.events import Event, Gap, Text, TurnEnded, WitnessCompared
from streamrelay.testing.painted_talk import SILENT, Talk

SOURCE = "Use **this**:\n\n```sh\nmake all\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |"
SHOWN = ["Use this:", "", "make all", "", "a | b", "1 | 2"]

pytestmark = pytest.mark.requirement("DEL-11")


def report(*answers: str, message: str = "do it please", ended: bool = True) -> WitnessReported:
    said = [WitnessPassage("person", message), *(WitnessPassage("agent", answer) for answer in answers)]
    return WitnessReported(1.0, "%0", "agent", (*said, *([WitnessPassage("end")] if ended else [])))


def witness_of(
    *reports: WitnessReported, policy: WitnessPolicy = "prefer", message: str = "do it please"
) -> SecondWitness:
    heard = SecondWitness()
    heard.open(WitnessOpened(0.0, "%0", "agent", "transcript", lag=0.5, policy=policy))
    heard.send("m1", message)
    for reported in reports:
        heard.hear(reported)
    return heard


def answer(*parts: Passage | list[str], message: str = "do it please") -> Answer:
    passages = [part if isinstance(part, Passage) else Passage("text", part) for part in parts]
    return Answer([Passage("injected", [message], "m1"), *passages])


def lines(compared: Answer, kind: str = "text") -> list[str]:
    return [line for passage in compared.passages if passage.kind == kind for line in passage.lines]


def verdict(compared: Answer) -> WitnessCompared:
    [found] = [passage.verdict for passage in compared.passages if passage.verdict is not None]
    return found


def compared(heard: SecondWitness, screen: Answer) -> Answer:
    heard.compare(screen)
    return screen


GAP = Passage("gap", [], rule="unpainted")


def test_an_answer_on_both_is_its_source_with_both_witnesses() -> None:
    said = compared(witness_of(report(SOURCE)), answer(SHOWN))
    assert lines(said) == SOURCE.split("\n")
    assert {passage.witnesses for passage in said.passages if passage.kind == "text"} == {("screen", "transcript")}
    assert (verdict(said).outcome, verdict(said).used) == ("agrees", True)


def test_the_screen_is_left_as_it_is_where_it_is_only_verified() -> None:
    said = compared(witness_of(report(SOURCE), policy="verify"), answer([*SHOWN, "✻ 3s"]))
    assert lines(said) == [*SHOWN, "✻ 3s"]
    assert [passage.witnesses for passage in said.passages if passage.kind == "text"] == [
        ("screen", "transcript"), ("screen",),
    ]  # fmt: skip
    assert not verdict(said).used


def test_off_means_that_nothing_is_compared() -> None:
    said = compared(witness_of(report(SOURCE), policy="off"), answer(SHOWN))
    assert lines(said) == SHOWN
    assert all(passage.verdict is None for passage in said.passages)


def test_a_gap_is_filled_and_closed() -> None:
    findings = [f"- finding {n}: fine" for n in range(30)]
    said = compared(witness_of(report("\n".join(findings))), answer(GAP, findings[:3], findings[20:]))
    assert lines(said) == findings
    assert not any(passage.kind == "gap" for passage in said.passages)
    assert (verdict(said).outcome, verdict(said).filled) == ("repaired", 17)
    filled = [passage for passage in said.passages if passage.rule == "filled" and passage.lines]
    assert {passage.witnesses for passage in filled} == {("transcript",)}


def test_a_gap_stays_where_the_record_is_not_whole() -> None:
    findings = [f"- finding {n}: fine" for n in range(9)]
    said = compared(witness_of(report("\n".join(findings), ended=False)), answer(GAP, findings[:3]))
    assert any(passage.kind == "gap" for passage in said.passages)


BEGUN = Passage("gap", [], rule="begun_before")
TAIL = ["of the old mill was a heap of grey", "flour, and the wheel stood still."]


@pytest.mark.parametrize("is_asked", [True, False])
def test_an_answer_begun_before_the_watching_is_filled_though_its_first_rows_are_torn(is_asked: bool) -> None:
    first = f"On the floor {' '.join(TAIL)}"
    reported = report(f"Part 1.\n\n{first}\n\nPart 3 is here.")
    screen = answer(BEGUN, TAIL, ["", "Part 3 is here."])
    heard = witness_of(reported)
    if not is_asked:
        # The message came before the watching, too.
        heard = SecondWitness()
        heard.open(WitnessOpened(0.0, "%0", "agent", "transcript", lag=0.5, policy="prefer"))
        heard.hear(WitnessReported(1.0, "%0", "agent", reported.passages[1:]))
        del screen.passages[0]
    said = compared(heard, screen)
    assert lines(said) == ["Part 1.", "", first, "", "Part 3 is here."]
    assert verdict(said).outcome == "repaired"
    assert not any(passage.kind == "gap" for passage in said.passages)


@pytest.mark.parametrize("torn", [[TAIL[1], TAIL[0]], [TAIL[0], "", TAIL[1]], [TAIL[0], "flour, and the wheel broke."]])
def test_torn_rows_that_read_otherwise_keep_the_record_out(torn: list[str]) -> None:
    first = f"On the floor {' '.join(TAIL)}"
    said = compared(witness_of(report(f"{first}\n\nPart 3 is here.")), answer(BEGUN, torn, ["", "Part 3 is here."]))
    assert first not in lines(said)
    assert verdict(said).outcome == "differs"


def cut(heard: SecondWitness, screen: Answer) -> Answer:
    heard.compare(screen, is_cut_off=True)
    return screen


@pytest.mark.parametrize("torn", [[], ["The wheel stands"]])
@pytest.mark.parametrize("ended", [True, False])
def test_an_answer_that_is_cut_off_is_completed(torn: list[str], ended: bool) -> None:
    source = "I look at the **mill**.\n\nThe wheel stands still.\nThe river is dry."
    said = cut(witness_of(report(source, ended=ended)), answer(["I look at the mill.", "", *torn]))
    assert lines(said) == source.split("\n")
    assert (verdict(said).outcome, verdict(said).reason, verdict(said).filled) == ("repaired", "cut_off", 2)


@pytest.mark.parametrize(
    "shown",
    [
        # It lacks a line in its middle, another one stands at its end, or most of it is another answer.
        ["I look at the mill.", "The river is dry."],
        ["I look at the mill.", "The wheel turns again."],
        ["Quite another answer, and a long one at that.", "I look at the mill."],
    ],
)
def test_only_what_could_stand_behind_the_end_is_completed(shown: list[str]) -> None:
    source = "I look at the mill.\nThe wheel stands still.\nThe river is dry."
    said = cut(witness_of(report(source)), answer(shown))
    assert "The wheel stands still." not in lines(said)


def test_an_answer_that_no_record_has_when_it_is_cut_off_is_the_screens() -> None:
    said = cut(witness_of(report(ended=False)), answer(["I look at the mill."]))
    assert lines(said) == ["I look at the mill."]
    assert (verdict(said).outcome, verdict(said).reason) == ("silent", "cut_off")


def test_a_line_that_contradicts_the_record_keeps_it_out_of_the_gap() -> None:
    said = compared(
        witness_of(report("Fine so far, yes.\nIt is 43 in all.")),
        answer(GAP, ["Fine so far, yes.", "It is 42 in all."]),
    )
    assert lines(said) == ["Fine so far, yes.", "It is 42 in all."]
    assert (verdict(said).outcome, verdict(said).absent, verdict(said).extra) == ("differs", 1, 1)


def test_what_the_program_paints_besides_its_answer_is_no_text() -> None:
    said = compared(witness_of(report(SOURCE)), answer([*SHOWN, "Baked for 3s · 1 shell"]))
    assert lines(said) == SOURCE.split("\n")
    assert lines(said, "activity") == ["Baked for 3s · 1 shell"]
    assert (verdict(said).outcome, verdict(said).extra) == ("repaired", 1)


def test_a_short_answer_is_known_beside_a_hint_that_is_longer() -> None:
    hint = "tmux focus-events off · add 'set -g focus-events on' to ~/.tmux.conf"
    screen = answer(["The command has run.", hint])
    said = compared(witness_of(report("The command has run.")), screen)
    assert (lines(said), lines(said, "activity")) == (["The command has run."], [hint])
    assert (verdict(said).outcome, verdict(said).used) == ("repaired", True)


@pytest.mark.parametrize(
    ("heard", "beside"),
    [
        (report("The command has run.", ended=False), ["more of the answer, which is longer than the record"]),
        (report("The command has run.", message="another message"), ["another answer, longer than the record"]),
        (report("Yes."), ["a short word can stand anywhere in an answer"]),
        (report("The command has run."), ["an answer of which the record has but a line"] * 9),
    ],
)
def test_a_short_record_takes_nothing_from_a_longer_answer(heard: WitnessReported, beside: list[str]) -> None:
    shown = [*(passage.text for passage in heard.passages if passage.speaker == "agent"), *beside]
    said = compared(witness_of(heard), answer(shown))
    assert (lines(said), lines(said, "activity")) == (shown, [])


def test_a_line_taken_for_a_footer_is_said_after_all() -> None:
    footer = Passage("unsaid", [], rule="footer", rows=[PaintedRow("* 3 tokens · 2s")])
    said = compared(witness_of(report("It is:\n* 3 tokens · 2s")), answer(["It is:"], footer))
    assert lines(said) == ["It is:", "* 3 tokens · 2s"]


@pytest.mark.parametrize(
    "wrong",
    [
        report("Something else entirely, of another session."),
        report("Use that:\nrm -rf everything\nmake none"),
        report(SOURCE, message="another question"),
        report("Use **this**:"),
        report(""),
        report(SOURCE.replace("make all", "make evil")),
        report(SOURCE + "\n\nAnd run rm -rf now."),
        report("x" * (MAX_ANSWER + 1)),
    ],
    ids=["other", "forged", "other message", "truncated", "empty", "one word", "appended", "too long"],
)
def test_a_wrong_record_puts_no_word_of_its_own_into_the_answer(wrong: WitnessReported) -> None:
    said = compared(witness_of(wrong), answer(SHOWN))
    words = set(" ".join(lines(said)).replace("|", " ").replace("*", "").replace("`", "").split())
    assert words - {"---"} <= set(" ".join(SHOWN).replace("|", " ").split()) | {"sh"}
    assert lines(said)
    assert verdict(said).outcome in {"differs", "silent"}


def test_a_stale_record_is_not_taken_for_the_next_answer() -> None:
    heard = witness_of(report("The first answer.", message="the first question"))
    assert heard.must_wait(2.0)
    assert not heard.must_wait(2.6)
    said = compared(heard, answer(["Another answer."]))
    assert lines(said) == ["Another answer."]
    assert (verdict(said).outcome, verdict(said).reason) == ("silent", "late")


def test_an_answer_in_parts_around_tools_keeps_its_order() -> None:
    said = compared(
        witness_of(report("I **look**.", "It *works*.")),
        answer(["I look."], Passage("activity", ["Bash(ls)"]), ["It works."]),
    )
    kinds = [(passage.kind, passage.lines) for passage in said.passages if passage.kind in {"text", "activity"}]
    assert kinds == [("text", ["I **look**."]), ("activity", ["Bash(ls)"]), ("text", ["It *works*."])]


def test_an_end_that_was_reported_before_a_question_is_none() -> None:
    heard = witness_of(report("First I run *it*."))
    heard.reopen()
    assert lines(compared(heard, answer(["First I run it.", "", "It is done."]))) == [
        "First I run *it*.", "It is done.",
    ]  # fmt: skip


def test_two_answers_read_at_once_each_have_their_record() -> None:
    heard = witness_of(report("*One* it is indeed."), report("*Two* it is indeed.", message="and the other one?"))
    screen = answer(["One it is indeed."])
    screen.passages += answer(["Two it is indeed."], message="and the other one?").passages
    heard.compare(screen)
    assert lines(screen) == ["*One* it is indeed.", "*Two* it is indeed."]


# What the screen has lost

FIRST, SECOND, THIRD = "first of all", "and the second one", "the third one, too"
LOST = (report("*One* it is indeed.", message=FIRST), report("*Two* it is indeed.", message=SECOND),
        report("*Three* it is indeed.", message=THIRD))  # fmt: skip


def three_asked(*reports: WitnessReported) -> SecondWitness:
    heard = witness_of(message=FIRST)
    heard.send("m2", SECOND)
    heard.send("m3", THIRD)
    for message_id in ("m1", "m2", "m3"):
        heard.submit(message_id)
    for reported in reports:
        heard.hear(reported)
    return heard


def shown(*asked: tuple[str, str, list[str]]) -> Answer:
    """Return what the screen showed of messages and their answers."""
    passages: list[Passage] = []
    for message_id, message, answered in asked:
        passages += [Passage("injected", [message], message_id), Passage("text", answered)]
    return Answer(passages)


def kinds(compared: Answer) -> list[tuple[str, str | None, list[str]]]:
    """Return what is said, and which message is shown where."""
    return [
        (passage.kind, passage.message_id, passage.lines)
        for passage in compared.passages
        if passage.kind in {"injected", "text"} and passage.lines
    ]


def test_a_line_that_was_painted_over_is_said() -> None:
    heard, screen = witness_of(report(SOURCE)), answer(SHOWN[:3])
    heard.compare(screen, [("  a | b", "  1 | 2")])
    assert lines(screen) == SOURCE.split("\n")
    assert (verdict(screen).outcome, verdict(screen).absent) == ("repaired", 0)
    assert {passage.witnesses for passage in screen.passages if passage.kind == "text"} == {("screen", "transcript")}


def test_an_answer_that_was_painted_over_whole_is_said() -> None:
    heard, screen = witness_of(report(SOURCE)), answer()
    heard.compare(screen, [("● Use this:",), ("  make all",), ("  a | b", "  1 | 2")])
    assert lines(screen) == SOURCE.split("\n")


@pytest.mark.parametrize(
    ("reported", "on_screen", "painted_over"),
    [
        (report(SOURCE), [], [("● Use this:",), ("  make all",)]),
        (report(SOURCE), [], [("● Use this: make all a | b 1 | 2 and more",)]),
        (report("It is 42."), [], [("● It is 421.",)]),
        (report("Go on.\nrm -rf"), ["Go on."], [("● rm -r",)]),
        (report("Yes, it is the first."), ["No, it is not."], [("● Yes, it is the first.",)]),
        (report("Use **this**.", ended=False), [], [("● Use this.",)]),
        (report("Use **this** now.", message="another question"), [], [("● Use this now.",)]),
    ],
    ids=["a part", "in a row", "42", "a beginning", "the screen says otherwise", "not ended", "another message"],
)
def test_what_was_painted_over_is_no_word_of_another_answer(
    reported: WitnessReported, on_screen: list[str], painted_over: list[tuple[str, ...]]
) -> None:
    heard, screen = witness_of(reported), answer(on_screen)
    heard.compare(screen, painted_over)
    assert [line for line in lines(screen) if line] == on_screen


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ([("m1", FIRST, ["One it is indeed.", "Two it is indeed."]), ("m3", THIRD, ["Three it is indeed."])], {"m2"}),
        ([("m2", SECOND, ["Two it is indeed."]), ("m3", THIRD, ["Three it is indeed."])], {"m1"}),
        ([("m1", FIRST, ["One it is indeed."]), ("m2", SECOND, ["Two it is indeed.", "Three it is indeed."])], {"m3"}),
        ([("m1", FIRST, [])], {"m2", "m3"}),
    ],
    ids=["between two", "before all", "behind all", "all but one"],
)
def test_a_lost_echo_is_said_where_the_record_has_its_message(
    asked: list[tuple[str, str, list[str]]], told: set[str]
) -> None:
    heard, screen = three_asked(*LOST), shown(*asked)
    over = [("● One it is indeed.",), ("● Two it is indeed.",), ("● Three it is indeed.",)]
    assert heard.compare(screen, over, {"m1", "m2", "m3"}) >= told
    assert kinds(screen) == [
        ("injected", "m1", [FIRST]), ("text", None, ["*One* it is indeed."]),
        ("injected", "m2", [SECOND]), ("text", None, ["*Two* it is indeed."]),
        ("injected", "m3", [THIRD]), ("text", None, ["*Three* it is indeed."]),
    ]  # fmt: skip


def test_a_message_that_waits_in_the_record_has_not_the_answer_to_the_one_before() -> None:
    asked = WitnessReported(1.0, "%0", "agent", (WitnessPassage("person", FIRST), WitnessPassage("person", SECOND)))
    answered = WitnessReported(
        2.0, "%0", "agent", (WitnessPassage("agent", "*One* it is indeed."), WitnessPassage("end"))
    )
    heard, screen = three_asked(asked, answered), shown(("m1", FIRST, ["One it is indeed."]))
    assert not heard.compare(screen, (), {"m1", "m2", "m3"}) & {"m2", "m3"}
    assert kinds(screen) == [("injected", "m1", [FIRST]), ("text", None, ["One it is indeed."])]


def test_an_answer_whose_echo_was_lost_is_not_said_again_when_the_screen_shows_it() -> None:
    heard, screen = (
        three_asked(*LOST),
        shown(("m1", FIRST, ["One it is indeed."]), ("m2", SECOND, ["Two it is indeed."])),
    )
    over = [("● Three it is indeed.",)]
    assert heard.compare(screen, over, {"m3"}) == {"m3"}
    heard.send("m4", "and at last the fourth")
    heard.hear(report("*Four* it is indeed.", message="and at last the fourth"))
    later = shown(("m3", THIRD, ["Three it is indeed."]), ("m4", "and at last the fourth", ["Four it is indeed."]))
    heard.compare(later)
    assert lines(later) == ["*Four* it is indeed."]


def test_what_is_left_of_a_lost_echo_is_no_answer() -> None:
    heard = three_asked(*LOST)
    screen = shown(
        ("m1", FIRST, ["One it is indeed.", "the second one", "Two it is indeed."]),
        ("m3", THIRD, ["Three it is indeed."]),
    )
    heard.compare(screen, (), {"m1", "m2", "m3"})
    assert lines(screen) == ["*One* it is indeed.", "*Two* it is indeed.", "*Three* it is indeed."]


@pytest.mark.parametrize(
    "reported",
    [
        report("*Two* it is not.", message=SECOND),
        report("*Two* it is indeed.\nAnd rm -rf.", message=SECOND),
        report("*Two* it is indeed.", message="what nobody sent"),
        report("*Two* it is indeed.", message=SECOND, ended=False),
    ],
    ids=["other words", "appended", "another message", "not ended"],
)
def test_a_lost_echo_is_not_said_where_the_screen_did_not_show_its_answer(reported: WitnessReported) -> None:
    heard = three_asked(LOST[0], reported, LOST[2])
    screen = shown(("m1", FIRST, ["One it is indeed."]), ("m3", THIRD, ["Three it is indeed."]))
    heard.compare(screen, [("● Two it is indeed.",)], {"m1", "m2", "m3"})
    assert lines(screen) == ["*One* it is indeed.", "*Three* it is indeed."]
    assert "m2" not in {passage.message_id for passage in screen.passages}


def test_a_turn_waits_for_the_answers_to_all_messages_that_were_submitted() -> None:
    heard = three_asked(*LOST[:2])
    assert heard.must_wait(2.0)
    heard.hear(LOST[2])
    assert not heard.must_wait(2.1)


@pytest.mark.requirement("AGT-03a")
def test_a_stop_hooks_answer_is_a_witness_like_any_other() -> None:
    heard = SecondWitness()
    heard.send("m1", "do it please")
    heard.hear_hook(SOURCE)
    said = compared(heard, answer(["I look first."], Passage("activity", ["Bash(ls)"]), SHOWN))
    assert lines(said) == ["I look first.", *SOURCE.split("\n")]
    assert verdict(said).witnesses == ("hook",)


def test_a_hook_and_a_transcript_that_say_the_same_are_two_witnesses() -> None:
    heard = witness_of(report(SOURCE))
    heard.hear_hook(SOURCE)
    assert verdict(compared(heard, answer(SHOWN))).witnesses == ("transcript", "hook")


# What a person typed unseen

ASKED = "And what of the garden?\n\nWhat of the well?"
GROWN = ["> And what of the garden?", "", "  What of the well?"]


def marked(rows: list[str]) -> Answer:
    screen = answer(rows)
    screen.mark = "> "
    return screen


def asked_twice(message: str = ASKED) -> SecondWitness:
    return witness_of(report("It is done."), report("The garden is dry.", message=message))


def test_messages_that_were_typed_unseen_and_taken_up_as_one_are_set_apart_by_the_record() -> None:
    said = compared(asked_twice(), marked(["It is done.", "", *GROWN, "", "The garden is dry."]))
    assert lines(said, "typed") == ASKED.split("\n")
    assert [line for line in lines(said) if line] == ["It is done.", "The garden is dry."]
    assert [passage.verdict.outcome for passage in said.passages if passage.verdict is not None] == ["agrees"] * 2


@pytest.mark.parametrize("message", ["yes", "And what of the garden now?", "do it please", "Fix the failing tests"])
def test_lines_that_spell_no_whole_message_behind_its_mark_are_the_programs(message: str) -> None:
    on_screen = [
        "Next:",
        "- Fix the failing tests",
        "Or:",
        *GROWN[:1],
        "",
        "The garden is dry.",
        "> yes",
        "do it please",
    ]
    assert lines(compared(asked_twice(message), marked(on_screen)), "typed") == []


def test_the_last_of_several_places_is_the_message() -> None:
    """Above it the agent may have quoted the same words."""
    said = compared(
        asked_twice(), marked(["You may ask:", "", *GROWN, "", "So?", "", *GROWN, "", "The garden is dry."])
    )
    kinds = [passage.kind for passage in said.passages if passage.kind in {"text", "typed"}]
    assert kinds.count("typed") == 1
    assert kinds[-1] == "text"
    assert "So?" in lines(said)


def test_a_message_that_stands_before_the_one_that_is_answered_is_not_taken_for_typed() -> None:
    heard = witness_of(report("The garden is dry.", message=ASKED), report("\n".join(GROWN)))
    assert lines(compared(heard, marked(GROWN)), "typed") == []


# The stream

Kind = TypeVar("Kind", bound=Event)


def open_witness(talk: Talk, lag: float = 0.5, under_way: float = 0.0) -> None:
    pane = talk.pane
    opened = WitnessOpened(pane.now, "%0", "agent", "transcript", lag=lag, under_way=under_way)
    pane.events += pane.stream.apply(opened)


def until_awaited(talk: Talk, answer: str) -> None:
    """Send a message, have it answered on the screen, and let time pass until the stream waits for the record."""
    talk.sends("do it please")
    talk.paints(talk.program.says(answer), talk.program.rests(), rest=0.1)
    while not talk.pane.stream.awaits_witness:
        talk.pane.rests(0.1)


def hears(talk: Talk, *passages: WitnessPassage) -> None:
    talk.pane.events += talk.pane.stream.apply(WitnessReported(talk.pane.now, "%0", "agent", passages))


def events(talk: Talk, kind: type[Kind]) -> list[Kind]:
    return [event for event in talk.pane.events if isinstance(event, kind)]


@pytest.mark.requirement("DEL-11")
def test_a_turn_waits_for_its_witness_and_ends_when_it_has_spoken() -> None:
    talk = Talk(SILENT[0])
    open_witness(talk)
    talk.sends("do it please")
    pane = talk.pane
    awaited = [pane.stream.awaits_witness]
    talk.paints(talk.program.says("It works."), talk.program.rests(), rest=0.1)
    while not awaited[-1]:
        pane.rests(0.1)
        awaited.append(pane.stream.awaits_witness)
    assert not awaited[0]
    assert not events(talk, TurnEnded)
    pane.events += pane.stream.apply(
        WitnessReported(
            pane.now, "%0", "agent",
            (WitnessPassage("person", "do it please"), WitnessPassage("agent", "It *works*."), WitnessPassage("end")),
        )
    )  # fmt: skip
    assert not pane.stream.awaits_witness
    assert pane.said() == ["It *works*."]
    assert [event.outcome for event in events(talk, WitnessCompared)] == ["agrees"]
    assert len(events(talk, TurnEnded)) == 1
    [text] = [event for event in events(talk, Text) if event.origin == "program"]
    assert text.witnesses == ("screen", "transcript")


def test_a_turn_waits_no_longer_than_the_lag_of_its_witness() -> None:
    talk = Talk(SILENT[0])
    open_witness(talk, lag=0.4)
    talk.sends("do it please")
    talk.paints(talk.program.says("It works."), talk.program.rests(), rest=0.1)
    while not talk.pane.stream.awaits_witness:
        talk.pane.rests(0.1)
    due = talk.pane.stream.deadline()
    assert due is not None
    assert due <= talk.pane.now + 0.4
    talk.pane.rests(0.5)
    assert talk.pane.said() == ["It works."]
    assert [(event.outcome, event.reason) for event in events(talk, WitnessCompared)] == [("silent", "late")]
    assert not events(talk, Gap)


def test_a_turn_waits_for_a_record_that_is_not_there_yet_and_only_once() -> None:
    talk = Talk(SILENT[0])
    open_witness(talk, lag=0.4, under_way=1.5)
    waited = []
    for _ in range(2):
        until_awaited(talk, "It works.")
        began = talk.pane.now
        told = WitnessReported(talk.pane.now, "%0", "agent", (), "no_record")
        talk.pane.events += talk.pane.stream.apply(told)
        while talk.pane.stream.awaits_witness:
            talk.pane.rests(0.05)
        waited.append(talk.pane.now - began)
    assert waited[0] >= 1.45
    assert waited[1] == 0


def test_the_first_answer_of_an_agent_that_keeps_no_record_does_not_wait() -> None:
    talk = Talk(SILENT[0])
    open_witness(talk, lag=0.4, under_way=1.5)
    until_awaited(talk, "It works.")
    talk.pane.events += talk.pane.stream.apply(WitnessReported(talk.pane.now, "%0", "agent", (), "keeps_none"))
    assert not talk.pane.stream.awaits_witness
    assert [event.reason for event in talk.pane.events if isinstance(event, WitnessCompared)] == ["keeps_none"]


def test_a_turn_waits_longer_for_a_record_that_was_not_read() -> None:
    talk = Talk(SILENT[0])
    open_witness(talk, lag=0.4, under_way=1.5)
    until_awaited(talk, "It works.")
    talk.pane.rests(1.0)
    assert talk.pane.stream.awaits_witness
    hears(talk)
    assert not talk.pane.stream.awaits_witness
    assert talk.pane.said() == ["It works."]


@pytest.mark.parametrize("after", [0.0, 0.3, 1.0, 2.3])
def test_a_turn_waits_for_the_rest_of_a_record_that_has_begun(after: float) -> None:
    talk = Talk(SILENT[0])
    open_witness(talk, lag=0.4, under_way=2.5)
    until_awaited(talk, "It works.")
    hears(talk, WitnessPassage("person", "do it please"))
    talk.pane.rests(after)
    assert talk.pane.stream.awaits_witness
    assert not events(talk, TurnEnded)
    hears(talk, WitnessPassage("agent", "It *works*."), WitnessPassage("end"))
    assert talk.pane.said() == ["It *works*."]
    assert [event.outcome for event in events(talk, WitnessCompared)] == ["agrees"]
    assert len(events(talk, TurnEnded)) == 1


@pytest.mark.parametrize(
    ("passages", "bound", "said"),
    [
        ([WitnessPassage("person", "do it please")], 2.5, ["It works."]),
        ([WitnessPassage("person", "do it please"), WitnessPassage("agent", "It *works*.")], 2.5, ["It *works*."]),
        ([WitnessPassage("person", "another message, long enough")], 0.4, ["It works."]),
        ([], 0.4, ["It works."]),
    ],
)
def test_the_wait_for_a_record_is_bounded(passages: list[WitnessPassage], bound: float, said: list[str]) -> None:
    talk = Talk(SILENT[0])
    open_witness(talk, lag=0.4, under_way=2.5)
    until_awaited(talk, "It works.")
    began = talk.pane.now
    hears(talk, *passages)
    while talk.pane.stream.awaits_witness:
        talk.pane.rests(0.05)
    assert bound - 0.1 <= talk.pane.now - began <= bound + 0.1
    assert talk.pane.said() == said
    assert len(events(talk, TurnEnded)) == 1


def test_what_is_answered_behind_a_question_waits_for_a_record_that_had_ended_before() -> None:
    """Gemini CLI 0.61.0 writes the call of a tool when it has run; the record was read while its question stood."""
    talk = Talk(SILENT[0])
    open_witness(talk)
    talk.sends("do it please")
    first = (WitnessPassage("person", "do it please"), WitnessPassage("agent", "I run *it*."), WitnessPassage("end"))
    question = talk.program.asks("Do you want to proceed?", "❯ 1. Yes", "  2. No", "", "Esc to cancel")
    talk.paints(talk.program.says("I run it."), question, rest=1.0)
    assert talk.pane.stream.needs_human is not None
    hears(talk, *first)
    talk.paints(talk.program.asks(), talk.program.says("\n\nIt is done."), talk.program.rests(), rest=0.1)
    while not talk.pane.stream.awaits_witness and not events(talk, TurnEnded):
        talk.pane.rests(0.1)
    hears(talk, WitnessPassage("agent"), WitnessPassage("agent", "It is *done*."), WitnessPassage("end"))
    talk.pane.rests(5.0)
    assert [line for line in talk.pane.said() if line] == ["I run *it*.", "It is *done*."]


def test_a_hook_alone_makes_nobody_wait() -> None:
    talk = Talk(SILENT[0])
    talk.sends("do it please")
    talk.paints(talk.program.says("It works."), talk.program.rests(), rest=0.6)
    pane = talk.pane
    pane.events += pane.stream.apply(HookReported(pane.now, "%0", "agent", "It **works**."))
    pane.rests(3.0)
    assert pane.said() == ["It **works**."]
    assert not pane.stream.awaits_witness


CODE = """In all:

```python
def weigh(rows):
    for row in rows:
        yield row.weight

print(weigh([]))
```

Done here."""


def test_line_numbers_that_a_renderer_puts_before_code_are_no_words() -> None:
    shown = [
        " 1 def weigh(rows):",
        " 2     for row in rows:",
        " 3         yield row.weight",
        " 4",
        " 5 print(weigh([]))",
    ]
    said = compared(witness_of(report(CODE)), answer(["In all:", "", *shown, "", "Done here."]))
    assert lines(said) == CODE.split("\n")
    assert (verdict(said).outcome, verdict(said).extra) == ("agrees", 0)


def test_code_of_which_a_page_was_skipped_is_filled_though_its_lines_are_numbered() -> None:
    shown = [" 1", "", " 3         yield row.weight", " 4", " 5 print(weigh([]))"]
    said = compared(witness_of(report(CODE)), answer(GAP, ["In all:", "", *shown, "", "Done here."]))
    assert lines(said) == CODE.split("\n")
    assert verdict(said).outcome == "repaired"


@pytest.mark.parametrize("shown", [["1 of us", "2 of them"], ["4 apples"], ["7     for row in rows:", "3 pears"]])
def test_numbers_that_are_words_stay(shown: list[str]) -> None:
    said = compared(witness_of(report(CODE)), answer(["In all:", *shown, "Done here."]))
    assert [line for line in lines(said) if line in shown] == shown


ADDRESS = "https://example.net/reports/1/of?first=17"


def test_an_address_that_is_shown_again_in_brackets_is_said_once() -> None:
    source = f"It weighed 37 at {ADDRESS}, read twice.\n\nAnd that is all of it."
    shown = [f"It weighed 37 at {ADDRESS} ({ADDRESS}), read twice.", "", "And that is all of it."]
    said = compared(witness_of(report(source)), answer(shown))
    assert lines(said) == source.split("\n")
    assert verdict(said).outcome == "agrees"


@pytest.mark.parametrize(("ended", "count"), [(True, 1), (False, 2)])
def test_a_line_that_is_painted_twice_is_said_once_where_the_record_is_whole(ended: bool, count: int) -> None:
    source = "## 12. Dapple lattice heron\n\nIn section 12 it weighed 444.\n\n3. step 3 of section 12"
    shown = [
        "12. Dapple lattice heron",
        "12. Dapple lattice heron",
        "In section 12 it weighed 444.",
        "",
        "3. step 3 of",
    ]
    said = compared(witness_of(report(source, ended=ended)), answer(shown))
    assert sum("Dapple lattice heron" in line for line in lines(said)) == count
    assert "3. step 3 of" in lines(said)
