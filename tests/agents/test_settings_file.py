"""Hooks in settings: what is put in is taken out to the byte, whatever the file looks like and becomes."""

import json

import pytest
import regex
from hypothesis import given
from hypothesis import strategies as st

from streamrelay.agents.jsonc import JsonError, parse
from streamrelay.agents.settings_file import install, installed, remove

OURS = regex.compile(r"\bstreamrelay['\"]?\s+hook\s+claude\s*$")
COMMAND = "'/opt/a b/streamrelay' hook claude"

BLANKS = st.sampled_from(["", " ", "\n", "\n  ", "\r\n\t", "  \n\n    ", " \t"])
TRIVIA = st.one_of(BLANKS, st.sampled_from([" // a note\n", "/* one */", "\n  /* of\n two */ ", "//\n//\n  "]))
KEYS = st.sampled_from(["a", "hooks", "Stop", "model", "é\\n", 'q\\"', "", "command", "{", "// no comment"])
SCALARS = st.sampled_from(["1", "-2.5e3", "true", "null", '"x"', '"\\u00e9 \\\\"', '"/* x */"', '"}"', '"日本"'])


@st.composite
def containers(draw: st.DrawFn, trivia: st.SearchStrategy[str], depth: int = 3) -> str:
    """An object or a list as somebody may have typed it."""
    is_object = draw(st.booleans())
    items = []
    for _ in range(draw(st.integers(0, 3))):
        value = draw(containers(trivia, depth - 1)) if depth and draw(st.booleans()) else draw(SCALARS)
        key = f'"{draw(KEYS)}"{draw(trivia)}:{draw(trivia)}' if is_object else ""
        items.append(f"{draw(trivia)}{key}{value}{draw(trivia)}")
    inside = ",".join(items) + ("," + draw(trivia) if items and draw(st.booleans()) else "")
    inside = inside or draw(trivia)
    return f"{{{inside}}}" if is_object else f"[{inside}]"


HANDLER = '{"type": "command", "command": "say done"}'
USUAL = st.sampled_from(
    [
        "",
        "\n",
        "{}",
        "{\n}\n",
        '{"hooks": {}}',
        '{\n  "hooks": {\n    "Stop": []\n  }\n}\n',
        '{\n  "model": "x",\n  "hooks": {\n    "PreToolUse": []\n  }\n}',
        f'{{"hooks":{{"Stop":[{{"hooks":[{HANDLER}]}}]}}}}',
        f'{{\r\n\t"hooks": {{\r\n\t\t"Stop": [\r\n\t\t\t{{ "hooks": [ {HANDLER} ] }}\r\n\t\t]\r\n\t}}\r\n}}\r\n',
    ]
)


def settings(trivia: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    whole = st.builds("{}{}{}".format, trivia, containers(trivia), trivia)
    return st.builds("{}{}".format, st.sampled_from(["", "\ufeff"]), st.one_of(whole, USUAL))


def is_installable(text: str) -> bool:
    try:
        install(text, "Stop", COMMAND, OURS)
    except JsonError:
        return False
    return True


@pytest.mark.requirement("AGT-03b")
@given(settings(TRIVIA).filter(is_installable))
def test_what_was_put_in_is_taken_out_to_the_byte(text: str) -> None:
    with_hook, made = install(text, "Stop", COMMAND, OURS)
    assert installed(with_hook, "Stop", OURS) == COMMAND
    assert remove(with_hook, "Stop", OURS, made) == text


@given(settings(BLANKS).filter(is_installable))
def test_what_the_agent_reads_is_the_settings_and_the_hook(text: str) -> None:
    """Without comments and commas at the end, `json` reads what the agents read."""
    try:
        before = json.loads(text.lstrip("\ufeff") or "{}")
    except ValueError:
        return
    after = json.loads(install(text, "Stop", COMMAND, OURS)[0].lstrip("\ufeff"))
    group = after["hooks"]["Stop"].pop(0)
    assert group == {"hooks": [{"type": "command", "command": COMMAND}]}
    if not after["hooks"]["Stop"] and "Stop" not in before.get("hooks", {}):
        del after["hooks"]["Stop"]
    if not after["hooks"] and "hooks" not in before:
        del after["hooks"]
    assert after == before


@pytest.mark.requirement("AGT-03b")
@given(settings(TRIVIA).filter(is_installable), st.sampled_from(['"edited": [1, {"a": 2}]', '"x": "y"']))
def test_what_was_added_meanwhile_stays_as_if_we_had_never_been_there(text: str, member: str) -> None:
    with_hook, made = install(text, "Stop", COMMAND, OURS)

    def edited(text: str) -> str:
        """Another member at the end, as a person would type it."""
        root = parse(text)
        if not root.items:
            return text[: root.end - 1] + "\n" + member + "\n" + text[root.end - 1 :]
        end = root.items[-1].end
        return text[:end] + ",\n  " + member + text[end:]

    if parse_or_none(text) is None or not parse(text).items:
        # Where we were the first, the person put a comma behind us.
        assert member in remove(edited(with_hook), "Stop", OURS, made)
        assert "streamrelay" not in remove(edited(with_hook), "Stop", OURS, made)
    else:
        assert remove(edited(with_hook), "Stop", OURS, made) == edited(text)


def parse_or_none(text: str) -> object:
    try:
        return parse(text)
    except JsonError:
        return None


@given(settings(BLANKS).filter(is_installable), st.sampled_from([None, 2, "\t"]))
def test_an_agent_that_writes_its_settings_anew_keeps_nothing_of_ours(text: str, indent: int | str | None) -> None:
    with_hook, made = install(text, "Stop", COMMAND, OURS)
    try:
        before = json.loads(text.lstrip("\ufeff") or "{}")
    except ValueError:
        return
    anew = json.dumps(json.loads(with_hook.lstrip("\ufeff")), indent=indent)
    after = remove(anew, "Stop", OURS, made)
    assert json.loads(after or "{}") == before
    if before:
        assert after == json.dumps(before, indent=indent)


@pytest.mark.requirement("AGT-03b")
@pytest.mark.parametrize(
    ("place", "kept"),
    [
        ('[%s, {"hooks": []}]', '[{"hooks": []}]'),
        ('[{"hooks": []},\n%s]', '[{"hooks": []}]'),
        ('[{"hooks": []}, /* ours */ %s]', '[{"hooks": []} /* ours */ ]'),
        ("[%s // ours\n]", "[ // ours\n]"),
        ("[ %s ,]", "[]"),
    ],
)
def test_the_hook_is_taken_out_wherever_it_was_moved_to(place: str, kept: str) -> None:
    group = json.dumps({"hooks": [{"type": "command", "command": COMMAND}]})
    text = f'{{"hooks": {{"Stop": {place % group}}}}}'
    assert remove(text, "Stop", OURS, ()) == f'{{"hooks": {{"Stop": {kept}}}}}'


def test_a_hook_of_the_users_in_the_same_group_stays() -> None:
    ours = json.dumps({"type": "command", "command": COMMAND})
    text = f'{{"hooks": {{"Stop": [{{"matcher": "", "hooks": [{HANDLER}, {ours}]}}]}}}}'
    assert remove(text, "Stop", OURS, ()) == text.replace(f", {ours}", "")


@pytest.mark.requirement("AGT-03b")
@pytest.mark.parametrize(
    ("closing", "kept"),
    [
        (0, "// mine\n"),
        (1, "{// mine\n}"),
        (2, '{"hooks": {// mine\n}}'),
        (3, '{"hooks": {"Stop": [// mine\n]}}'),
    ],
)
def test_a_comment_that_was_written_meanwhile_keeps_what_it_is_in(closing: int, kept: str) -> None:
    text, made = install("", "Stop", COMMAND, OURS)
    at = len(text) - closing
    assert remove(f"{text[:at]}// mine\n{text[at:]}", "Stop", OURS, made) == kept


def test_a_command_that_only_names_us_is_not_ours() -> None:
    text = '{"hooks": {"Stop": [{"hooks": [{"command": "echo streamrelay hook claude; date"}]}]}}'
    assert installed(text, "Stop", OURS) is None
    assert remove(text, "Stop", OURS, ("event", "hooks", "settings")) == text


def test_installing_again_only_puts_the_command_right() -> None:
    text, made = install('{\n  "a": 1\n}', "Stop", "/old/streamrelay hook claude", OURS)
    again, more = install(text, "Stop", COMMAND, OURS)
    assert (installed(again, "Stop", OURS), more) == (COMMAND, ())
    assert again.count("hook claude") == 1
    assert remove(again, "Stop", OURS, made) == '{\n  "a": 1\n}'


@pytest.mark.parametrize(
    "text",
    [
        "[]",
        "3",
        "{",
        '{"a" 1}',
        '{"hooks": 3}',
        '{"hooks": {"Stop": {}}}',
        '{"a": "',
        "{} {}",
        "[" * 5000,
        '{"\\x": 1}',
    ],
)
def test_what_is_not_understood_is_left_alone(text: str) -> None:
    with pytest.raises(JsonError):
        install(text, "Stop", COMMAND, OURS)


@given(st.text(alphabet='{}[]",:/*\\ \n\ta1', max_size=40))
def test_any_text_is_parsed_or_refused(text: str) -> None:
    try:
        node = parse(text)
    except JsonError:
        return
    assert 0 <= node.start <= node.end <= len(text)
