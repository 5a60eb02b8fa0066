"""What the circle says on its own account: what has to be in it, and that a user may have other words."""

import msgspec
import pytest

from streamrelay.errors import ConfigError
from streamrelay.gathering.library import load_texts
from streamrelay.gathering.plan import Breath
from streamrelay.gathering.prompts import GatheringPrompts, PromptTexts

TEXTS = load_texts()


@pytest.mark.requirement("GAT-05")
def test_a_seed_says_who_one_is_and_what_this_is(circle):
    played = circle(breath=Breath(1, 3, 2), about="The week's work.", trail="The cache has no owner.")
    played.take(played.ceremony.begin(played.now, "main is green.\nHistory signals: the parser was slow on Monday."))
    seed = played.of(4, "seed")[0][1]
    assert seed.startswith("You are Mo (4) in this gathering.\n")
    assert (
        "The circle, in the order of speaking:\nRex (2), speaker\nMo (4), speaker, a person\nSage (7), speaker\n"
        "Ada (1), harvester: holds no piece\n"
    ) in seed
    for part in (
        "Breath: 1-3-2.", "1 round of inhale, 3 rounds of hold and 2 rounds of exhale",
        "Rhythm: weekly. The week's work.",
        "Opening question: What is alive?", "3 beats of 60 seconds", "1. Sense:", "2. Attune:", "3. Choose:",
        "* Inhale:", "do not respond to the others", "* Hold:", "* Exhale:",
        "What the last gathering left:\nThe cache has no owner.",
        "main is green.\nHistory signals: the parser was slow on Monday.", '"I pass."', "pass_piece",
    ):  # fmt: skip
        assert part in seed
    assert "You are a speaker." in seed
    harvester = played.of(1, "seed")[0][1]
    assert "You are the harvester." in harvester
    assert "You are a speaker." not in harvester


@pytest.mark.requirement("GAT-07", "GAT-08")
def test_announcements_and_prompts_say_what_the_phase_asks(circle):
    played = circle(breath=Breath(1, 1, 1))
    played.run()
    for to in (2, 4, 7, 1):
        announced = [text for _, text in played.of(to, "all")]
        assert [text.split("\n")[0] for text in announced] == [
            "--- Phase: INHALE (round 1/1) ---", "--- Phase: HOLD (round 1/1) ---", "--- Phase: EXHALE (round 1/1) ---",
            "--- Phase: CLOSE ---",
        ]  # fmt: skip
        for text, ask in zip(announced, (TEXTS.inhale, TEXTS.hold, TEXTS.exhale), strict=False):
            assert ask.strip() in text
    turns = [text for _, text in played.of(4, "turn")]
    for text, phase, ask in zip(
        turns, ("INHALE", "HOLD", "EXHALE"), (TEXTS.inhale, TEXTS.hold, TEXTS.exhale), strict=True
    ):
        assert f"Phase: {phase} (round 1/1)" in text
        assert ask.strip() in text
    assert "Before you it was with Rex (2)." in turns[0]
    assert "Since you held it, it was with Sage (7), Rex (2)." in turns[1]
    assert "You are the first to speak." in played.of(2, "turn")[0][1]


@pytest.mark.requirement("GAT-05")
def test_what_is_filled_in_is_never_a_template(circle):
    played = circle(question="{pulse} {nobody}", trail="{name}")
    played.take(played.ceremony.begin(played.now, "{question}"))
    seed = played.of(2, "seed")[0][1]
    assert "Opening question: {pulse} {nobody}\n" in seed
    assert "What the last gathering left:\n{name}\n" in seed
    assert "What is going on:\n{question}\n" in seed


def test_a_user_has_other_words(tmp_path, circle):
    (tmp_path / "prompts").mkdir()
    (tmp_path / "prompts" / "last-words.md").write_text("{name}, dein letztes Wort?\n")
    texts = load_texts(tmp_path)
    assert msgspec.structs.replace(texts, last_words=TEXTS.last_words) == TEXTS
    ceremony = circle().ceremony
    prompts = GatheringPrompts("g", ceremony.plan, ceremony.members, texts)
    assert prompts.last_words(ceremony.members[0], "hold", 1) == "Rex, dein letztes Wort?"


@pytest.mark.parametrize(
    ("name", "text", "wrong"),
    [
        ("beat.md", "[{beat}/{beets}]", "beets"),
        ("inhale.md", "Inhale for {name}", "name"),
        ("phase.md", "To {name}", "name"),
        ("sead.md", "You", "unknown text"),
    ],
)
def test_a_text_of_the_users_that_makes_no_sense_is_named(tmp_path, name, text, wrong):
    (tmp_path / "prompts").mkdir()
    (tmp_path / "prompts" / name).write_text(text)
    with pytest.raises(ConfigError, match=wrong) as raised:
        load_texts(tmp_path)
    assert raised.value.data["file"] == str(tmp_path / "prompts" / name)
    assert raised.value.hint


def test_every_text_comes_with_the_package():
    assert all(getattr(TEXTS, name).strip() for name in PromptTexts.__struct_fields__)
