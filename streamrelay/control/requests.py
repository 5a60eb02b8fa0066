"""The request queue of a control client: assigns replies to the commands that the client has written.

The number of reply blocks of a line is unknown beforehand (measured, tmux 3.3a). An error in `a ; b ; c` drops `c`.
`if-shell` gives a block of its own and one for each command in it, and an error inside drops nothing outside. A line
that does not parse gives one block, a comment none. So the client writes every line with two marks around its end. Each
mark is a command that prints a word that no other program can know:

    LINE ; display-message -p MARK.last
    display-message -p MARK.end

tmux runs the commands of one line without a break, so nothing can come between the last block of LINE and `MARK.last`.
That is the exact place in the stream where LINE is answered. If an error dropped the rest of the line, or a comment hid
it, `MARK.end` from the second line answers instead. The blocks of LINE are those before the first mark.

tmux runs the lines of one client strictly in order. A request that timed out keeps its place, so that later answers
still match their requests. The queue ignores blocks of other commands (the attach, hooks) and blocks without a pending
request (commands that run in the background).
"""

from collections import deque
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Self

from streamrelay import errors
from streamrelay.control.protocol import Reply
from streamrelay.control.quoting import check_line

SERVER_ENDED = ("lost server", "server exited")
"""How the words of `%exit` begin if the server has ended (tmux 3.3a client.c, client_exit_message)."""


@dataclass(frozen=True, slots=True)
class CommandResult:
    """The result of one line: its blocks in order, and the first error, if any.

    `error` is errors.CommandFailed with tmux's own words, or the error of `lost` if no answer can come any more.
    """

    line: str
    blocks: tuple[Reply, ...]
    error: errors.TmuxError | None = None

    @property
    def lines(self) -> tuple[bytes, ...]:
        """All printed lines, of all blocks."""
        return tuple(line for block in self.blocks for line in block.lines)

    @property
    def text(self) -> str:
        """All printed lines as text; bytes that are not UTF-8 become U+FFFD."""
        return b"\n".join(self.lines).decode("utf-8", "replace")

    def unwrap(self) -> Self:
        """Return this result, or raise its error."""
        if self.error is not None:
            raise self.error
        return self


OnReply = Callable[[CommandResult], None]


@dataclass(slots=True)
class _Request:
    line: str
    last: bytes
    end: bytes
    size: int
    on_reply: OnReply | None
    blocks: list[Reply] = field(default_factory=list)

    def answer(self, error: errors.TmuxError | None = None) -> None:
        on_reply, self.on_reply = self.on_reply, None
        if on_reply is None:
            return
        refused = next((block for block in self.blocks if not block.ok), None)
        if error is None and refused is not None:
            error = errors.CommandFailed(refused.text, data={"line": self.line})
        on_reply(CommandResult(self.line, tuple(self.blocks), error))


class RequestQueue:
    """The unanswered commands of one control client, in the order in which tmux answers them.

    It holds at most `limit` commands and `limit_bytes` bytes; a single command may be larger.
    """

    def __init__(self, nonce: str, *, limit: int = 4096, limit_bytes: int = 16 << 20) -> None:
        self._nonce = nonce
        self._limit = limit
        self._limit_bytes = limit_bytes
        self._waiting: deque[_Request] = deque()
        self._bytes = 0
        self._count = 0

    def __len__(self) -> int:
        return len(self._waiting)

    @property
    def full(self) -> bool:
        """Whether the next command has to wait for an answer to an earlier one."""
        return len(self._waiting) >= self._limit or self._bytes >= self._limit_bytes

    def submit(self, line: str, on_reply: OnReply) -> bytes:
        """Enqueue a line; return the bytes to write for it.

        Raises errors.BadCommand unless it is one line, and errors.CommandTimeout if too many commands wait already.
        """
        command = check_line(line)
        if self.full:
            waiting = len(self._waiting)
            raise errors.CommandTimeout(f"{waiting} commands already wait for an answer", data={"waiting": waiting})
        mark = f"{self._nonce}.{self._count}".encode()
        self._count += 1
        last, end = mark + b".last", mark + b".end"
        self._waiting.append(_Request(line, last, end, len(command), on_reply))
        self._bytes += len(command)
        return b"%b ; display-message -p %b\ndisplay-message -p %b\n" % (command, last, end)

    def claims(self, reply: Reply) -> bool:
        """Whether a reply belongs to a command of this queue."""
        return reply.asked and bool(self._waiting)

    def receive(self, reply: Reply) -> None:
        """Take a reply that `claims` accepted; call back if it completes a command."""
        request = self._waiting[0]
        word = reply.lines[0] if len(reply.lines) == 1 else b""
        if word == request.end:
            self._waiting.popleft()
            self._bytes -= request.size
            request.answer()
        elif word == request.last:
            request.answer()
        elif request.on_reply is not None:
            request.blocks.append(reply)

    def fail(self, words: str | None) -> None:
        """Fail the pending commands as `lost`; `words` say why. Every callback runs even if one raises."""
        with ExitStack() as stack:
            for request in reversed(self._waiting):
                stack.callback(request.answer, lost(words))
            self._waiting.clear()
            self._bytes = 0


def lost(words: str | None) -> errors.ServerLost:
    """Return the error for a command without an answer; `words` are those of `%exit`, None without an `%exit`.

    It is ConnectionLost unless the words name the server.
    """
    why = "its client died" if words is None else words or "no reason given"
    kind = errors.ServerLost if why.startswith(SERVER_ENDED) else errors.ConnectionLost
    return kind(f"the connection to tmux ended: {why}", data={"reason": words})
