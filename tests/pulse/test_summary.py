"""What was found in a few lines, without a model."""

import pytest

from streamrelay.history import FoundText
from streamrelay.pulse.summary import extract, material

AT = 1_795_000_000.0
"""2026-11-18."""


def found(text: str, *, agent: str = "claude", origin: str = "program", at: float = AT) -> FoundText:
    return FoundText(0, 0, at, "", "s", "", 0, agent, origin, None, text, "", ())


@pytest.mark.requirement("GAT-06")
def test_the_sentences_that_say_most_of_the_words_with_whose_and_when() -> None:
    told = [
        found("Nothing of note. The lexer is slow because of the regex! Then lunch."),
        found("## Plan\n\n1. **release** the lexer on Friday\n2. sleep a lot", agent="codex"),
        found("who will release the parser next time?", agent="codex", origin="typed", at=0.0),
    ]
    assert extract(told, ["release", "lexer", "regex"]).splitlines() == [
        "2026-11-18 claude: The lexer is slow because of the regex!",
        "2026-11-18 codex: release** the lexer on Friday",
        "undated to codex: who will release the parser next time?",
    ]


def test_what_two_said_alike_is_said_once() -> None:
    told = [
        found("The lexer is slow, as we all know."),
        found("The lexer is slow as we all know!"),
        found("A lexer rests."),
    ]
    assert len(extract(told, ["lexer"]).splitlines()) == 2
    near = [found(f"The lexer is slow on the file number {number}") for number in range(9)]
    assert len(extract([*near, found("We gave the lexer to Rex")], ["lexer"]).splitlines()) == 2


def test_it_is_bounded_and_on_one_line_each() -> None:
    told = [found(f"lexer {chr(97 + number) * 300}\x1b[2J\r and {number}") for number in range(50)]
    lines = extract(told, ["lexer"], 5).split("\n")
    assert len(lines) == 5
    assert all(len(line) < 260 and line.isprintable() for line in lines)
    assert extract(told, []) == extract([], ["lexer"]) == extract(told, ["parser"]) == ""
    given = material(told, ["lexer"], 3_000)
    assert len(given) <= 3_000
    assert given.startswith("What was said before about: lexer\n")
    assert "\x1b" not in given
