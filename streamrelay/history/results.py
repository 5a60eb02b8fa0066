"""Requests to the history and their results, as values that cross a socket unchanged."""

from collections.abc import Sequence
from typing import Annotated

import msgspec

MAX_FOUND = 1000
MAX_READ = 1000
"""Events of one answer: a daemon holds them all in memory while it writes them."""
MAX_OUTPUT = 2000
"""Characters of one `Output`."""
LARGEST = 2**63 - 1
"""The largest number that a journal knows (SQLite's)."""
Whole = Annotated[int, msgspec.Meta(ge=0, le=LARGEST)]
SECONDS, MAX_SECONDS = 10.0, 60.0
"""Seconds for reading agents' transcripts: the default and the maximum."""


class SearchHistory(msgspec.Struct, frozen=True, kw_only=True):
    """The words to search for; times are Unix times, 0 for any."""

    words: str
    session: str = ""
    """A session, whether it is still there or not, or an agent's own id of a conversation."""
    agent: str = ""
    """The name of a program, or `all`."""
    since: float = 0.0
    until: float = 0.0
    limit: Whole = 50
    transcripts: bool = True
    """Whether what agents wrote down themselves is searched as well."""
    any_word: bool = False
    """Whether one of the words is enough; what holds more of them, and rarer ones, goes first."""
    seconds: float = SECONDS
    """Seconds for reading transcripts."""

    @property
    def program(self) -> str:
        """The agent that is meant; empty for all."""
        return "" if self.agent == "all" else self.agent


class FoundText(msgspec.Struct, frozen=True):
    """Something that was said, as found in the journal or in a transcript: whose it is, and the text."""

    first: int
    last: int
    """Its events' places in the journal; 0 in a transcript."""
    at: float
    """When it began, Unix time; 0 where that is not known."""
    host: str
    session: str
    """tmux's name of the session, or the agent's own id of the conversation."""
    pane: str
    turn: int
    agent: str
    origin: str
    """In a transcript: `program` for the agent's words, `typed` for its user's."""
    message_id: str | None
    text: str
    snippet: str
    """The words around the match, in one line."""
    matches: tuple[tuple[int, int], ...]
    """The match in the snippet: start and stop (exclusive), in characters."""
    file: str = ""
    """The path of the transcript; empty for the journal."""


class Output(msgspec.Struct, frozen=True, kw_only=True):
    """Consecutive lines that one session said: an answer, or a part of one."""

    seq: int
    """The last line's place in the journal."""
    at: float
    """When the first line came, Unix time."""
    until: float
    """When the last line came, Unix time."""
    session: str
    """The session's id."""
    pane: str
    origin: str
    """`program` for the program's words, `activity` for a tool call, `unknown` if a person may have typed it."""
    text: str
    """The last `MAX_OUTPUT` characters."""


class History(msgspec.Struct, frozen=True, kw_only=True):
    """The results, best first, and a description of the parts that were not searched."""

    found: list[FoundText]
    left_out: Sequence[str] = ()
