"""Every command that a document shows is one: it is parsed by the command line itself, and not run."""

import re
import shlex
from pathlib import Path

import pytest
import typer
from streamrelay_cli.main import app

ROOT = Path(__file__).parents[2]
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "streamrelay").rglob("*.md"))]
JOINS = {"|", "||", "&&", ";"}
ENDS = JOINS | {">", ">>", "<"}
COMMAND = typer.main.get_command(app)
GLOBAL = {"--help", "-h", "--version", "--install-completion", "--show-completion"}
OF_OTHERS = {"--benchmark-only", "--only", "--reader", "--reader-seconds", "--repetitions", "--ways"} | {
    "--approve-all",
    "--permission-mode",
    "--listen",
    "--port",
    "--remote",
}
"""Options of pytest, of the benchmarks' modules, and of agents."""


def command_lines(text: str) -> list[list[str]]:
    """Return the arguments of each `streamrelay` in a block of a document."""
    blocks = re.findall(r"^```(?:sh|shell|console)?\n(.*?)^```", text, re.MULTILINE | re.DOTALL)
    lines = [line.strip() for line in text.splitlines() if line.startswith("    ")]
    lines += [line.strip() for block in blocks for line in block.splitlines()]
    return [words for line in lines for words in arguments(line.removeprefix("$ "))]


def arguments(line: str) -> list[list[str]]:
    lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
    lexer.whitespace_split, lexer.commenters = True, "#"
    try:
        words = list(lexer)
    except ValueError:
        return []
    found: list[list[str]] = []
    for before, word, at in zip(["&&", *words], words, range(len(words)), strict=False):
        if word == "streamrelay" and before in JOINS:
            stop = next((end for end in range(at + 1, len(words)) if words[end] in ENDS), len(words))
            found.append(words[at + 1 : stop])
    return found


def parse(words: list[str]) -> None:
    """Raise what the command line would say of these words, but for what is missing where a document leaves it out."""
    command, context = COMMAND, None
    while hasattr(command, "commands"):
        assert words, "a command is missing"
        name, *words = words
        assert name in command.commands, f"there is no command {name!r}"
        command = command.commands[name]
        if not words:
            return
        if words[0].startswith("-"):  # a group that runs without a command has options of its own
            break
    context = command.make_context(command.name, list(words), parent=context)
    context.close()


@pytest.mark.requirement("OPS-08b")
@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_commands_in_blocks_are_commands(document: Path) -> None:
    for words in command_lines(document.read_text()):
        parse(words)


@pytest.mark.requirement("OPS-08b")
@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_commands_and_options_in_sentences_exist(document: Path) -> None:
    known = all_options(COMMAND)
    if document.name == "requirements.md":
        pytest.skip("it speaks of what is to be, too")
    for quoted in re.findall(r"(?<!`)`([^`\n]+)`(?!`)", document.read_text().replace("\n", " ")):
        if quoted.startswith("streamrelay "):
            name = quoted.split()[1]
            assert name in COMMAND.commands or name.startswith("-"), quoted
        for option in re.findall(r"^--[a-z][a-z-]*|(?<=\s)--[a-z][a-z-]*", quoted):
            assert option in known | GLOBAL | OF_OTHERS, quoted


def all_options(command) -> set[str]:
    own = {option for parameter in command.params for option in (*parameter.opts, *parameter.secondary_opts)}
    return own.union(*(all_options(inner) for inner in getattr(command, "commands", {}).values()))


def test_every_command_is_shown_somewhere() -> None:
    shown = {words[0] for document in DOCUMENTS for words in command_lines(document.read_text()) if words}
    text = " ".join(document.read_text() for document in DOCUMENTS)
    assert not [name for name in COMMAND.commands if name not in shown and f"streamrelay {name}" not in text]


@pytest.mark.parametrize(
    ("line", "complaint"),
    [
        ("streamrelay wach work", "there is no command 'wach'"),
        ("echo x | streamrelay send work - --whait", "--whait"),
        ("streamrelay link one", "b"),
        ("streamrelay config shw", "there is no command 'shw'"),
        ("streamrelay relay a b --budget many  # for long", "valid integer"),
    ],
)
def test_a_command_that_is_none_is_noticed(line: str, complaint: str) -> None:
    (words,) = arguments(line)
    with pytest.raises(Exception, match=complaint):  # typer has no public name for what it raises
        parse(words)
    assert arguments("the streamrelay session ends") == []
