"""The results of the tools. Some clients show an agent the structured form, others the text, so each form is complete:
the facts, and in `next` what to do now. Text of other sessions is marked as theirs.
"""

import msgspec

from streamrelay.counts import deliveries
from streamrelay.delivery.sanitise import sanitised

_MAX_LABEL_LENGTH = 120
MAX_PATH_LENGTH = 4096


def label(text: str, longest: int = _MAX_LABEL_LENGTH) -> str:
    """Return a foreign name on one line, with at most `longest` characters."""
    line = " ".join(sanitised(text).split())
    return line if len(line) <= longest else line[: longest - 1] + "…"


def quoted(text: str) -> str:
    """Return a foreign text with a mark before each line, so that no line can pass for streamrelay's own."""
    return "\n".join(f"  > {line}" for line in sanitised(text).split("\n"))


def who_is(session: str, title: str) -> str:
    """Return a session by title and id."""
    return f"{title} ({session})" if title else session


class Result(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The result of one tool; fields with their default value are omitted."""

    def as_text(self) -> str:
        """Return it as plain text."""
        raise NotImplementedError


class SendMessageResult(Result, frozen=True, kw_only=True):
    """The result of `send_message`."""

    message_id: str
    state: str
    reason: str = ""
    link: str = ""
    remaining: int | None = None
    listening: bool = False
    removed: dict[str, int] = {}
    file: str = ""
    warning: str = ""
    next: str

    def as_text(self) -> str:
        """Return the state and the next step."""
        why = f" ({self.reason})" if self.reason else ""
        lines = [f"message {self.message_id}: {self.state}{why}"]
        if self.removed:
            lines.append(f"left out of it: {', '.join(f'{name} x{count}' for name, count in self.removed.items())}")
        if self.file:
            lines.append(f"too long to be typed: the other one was given the file {self.file}")
        if self.warning:
            lines.append(f"warning: {self.warning}")
        return "\n".join([*lines, self.next])


class CloseLinkResult(Result, frozen=True, kw_only=True):
    """The result of `close_link`."""

    link: str
    peer: str
    deliveries: int
    next: str

    def as_text(self) -> str:
        """Return which conversation is over."""
        return f"the conversation with {self.peer} is over after {deliveries(self.deliveries)}. {self.next}"


class ListedSession(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One session in a list."""

    session: str
    title: str
    pane: str
    program: str
    state: str
    advice: str = ""
    """What a person is to do there."""
    agent: str = ""
    you: bool = False
    started_here: bool = False
    link: str = ""
    """The id of your link with it, and what the link still carries."""
    link_state: str = ""
    link_remaining: int | None = None
    in_relay: str = ""

    def as_text(self) -> str:
        """Return it as one line."""
        what = f"{self.agent} ({self.program})" if self.agent and self.agent != self.program else self.program
        words = [f"{self.session}  {self.title}  {what}  {self.state}"]
        if self.pane != self.session:
            words.append(f"in pane {self.pane}")
        if self.advice:
            words.append(f"a person has to: {self.advice}")
        if self.you:
            words.append("this is you")
        if self.link:
            left = "" if self.link_remaining is None else f", {deliveries(self.link_remaining)} left"
            words.append(f"linked with you ({self.link_state}{left})")
        if self.in_relay:
            words.append(f"in relay {self.in_relay}")
        return ", ".join(words)


class SessionList(Result, frozen=True, kw_only=True):
    """The result of `list_sessions`."""

    you: str
    sessions: list[ListedSession]
    next: str = ""

    def as_text(self) -> str:
        """Return one line a session."""
        lines = [peer.as_text() for peer in self.sessions] or ["there are no sessions"]
        return "\n".join([*lines, self.next] if self.next else lines)


class StartSessionResult(Result, frozen=True, kw_only=True):
    """The result of `start_session`."""

    session: ListedSession
    next: str

    def as_text(self) -> str:
        """Return the started session and the next step."""
        return f"started {self.session.as_text()}\n{self.next}"


class EndSessionResult(Result, frozen=True, kw_only=True):
    """The result of `end_session`."""

    session: str

    def as_text(self) -> str:
        """Return the ended session."""
        return f"session {self.session} is ended, and its conversations with it"


class JournalEntry(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One thing that happened; `text` is quoted from the session."""

    seq: int
    at: str
    session: str = ""
    title: str = ""
    what: str
    text: str = ""

    def as_text(self) -> str:
        """Return it as a line, with the quotation under it."""
        who = f"{who_is(self.session, self.title)} " if self.session else ""
        line = f"[{self.seq}] {self.at} {who}{self.what}"
        return f"{line}\n{quoted(self.text)}" if self.text else line


class Read(Result, frozen=True, kw_only=True):
    """The result of `read_since`."""

    entries: list[JournalEntry]
    next_seq: int
    more: bool
    note: str

    def as_text(self) -> str:
        """Return the entries, and where to go on."""
        lines = [self.note, *(entry.as_text() for entry in self.entries)] if self.entries else ["nothing happened"]
        where = "There is more: go on with" if self.more else "Later go on with"
        return "\n".join([*lines, f"{where} read_since(seq={self.next_seq})."])


class FoundUtterance(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One thing that was said."""

    seq: int
    at: str
    session: str
    title: str = ""
    agent: str = ""
    to_agent: bool = False
    """Whether a person or a message said it to the session."""
    text: str
    file: str = ""
    """The agent's own transcript that it is from."""

    def as_text(self) -> str:
        """Return who said it, with the quotation under it."""
        verb = "was told" if self.to_agent else "said"
        if not self.file:
            return f"[{self.seq}] {self.at} {who_is(self.session, self.title)} {verb}\n{quoted(self.text)}"
        return f"{self.at} {self.agent} in its conversation {self.session} {verb} ({self.file})\n{quoted(self.text)}"


class FoundWords(Result, frozen=True, kw_only=True):
    """The result of `search_history`."""

    found: list[FoundUtterance]
    note: str
    left_out: list[str] = []
    next: str

    def as_text(self) -> str:
        """Return the results, best first, and the sources that were not searched."""
        unread = [f"not searched: {one}" for one in self.left_out]
        if not self.found:
            return "\n".join(["nothing of the kind was said", *unread])
        return "\n".join([self.note, *(one.as_text() for one in self.found), *unread, self.next])


class OneDelivery(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """The state of a message to one session."""

    pane: str
    state: str
    reason: str = ""
    removed: dict[str, int] = {}
    file: str = ""


class Deliveries(Result, frozen=True, kw_only=True):
    """The result of `get_delivery` and `cancel_delivery`."""

    message_id: str
    deliveries: list[OneDelivery]
    next: str = ""

    def as_text(self) -> str:
        """Return one line a target."""
        lines = [
            f"message {self.message_id} to {one.pane}: {one.state}{f' ({one.reason})' if one.reason else ''}"
            for one in self.deliveries
        ]
        return "\n".join([*lines, self.next] if self.next else lines)


class WaitingMessage(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One message that is not submitted yet."""

    message_id: str
    session: str
    """The session it goes to."""
    title: str = ""
    state: str
    reason: str = ""
    advice: str = ""
    """What a person is to do there."""
    yours: bool = False

    def as_text(self) -> str:
        """Return it as one line."""
        why = f" ({self.reason})" if self.reason else ""
        words = [f"message {self.message_id} to {who_is(self.session, self.title)}: {self.state}{why}"]
        if self.advice:
            words.append(f"a person has to: {self.advice}")
        if self.yours:
            words.append("yours")
        return ", ".join(words)


class WaitingMessages(Result, frozen=True, kw_only=True):
    """The result of `list_deliveries`."""

    messages: list[WaitingMessage]

    def as_text(self) -> str:
        """Return one line a message."""
        return "\n".join(message.as_text() for message in self.messages) or "no message waits"
