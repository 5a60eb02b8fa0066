"""Write the manual page from the help of the commands: `python scripts/man_page.py > docs/streamrelay.1`.

The wheel installs it as share/man/man1/streamrelay.1; a test compares the file with what this prints.
"""

import re
import sys
from collections.abc import Iterable, Iterator
from typing import Any

from streamrelay_cli.command_group import COMMON, readable

from streamrelay.errors import StreamrelayError
from streamrelay.version import VERSION


def escaped(text: str) -> str:
    """Return text for roff: on one line, hyphens as they are typed, nothing that reads as a request."""
    words = " ".join(text.split()).replace("\\", "\\e").replace("-", "\\-")
    return f"\\&{words}" if words.startswith((".", "'")) else words


def prose(text: str) -> str:
    """Return a sentence of a help text; what stands in backquotes is bold."""
    parts = re.split(r"`([^`]+)`", text)
    return "".join(f"\\fB{escaped(part)}\\fR" if odd % 2 else _kept(part) for odd, part in enumerate(parts))


def _kept(part: str) -> str:
    """Escape text between two bold parts without losing the blanks at its ends."""
    before = " " if part[:1].isspace() else ""
    after = " " if part[-1:].isspace() and part.strip() else ""
    return before + escaped(part) + after


def paragraphs(text: str) -> Iterator[str]:
    """Yield the paragraphs of a help text."""
    for number, paragraph in enumerate(re.split(r"\n\s*\n", text.strip())):
        yield from ((".PP",) if number else ())
        yield prose(paragraph)


def commands(group: Any, words: tuple[str, ...], parent: Any) -> Iterator[tuple[tuple[str, ...], Any, Any]]:
    """Yield each visible command with its words and its context, groups before what is in them."""
    context = group.make_context(words[-1], [], parent=parent, resilient_parsing=True)
    for name in group.list_commands(context):
        command = group.commands[name]
        if command.hidden:
            continue
        inner = command.make_context(name, [], parent=context, resilient_parsing=True)
        yield (*words, name), command, inner
        if hasattr(command, "list_commands"):
            yield from commands(command, (*words, name), context)


def command_lines(words: tuple[str, ...], command: Any, context: Any) -> Iterator[str]:
    """Yield one command: its usage, its help, its arguments and options."""
    usage = " ".join(command.collect_usage_pieces(context))
    yield f".SS {escaped(' '.join(words[1:]))}"
    yield f"\\fB{escaped(' '.join(words))}\\fR {escaped(usage)}"
    yield ".PP"
    yield from paragraphs(command.help or "")
    own = [parameter for parameter in command.get_params(context) if parameter.name not in COMMON]
    yield from parameters(own, context)


def parameters(of_command: Iterable[Any], context: Any) -> Iterator[str]:
    """Yield arguments and options with their help."""
    for parameter in of_command:
        record = parameter.get_help_record(context)
        if record is not None and "--help" not in parameter.opts:
            name, told = readable(*record)
            yield ".TP"
            yield f"\\fB{escaped(name)}\\fR"
            yield prose(told) if told.strip() else "\\&"


def errors() -> Iterator[str]:
    """Yield the exit codes with the codes of the errors."""
    kinds: list[type[StreamrelayError]] = []
    waiting: list[type[StreamrelayError]] = [StreamrelayError]
    while waiting:
        kind = waiting.pop()
        kinds.append(kind)
        waiting += kind.__subclasses__()
    for kind in sorted({*kinds}, key=lambda one: (one.exit_code, one.code)):
        yield ".TP"
        yield f"\\fB{kind.exit_code}\\fR {escaped(kind.code)}"
        yield prose((kind.__doc__ or "").split("\n\n")[0])


def page() -> Iterator[str]:
    """Yield the lines of the page."""
    import typer
    from streamrelay_cli.main import app

    root = typer.main.get_command(app)
    yield f'.TH STREAMRELAY 1 "" "streamrelay {VERSION}" "User Commands"'
    yield ".SH NAME"
    yield "streamrelay \\- let programs in tmux panes hear each other, and hear what they say"
    yield ".SH SYNOPSIS"
    yield "\\fBstreamrelay\\fR \\fICOMMAND\\fR [\\fIARGUMENT\\fR]..."
    yield ".SH DESCRIPTION"
    yield from paragraphs(root.help or "")
    yield ".SH OPTIONS"
    yield "Most commands take these, and they may stand before the command too."
    yield from parameters(root.common_options, root.make_context("streamrelay", [], resilient_parsing=True))
    yield ".SH COMMANDS"
    for words, command, context in commands(root, ("streamrelay",), None):
        yield from command_lines(words, command, context)
    yield ".SH EXIT STATUS"
    yield ".TP"
    yield "\\fB0\\fR"
    yield "Done."
    yield from errors()
    yield ".SH FILES"
    for file, told in FILES.items():
        yield ".TP"
        yield f"\\fI{escaped(file)}\\fR"
        yield prose(told)
    yield ".SH SEE ALSO"
    yield "\\fBtmux\\fR(1)"


FILES = {
    "~/.config/streamrelay/config.toml": "Your settings; `streamrelay config` lists them.",
    "~/.config/streamrelay/agents.d/": "Profiles of your own programs.",
    "~/.local/state/streamrelay/": "Journal, outbox, councils and logs. `streamrelay uninstall` removes them.",
}


if __name__ == "__main__":
    sys.stdout.write("\n".join(page()) + "\n")
