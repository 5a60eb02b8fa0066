"""What is read from council.toml, typed by the person, and given to members."""

from pathlib import Path

import pytest

from streamrelay.council import coordinator
from streamrelay.council.commands import HELP, Export, Message, Show, parse
from streamrelay.council.config import default_file, key_of, parse_config, read_config, read_pinned
from streamrelay.council.context import Entry, Estimator, Pinned, context_for
from streamrelay.council.members import Member
from streamrelay.council.rounds import Dissent, dissent_table, read_dissent
from streamrelay.errors import AIKeyRefused, ConfigError, UsageError

ONE = '[[member]]\nname = "A"\nvendor = "openai"\nmodel = "gpt-x"\n'


@pytest.mark.requirement("COU-07")
@pytest.mark.parametrize(
    ("text", "wrong", "hint"),
    [
        ("", "missing required field `member`", "docs/council.md"),
        ("member = []", "length >= 1", "docs/council.md"),
        ("member = 1 2", "invalid TOML", ""),
        (ONE.replace("openai", "acme"), "Invalid enum value", "docs/council.md"),
        (ONE + "colour = 1", "unknown field `colour`", "docs/council.md"),
        (ONE + 'fallback = "claude-x"', "`fallback` claude-x is a model of anthropic, not of openai", "a openai model"),
        (ONE.replace("gpt-x", "gemini-x"), "`model` gemini-x is a model of google, not of openai", "google"),
        (ONE + 'fallback = "gpt-x"', "the fallback is the model itself", "another model"),
        (ONE + ONE.replace('"A"', '"a"'), "two members are called", "a name of its own"),
        ('person = "a"\n' + ONE, "a member is called a, too", "otherwise"),
        (ONE.replace('model = "gpt-x"', ""), "`model` is missing", "model"),
        (ONE.replace("openai", "compatible"), "`base_url` is missing", "http://"),
        (ONE.replace("openai", "scripted"), "needs its script", "script"),
        (ONE.replace("openai", "pane") + 'fallback = "x"', "has no fallback", "leave `fallback` out"),
    ],
)
def test_a_file_that_makes_no_sense_is_one_error_with_its_hint(text: str, wrong: str, hint: str) -> None:
    with pytest.raises(ConfigError) as raised:
        parse_config(text, "council.toml")
    assert raised.value.message.startswith("council.toml")
    assert wrong in raised.value.message
    assert hint in raised.value.hint


def test_a_file_or_document_that_cannot_be_read_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=r"council.toml: no such file") as raised:
        read_config(tmp_path / "council.toml")
    assert "--demo" in raised.value.hint
    config = parse_config('auto_load = ["plan.md"]\n' + ONE, "council.toml")
    with pytest.raises(ConfigError, match=r"auto_load: .*plan\.md cannot be read"):
        read_pinned(config, tmp_path)
    (tmp_path / "plan.md").write_bytes(b"\xff")
    with pytest.raises(ConfigError, match="no UTF-8"):
        read_pinned(config, tmp_path)
    (tmp_path / "plan.md").write_text("the plan")
    assert read_pinned(config, tmp_path) == [Pinned("plan.md", "the plan")]
    assert default_file({"XDG_CONFIG_HOME": str(tmp_path)}) == tmp_path / "streamrelay" / "council.toml"


def test_keys_come_from_the_environment() -> None:
    gemini = Member(name="G", vendor="google", model="gemini-x")
    assert key_of(gemini, {"GOOGLE_API_KEY": " k "}) == "k"
    assert key_of(Member(name="L", vendor="compatible", model="m", base_url="http://x"), {}) == "none"
    assert key_of(Member(name="X", vendor="xai", model="grok", key="MY_KEY"), {"MY_KEY": "k"}) == "k"
    with pytest.raises(AIKeyRefused, match="G: no key in GEMINI_API_KEY or GOOGLE_API_KEY") as raised:
        key_of(gemini, {})
    assert "export GEMINI_API_KEY" in raised.value.hint


def test_commands():
    assert parse("hello") == Message("hello")
    assert parse("//etc/passwd") == Message("/etc/passwd")
    assert parse("/blind what do you think?") == Message("what do you think?", blind=True)
    assert parse("/blind") == coordinator.StartRound("blind")
    assert parse("/PHASE Critique") == coordinator.SetPhase("Critique")
    assert parse("/phase") == Show("phases")
    assert parse("/retry Ada B.") == coordinator.Retry("Ada B.")
    assert parse("/chair Ada") == coordinator.StartRound("chair", "Ada")
    assert parse("/export a.md") == Export("a.md")
    assert [type(parse(word)) for word in ("/yes", "/no", "/bye", "/dissent")] == [
        coordinator.Yes, coordinator.No, coordinator.Bye, coordinator.StartRound,
    ]  # fmt: skip
    for wrong in ("/retry", "/chair ", "/nothing"):
        with pytest.raises(UsageError):
            parse(wrong)


def test_help_names_every_command():
    for word in ("phase", "blind", "dissent", "chair", "retry", "yes", "no", "cost", "export", "bye", "help"):
        assert f"/{word}" in HELP


def entry(number: int, author: str, text: str, round_: int = 1) -> Entry:
    return Entry(str(number), author, "person" if author == "You" else "member", text, round_)


def given(member: str, entries: list[Entry], **more: object) -> list[tuple[str, str]]:
    options = {"vendor": "openai", "system_prompt": "", "estimator": Estimator(), **more}
    context = context_for(member, entries, **options)  # type: ignore[arg-type]  # the options of each test
    return [(message.role, message.text) for message in context.messages]


@pytest.mark.requirement("COU-08")
def test_a_member_is_given_the_others_words_as_the_persons_and_its_own_as_its_own():
    talk = [entry(1, "You", "Hi"), entry(2, "A", "a1"), entry(3, "B", "b1"), entry(4, "You", "More")]
    assert given("A", talk) == [("user", "[You]: Hi"), ("assistant", "a1"), ("user", "[B]: b1\n\n[You]: More")]
    assert given("B", talk[:3]) == [
        ("user", "[You]: Hi\n\n[A]: a1"),
        ("assistant", "b1"),
        ("user", "It is your turn again."),
    ]
    assert given("A", talk[1:], instruction="Sum up.")[-1] == ("user", "[B]: b1\n\n[You]: More\n\nSum up.")
    assert given("A", talk[1:])[0] == ("user", "[The conversation so far is left out.]")


@pytest.mark.requirement("COU-10")
def test_in_a_blind_round_the_others_answers_are_not_given():
    talk = [entry(1, "You", "Hi", 0), entry(2, "A", "a1", 1), entry(3, "A", "a2", 2)]
    assert given("B", talk, blind_round=2) == [("user", "[You]: Hi\n\n[A]: a1")]


@pytest.mark.requirement("COU-08")
def test_only_the_newest_messages_that_fit_are_given_and_the_rest_is_counted():
    talk = [entry(number, "You", f"message {number} " + "x" * 400) for number in range(50)]
    options = {"vendor": "openai", "system_prompt": "S", "estimator": Estimator()}
    context = context_for("A", talk, **options)  # type: ignore[arg-type]
    assert context.left_out == 30
    assert "message 30 " in context.messages[0].text
    small = context_for("A", talk, limit=1000, **options)  # type: ignore[arg-type]
    assert small.tokens <= 1000
    assert "message 49 " in small.messages[-1].text
    assert small.left_out > 30
    pinned = context_for("A", talk, limit=1000, pinned=[Pinned("long.md", "y" * 9000)], **options)  # type: ignore[arg-type]
    assert pinned.cut_documents == ("long.md",)
    assert "# long.md" in pinned.system_prompt
    assert pinned.tokens <= 1000


@pytest.mark.requirement("COU-08")
def test_the_estimate_learns_from_what_the_vendor_counts():
    estimator = Estimator()
    text = "some words of a text " * 100
    before = estimator.tokens(text, "openai")
    for _ in range(20):
        estimator.learn("openai", estimator.tokens(text, "openai"), 2 * before)
    assert estimator.tokens(text, "openai") == pytest.approx(2 * before, rel=0.05)
    assert estimator.tokens("会議" * 50, "google") > estimator.tokens("ab" * 50, "google") * 3


def test_tokens_are_those_of_the_prompt_the_documents_and_each_message_with_its_overhead():
    estimator = Estimator()
    assert [estimator.tokens(text, "openai") for text in ("a" * 42, "会" * 10, "会" * 10 + "a" * 42)] == [11, 14, 24]
    talk = [entry(1, "You", "a" * 42), entry(2, "B", "会" * 10)]
    documents = [Pinned("one.md", "a" * 84), Pinned("two.md", "a" * 42)]
    context = context_for(
        "A", talk, vendor="openai", system_prompt="s" * 42, instruction="i" * 42, pinned=documents, estimator=estimator
    )
    assert context.tokens == 21 + (11 + 6) + (14 + 6) + 21 + 11
    assert (context.left_out, context.cut_documents) == (0, ())


def test_a_message_that_does_not_fit_hides_all_before_it_and_the_newest_is_always_given():
    talk = [entry(1, "You", "short"), entry(2, "B", "x" * 9000), entry(3, "You", "newest")]
    assert given("A", talk, limit=1000) == [("user", "[You]: newest")]
    assert given("A", talk[:2], limit=1000)[-1] == ("user", f"[B]: {'x' * 9000}")


def test_documents_share_half_of_the_room_and_each_leaves_less_for_the_next():
    documents = [Pinned("one.md", "y" * 1260), Pinned("two.md", "z" * 1260), Pinned("three.md", "w" * 1260)]
    context = context_for(
        "A", [entry(1, "You", "Hi")], vendor="openai", system_prompt="", pinned=documents, limit=1000,
        estimator=Estimator(),
    )  # fmt: skip
    # 500 tokens for documents: all of the first (301), what is left in the second, nothing of the third.
    assert context.cut_documents == ("two.md", "three.md")
    assert (context.system_prompt.count("y"), context.system_prompt.count("w")) == (1260, 1)
    assert 750 < context.system_prompt.count("z") < 850


@pytest.mark.parametrize(
    ("estimated", "counted", "learns"), [(100, 50, True), (100, 49, False), (50, 100, True), (49, 100, False)]
)
def test_counts_of_a_few_tokens_teach_nothing(estimated: int, counted: int, learns: bool):
    estimator = Estimator()
    before = estimator.tokens("a" * 4200, "openai")
    estimator.learn("openai", estimated, counted)
    assert (estimator.tokens("a" * 4200, "openai") != before) is learns


@pytest.mark.requirement("COU-10")
def test_dissent_is_read_off_lines_with_bars():
    text = """I disagree:
| claim | who | why |
|---|---|---|
- We need Redis | Ada | SQLite does
2. Ship now | You
none of it"""
    assert read_dissent("Bob", text) == [
        Dissent("Bob", "We need Redis", "Ada", "SQLite does"),
        Dissent("Bob", "Ship now", "You", ""),
    ]
    assert read_dissent("Bob", "none") == []
    assert dissent_table([]) == "No member disagrees with anything."
    assert "| a\\|b | " in dissent_table([Dissent("Bob", "a|b", "Ada", "")])
