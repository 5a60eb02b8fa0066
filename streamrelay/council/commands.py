"""Parse and complete the person's input: a message, or a command that begins with a slash. Pure."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Final

from streamrelay.council import coordinator
from streamrelay.errors import UsageError

HELP: Final = """\
/phase NAME     the prompts of another phase hold from the next speaker on (alone: says which there are)
/blind [TEXT]   a round in which members see no other answers before all have answered
/dissent        each member names what it disagrees with, shown as a table
/chair NAME     a member sums up
/retry NAME     asks a member that was skipped again
/yes, /no       answers what is asked in the status line
/cost           tokens and dollars so far
/export [FILE]  writes the session as Markdown (FILE.json: as JSON)
/bye            ends the session; `streamrelay council --resume ID` goes on with it
/help           this; a message that begins with a slash: // in its place"""

WORDS: Final = tuple(re.findall(r"/[a-z]+", re.sub(r"  .*", "", HELP, flags=re.MULTILINE)))
"""The commands, as they are typed."""
_TAKES_MEMBER: Final = frozenset({"/chair", "/retry"})


@dataclass(frozen=True, slots=True)
class Message:
    """A message to the council, `blind` or open."""

    text: str
    blind: bool = False


@dataclass(frozen=True, slots=True)
class Show:
    """A request to show `cost`, `help` or `phases`."""

    what: str


@dataclass(frozen=True, slots=True)
class Export:
    """A request to export the session to a file, named after the session by default."""

    file: str


Command = Message | Show | Export | coordinator.Input


def parse(text: str) -> Command:
    """Parse a line; raises UsageError for an unknown or incomplete command."""
    if not text.startswith("/"):
        return Message(text)
    if text.startswith("//"):
        return Message(text[1:])
    word, _, rest = text.strip().partition(" ")
    rest = rest.strip()
    match word.lower():
        case "/phase":
            return coordinator.SetPhase(rest) if rest else Show("phases")
        case "/blind":
            return Message(rest, blind=True) if rest else coordinator.StartRound("blind")
        case "/dissent":
            return coordinator.StartRound("dissent")
        case "/chair" | "/retry" if not rest:
            raise UsageError(
                f"{word} needs a member's name", hint="name a member of the council: /chair NAME, /retry NAME"
            )
        case "/chair":
            return coordinator.StartRound("chair", rest)
        case "/retry":
            return coordinator.Retry(rest)
        case "/yes":
            return coordinator.Yes()
        case "/no":
            return coordinator.No()
        case "/bye" | "/quit" | "/exit":
            return coordinator.Bye()
        case "/cost" | "/help":
            return Show(word[1:].lower())
        case "/export":
            return Export(rest)
    raise UsageError(f"there is no {word}", hint="/help lists the commands; // begins a message with a slash")


def completions(text: str, members: Sequence[str], phases: Iterable[str]) -> list[str]:
    """Return the completions of `text`: a command, its argument, or a member's name as the last word."""
    command, space, rest = text.partition(" ")
    if text.startswith("/") and not space:
        return [word for word in WORDS if word.startswith(text.lower())]
    if command.lower() in _TAKES_MEMBER:
        return [f"{command} {name}" for name in members if name.casefold().startswith(rest.casefold())]
    if command.lower() == "/phase":
        return [f"{command} {phase}" for phase in phases if phase.casefold().startswith(rest.casefold())]
    word = re.search(r"\S+$", text)
    if word is None:
        return []
    return [
        text[: word.start()] + name for name in members if name.casefold().startswith(word[0].lstrip("@").casefold())
    ]
