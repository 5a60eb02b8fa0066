"""How a gathering goes and who takes part: what the rhythms say, what may be said besides, and what is refused."""

import pytest

from streamrelay.errors import ConfigError, InvalidGathering, NestedGathering, UsageError
from streamrelay.gathering.ceremony import Ceremony
from streamrelay.gathering.library import find_rhythm, load_rhythms, load_texts
from streamrelay.gathering.members import Member, check_members, check_not_nested, harvester, speakers
from streamrelay.gathering.plan import Breath, plan_for

SAGE, REX, ADA = (
    Member(name="Sage", number=3),
    Member(name="Rex", number=1),
    Member(name="Ada", number=2, role="harvester"),
)


@pytest.mark.requirement("GAT-02a")
@pytest.mark.parametrize(
    ("rhythm", "beats", "seconds", "structure", "tenure"),
    [("daily", 2, 60, "1-1-1", 150), ("weekly", 3, 60, "2-2-2", 210), ("monthly", 4, 90, "2-3-2", 390)],
)
def test_a_rhythm_says_how_a_gathering_goes(rhythm, beats, seconds, structure, tenure):
    plan = plan_for(find_rhythm(rhythm))
    assert (plan.beats_per_turn, plan.beat_interval_seconds, str(plan.breath)) == (beats, seconds, structure)
    assert (plan.listening, plan.last_words_seconds, plan.harvest_seconds) == ("each", 30, 600)
    assert plan.tenure_seconds == tenure


@pytest.mark.requirement("GAT-02a")
@pytest.mark.parametrize(
    ("text", "breath"),
    [("minimal", (1, 1, 1)), ("Standard", (2, 2, 2)), (" extended ", (2, 3, 2)), ("4-1-12", (4, 1, 12))],
)
def test_a_structure_has_a_name_or_is_spelt_out(text, breath):
    assert Breath.parse(text) == Breath(*breath)


@pytest.mark.requirement("GAT-02a")
def test_what_is_said_goes_before_the_structure_and_that_before_the_rhythm():
    plan = plan_for(
        find_rhythm("daily"), structure="extended", hold_rounds=1, beats_per_turn=5, opening_question=" Why? "
    )
    assert (str(plan.breath), plan.beats_per_turn, plan.beat_interval_seconds) == ("2-1-2", 5, 60)
    assert plan.question == "Why?"


@pytest.mark.requirement("GAT-02b")
def test_questions_and_keywords_come_from_the_procedure_files():
    rhythms = load_rhythms()
    assert set(rhythms) == {"daily", "weekly", "monthly"}
    for rhythm in rhythms.values():
        assert rhythm.question.endswith("?")
        assert len(rhythm.keywords) >= 3
        assert rhythm.about.endswith(".")
        plan = plan_for(rhythm)
        assert (plan.question, plan.keywords, plan.about) == (rhythm.question, rhythm.keywords, rhythm.about)


@pytest.mark.requirement("GAT-02b")
def test_a_user_has_other_rhythms_and_rhythms_of_its_own(tmp_path, monkeypatch):
    folder = tmp_path / "streamrelay" / "gatherings" / "rhythms"
    folder.mkdir(parents=True)
    (folder / "daily.md").write_text('+++\nquestion = "And now?"\nbeat_interval_seconds = 2.5\n+++\n')
    (folder / "retro.md").write_text(
        '+++\nstructure = "1-2-1"\nbeats_per_turn = 1\nbeat_interval_seconds = 30\n'
        'question = "What hurt?"\n+++\r\nLook\nback.\n'
    )
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    daily, retro = find_rhythm("daily"), find_rhythm("retro")
    assert (daily.question, daily.beat_interval_seconds, daily.beats_per_turn) == ("And now?", 2.5, 2)
    assert daily.about == load_rhythms(tmp_path / "nowhere")["daily"].about
    assert (str(retro.breath), retro.about, retro.keywords) == ("1-2-1", "Look back.", ())


@pytest.mark.requirement("GAT-02b")
@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("# Daily\n", "does not begin with TOML"),
        ("+++\nquestion = \n+++\n", "invalid TOML"),
        ("+++\nqestion = 'x'\n+++\n", "qestion"),
        ("+++\nbeats_per_turn = 0\n+++\n", "beats_per_turn"),
        ("+++\nstructure = '2-2'\n+++\n", "invalid structure: '2-2'"),
        ("+++\nquestion = 'x'\n+++\n", "missing: structure, beats_per_turn, beat_interval_seconds"),
        ("+++\nquestion = 'x'\n", "does not begin with TOML"),
    ],
)
def test_a_procedure_file_that_makes_no_sense_is_named(tmp_path, text, wrong):
    (tmp_path / "rhythms").mkdir()
    (tmp_path / "rhythms" / "retro.md").write_text(text)
    with pytest.raises(ConfigError, match=wrong) as raised:
        load_rhythms(tmp_path)
    assert raised.value.data["file"] == str(tmp_path / "rhythms" / "retro.md")


def test_a_file_that_cannot_be_read_is_named(tmp_path):
    (tmp_path / "prompts").mkdir()
    (tmp_path / "prompts" / "beat.md").write_bytes(b"\xff\xfe")
    with pytest.raises(ConfigError, match="no UTF-8"):
        load_texts(tmp_path)
    (tmp_path / "prompts" / "beat.md").unlink()
    (tmp_path / "prompts" / "beat.md").mkdir()
    with pytest.raises(ConfigError, match="cannot be read"):
        load_texts(tmp_path)


@pytest.mark.requirement("GAT-03a")
@pytest.mark.parametrize(
    ("members", "fault", "words"),
    [
        ([SAGE, REX, Member(name="Mo", number=3), ADA], "duplicate_number", "the number 3"),
        ([SAGE, REX, Member(name="SAGE", number=4), ADA], "duplicate_name", "the name Sage"),
        ([SAGE, Member(name="B", number=5, session="$1"), Member(name="H", number=6, role="harvester", session="$1")],
         "duplicate_session", r"\$1"),
        ([SAGE, ADA], "speakers", "at least two speakers, not 1"),
        ([ADA], "speakers", "not 0"),
        ([], "speakers", "not 0"),
        ([SAGE, REX], "harvesters", "exactly one harvester, not 0"),
        ([SAGE, REX, ADA, Member(name="Eve", number=9, role="harvester")], "harvesters", "not 2"),
        ([SAGE, REX, ADA, Member(name="Mo\n(4)", number=4)], "name", r"U\+000A"),
        ([SAGE, REX, ADA, Member(name="Mo\x1b[31m", number=4)], "name", r"U\+001B"),
        ([SAGE, REX, ADA, Member(name="Mo\u202e", number=4)], "name", r"U\+202E"),
        ([SAGE, REX, ADA, Member(name="Mo\u2028", number=4)], "name", r"U\+2028"),
        ([SAGE, REX, ADA, Member(name="", number=4)], "name", "invalid name"),
        ([SAGE, REX, ADA, Member(name=" Mo", number=4)], "name", "invalid name"),
        ([SAGE, REX, ADA, Member(name="M" * 65, number=4)], "name", "invalid name"),
        ([SAGE, REX, ADA, Member(name="!touch x #", number=4)], "name", "begins like a command"),
        ([SAGE, REX, ADA, Member(name="Mo", number=0)], "number", "the number 0"),
        ([SAGE, REX, ADA, Member(name="Mo", number=-1)], "number", "the number -1"),
    ],
)  # fmt: skip
def test_a_circle_that_cannot_be_held_is_refused_and_says_why(members, fault, words):
    with pytest.raises(InvalidGathering, match=words) as raised:
        check_members(members)
    assert raised.value.data["fault"] == fault
    assert raised.value.hint
    assert (raised.value.code, raised.value.exit_code) == ("invalid_gathering", 35)
    assert isinstance(raised.value, UsageError)
    with pytest.raises(InvalidGathering):
        Ceremony("g", plan_for(find_rhythm("daily")), members, load_texts())


def test_a_name_may_have_64_characters():
    check_members([SAGE, REX, ADA, Member(name="M" * 64, number=4)])


@pytest.mark.requirement("GAT-03a")
@pytest.mark.parametrize(
    ("said", "fault"),
    [
        ({"inhale_rounds": 0}, "rounds"),
        ({"hold_rounds": 0}, "rounds"),
        ({"exhale_rounds": -1}, "rounds"),
        ({"structure": "0-1-1"}, "rounds"),
        ({"structure": "1-1-999"}, "rounds"),
        ({"structure": "two"}, "structure"),
        ({"structure": "2-2-2-2"}, "structure"),
        ({"structure": "١-١-١"}, "structure"),
        ({"beats_per_turn": 0}, "beats"),
        ({"beats_per_turn": 1_000}, "beats"),
        ({"beat_interval_seconds": 0.0}, "beat_interval_seconds"),
        ({"beat_interval_seconds": float("nan")}, "beat_interval_seconds"),
        ({"beat_interval_seconds": float("inf")}, "beat_interval_seconds"),
        ({"last_words_seconds": -1.0}, "last_words_seconds"),
        ({"harvest_seconds": 1e9}, "harvest_seconds"),
        ({"reach_seconds": 0.0}, "reach_seconds"),
        ({"listening": "aloud"}, "listening"),
    ],
)
def test_a_plan_that_does_not_end_is_refused_and_says_why(said, fault):
    with pytest.raises(InvalidGathering) as raised:
        plan_for(find_rhythm("daily"), **said)
    assert raised.value.data["fault"] == fault
    assert raised.value.hint


@pytest.mark.requirement("GAT-03a")
def test_an_unknown_rhythm_is_refused_with_those_that_there_are():
    with pytest.raises(InvalidGathering, match="'hourly'") as raised:
        find_rhythm("hourly")
    assert "daily, monthly, weekly" in raised.value.hint
    assert raised.value.data == {"fault": "rhythm", "rhythm": "hourly"}


@pytest.mark.requirement("GAT-03b")
def test_no_gathering_begins_within_one():
    check_not_nested("$1", None)
    with pytest.raises(NestedGathering, match=r"^Cannot start a gathering from within a gathering$") as raised:
        check_not_nested("$1", "gathering-1")
    assert raised.value.data == {"session": "$1", "gathering": "gathering-1"}
    assert raised.value.hint


def test_speakers_are_in_the_order_of_their_numbers_and_the_harvester_is_none_of_them():
    check_members([SAGE, ADA, REX])
    assert speakers([SAGE, ADA, REX]) == (REX, SAGE)
    assert harvester([SAGE, ADA, REX]) == ADA
    check_members(
        [
            Member(name="日本 語", number=1),
            Member(name="O'Neil (old)", number=2),
            Member(name="h", number=9, role="harvester"),
        ]
    )
