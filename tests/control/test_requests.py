"""The queue of commands against replies written out, as tmux 3.3a was measured to give them."""

import re

import pytest

from streamrelay.control.protocol import Reply
from streamrelay.control.requests import CommandResult, RequestQueue
from streamrelay.errors import BadCommand, CommandFailed, CommandTimeout, ServerLost

NUMBERS = iter(range(1, 10_000))


def block(*lines: bytes, ok: bool = True, flags: int = 1) -> Reply:
    return Reply(1_700_000_000, next(NUMBERS), flags, ok, lines)


class Server:
    """Answers the lines a queue wrote with the blocks it is told, and the marks as tmux would."""

    def __init__(self, queue: RequestQueue) -> None:
        self.queue = queue
        self.results: list[CommandResult] = []
        self.marks: list[tuple[bytes, bytes]] = []

    def ask(self, line: str) -> None:
        written = self.queue.submit(line, self.results.append)
        shape = re.escape(line.encode()) + rb" ; display-message -p (\S+)\ndisplay-message -p (\S+)\n"
        match = re.fullmatch(shape, written)
        assert match
        self.marks.append((match[1], match[2]))

    def answer(self, *blocks: Reply, dropped: bool = False) -> None:
        last, end = self.marks.pop(0)
        for reply in (*blocks, *(() if dropped else (block(last),)), block(end)):
            assert self.queue.claims(reply)
            self.queue.receive(reply)


@pytest.fixture
def server() -> Server:
    return Server(RequestQueue("nonce"))


def test_the_blocks_before_the_mark_are_the_answer(server: Server) -> None:
    server.ask("a ; b")
    one, two = block(b"1", b"2"), block()
    server.answer(one, two)
    assert server.results == [CommandResult("a ; b", (one, two), None)]
    assert server.results[0].lines == (b"1", b"2")
    assert server.results[0].unwrap() is server.results[0]
    assert len(server.queue) == 0


def test_the_answer_comes_at_the_mark_on_its_own_line_of_commands(server: Server) -> None:
    server.ask("a")
    server.queue.receive(block(b"1"))
    assert not server.results
    server.queue.receive(block(server.marks[0][0]))
    assert len(server.results) == 1
    assert len(server.queue) == 1, "its second mark is still to come"
    server.queue.receive(block(server.marks[0][1]))
    assert len(server.results) == 1
    assert len(server.queue) == 0


@pytest.mark.requirement("ENG-04c")
def test_an_error_that_drops_the_rest_of_the_line_is_answered_at_the_second_mark(server: Server) -> None:
    server.ask("a ; b ; c")
    blocks = block(b"fine"), block(b"can't find pane: %9", ok=False)
    server.answer(*blocks, dropped=True)
    result = server.results[0]
    assert result.blocks == blocks
    assert isinstance(result.error, CommandFailed)
    with pytest.raises(CommandFailed, match="can't find pane: %9"):
        result.unwrap()


def test_an_error_inside_a_condition_is_an_error_and_the_rest_is_answered(server: Server) -> None:
    server.ask("if-shell -F 1 { x } ; c")
    server.answer(block(), block(b"unknown command: x", ok=False), block(b"c"))
    assert len(server.results[0].blocks) == 3
    assert str(server.results[0].error) == "unknown command: x"


def test_a_comment_has_an_empty_answer(server: Server) -> None:
    server.ask("# nothing")
    server.answer(dropped=True)
    assert server.results == [CommandResult("# nothing", (), None)]


def test_answers_are_first_in_first_out(server: Server) -> None:
    for name in "abc":
        server.ask(name)
    for name in "abc":
        server.answer(block(name.encode()))
    assert [(result.line, result.text) for result in server.results] == [("a", "a"), ("b", "b"), ("c", "c")]


def test_what_a_pane_shows_cannot_pass_for_a_mark(server: Server) -> None:
    server.ask("capture-pane -p")
    (last, end) = server.marks[0]
    shown = block(last, b""), block(b" " + end), block(last + b"x")
    server.answer(*shown)
    assert server.results[0].blocks == shown


def test_hooks_and_what_nobody_asked_for_belong_to_nobody(server: Server) -> None:
    assert not server.queue.claims(block(b"late"))
    server.ask("a")
    assert not server.queue.claims(block(b"hook", flags=0))
    server.answer(block(b"a"))
    assert server.results[0].text == "a"


def test_the_end_of_the_connection_answers_everybody_whoever_raises() -> None:
    queue = RequestQueue("nonce")
    told: list[CommandResult] = []

    def raising(result: CommandResult) -> None:
        told.append(result)
        raise RuntimeError(result.line)

    queue.submit("a", told.append)
    queue.submit("b", raising)
    queue.submit("c", told.append)
    with pytest.raises(RuntimeError, match="b"):
        queue.fail("server exited unexpectedly")
    assert [result.line for result in told] == ["a", "b", "c"]
    error = told[2].error
    assert isinstance(error, ServerLost)
    assert error.data["reason"] == "server exited unexpectedly"
    assert len(queue) == 0


def test_an_answered_command_is_not_answered_again_when_the_connection_ends(server: Server) -> None:
    server.ask("a")
    server.queue.receive(block(server.marks[0][0]))
    server.queue.fail(None)
    assert len(server.results) == 1
    assert server.results[0].error is None


def test_how_much_may_wait_is_bounded_by_number_and_size() -> None:
    few = RequestQueue("nonce", limit=2)
    few.submit("a", lambda _: None)
    assert not few.full
    few.submit("b", lambda _: None)
    assert few.full
    with pytest.raises(CommandTimeout):
        few.submit("c", lambda _: None)
    small = RequestQueue("nonce", limit_bytes=10)
    small.submit("x" * 100, lambda _: None)
    assert small.full
    with pytest.raises(CommandTimeout):
        small.submit("c", lambda _: None)


def test_room_comes_back_with_the_answer(server: Server) -> None:
    server.queue = RequestQueue("nonce", limit=1, limit_bytes=1)
    server.ask("a")
    assert server.queue.full
    server.answer()
    assert not server.queue.full
    server.ask("b")


@pytest.mark.parametrize("line", ["", "a\nkill-server", "a ;"])
def test_what_is_not_one_line_is_refused_and_leaves_no_trace(line: str) -> None:
    queue = RequestQueue("nonce")
    with pytest.raises(BadCommand):
        queue.submit(line, lambda _: None)
    assert len(queue) == 0
