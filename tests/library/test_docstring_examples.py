"""Each public method of the library has an example in its docstring, and each example runs against a real tmux."""

import ast
import asyncio
import contextlib
import inspect
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import streamrelay
import streamrelay.blocking
from streamrelay.blocking import BlockingMessage, BlockingPane, BlockingServer, BlockingStream
from streamrelay.libtmux import ControlServer
from streamrelay.testing.tmux import PrivateTmux

pytestmark = [pytest.mark.requirement("OPS-10a"), pytest.mark.requirement("OPS-10b")]

CLASSES = [
    streamrelay.Server, streamrelay.Pane, streamrelay.Stream, streamrelay.Message,
    BlockingServer, BlockingPane, BlockingStream, BlockingMessage, ControlServer,
]  # fmt: skip
USED_BY_THE_LIBRARY_ITSELF = {"Message.follow", "Message.hear", "Server.keep"}
PROGRAM = "import sys\nprint('ready')\nfor line in sys.stdin: print('you said', line.strip(), flush=True)"
TALKER = "import time\nwhile True: print('tick', flush=True); time.sleep(0.05)"


def methods() -> Iterator[tuple[str, str]]:
    """Each public method with its docstring."""
    for each in CLASSES:
        for name, value in vars(each).items():
            if not name.startswith("_") and (callable(value) or isinstance(value, property)):
                yield f"{each.__name__}.{name}", inspect.getdoc(value) or ""
    for connect in (streamrelay.connect, streamrelay.blocking.connect):
        yield f"{connect.__module__}.connect", inspect.getdoc(connect) or ""


def example(docstring: str) -> str:
    """The example of a docstring: a paragraph that is indented, or that is code where the rest is prose."""
    for paragraph in docstring.split("\n\n")[1:]:
        code = textwrap.dedent(paragraph)
        try:
            tree = ast.parse(code, mode="exec")
        except SyntaxError:
            continue
        if paragraph != code or any(isinstance(node, ast.Call | ast.Assign) for node in ast.walk(tree)):
            return code
    return ""


EXAMPLES = {name: example(docstring) for name, docstring in methods() if name not in USED_BY_THE_LIBRARY_ITSELF}


def test_each_public_method_has_an_example() -> None:
    assert len(EXAMPLES) > 25
    assert [name for name, code in EXAMPLES.items() if not code] == []


class _Bounded(ast.NodeTransformer):
    """Ends each endless loop of an example after its first event."""

    def visit_For(self, node: ast.For) -> ast.For:
        node.body.append(ast.Break())
        return node

    def visit_AsyncFor(self, node: ast.AsyncFor) -> ast.AsyncFor:
        node.body.append(ast.Break())
        return node


def compiled(code: str, kind: str) -> Any:
    """A function of the example's names; asynchronous for the asynchronous classes."""
    body = ast.fix_missing_locations(_Bounded().visit(ast.parse(code)))
    keyword = "async def" if kind == "async" else "def"
    function = ast.parse(f"{keyword} run(server, pane, stream, message): pass")
    assert isinstance(function.body[0], ast.AsyncFunctionDef | ast.FunctionDef)
    function.body[0].body = body.body
    names: dict[str, Any] = {"streamrelay": streamrelay, "Path": Path}
    exec(compile(ast.fix_missing_locations(function), "<example>", "exec"), names)  # noqa: S102  # our own docstrings
    return names["run"]


@pytest.fixture
def work(private_tmux: PrivateTmux, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> PrivateTmux:
    """A session `work` with a program that talks in pane 0 and one that answers in pane 1; the default server."""
    private_tmux.new_session("work", [sys.executable, "-uc", TALKER])
    private_tmux.run("split-window", "-t", "work", sys.executable, "-uc", PROGRAM)
    monkeypatch.setenv("TMUX", f"{private_tmux.socket_path},1,0")
    monkeypatch.chdir(tmp_path)
    return private_tmux


def code_of(*names: str) -> dict[str, str]:
    """The examples of some classes, with the server that the test has in place of `work`'s socket name."""
    of = {name: code for name, code in EXAMPLES.items() if name.rpartition(".")[0] in names}
    talking = {name: code.replace("work:0.1", "work:0.0") for name, code in of.items() if "event" in code}
    return {name: code.replace('socket_name="work"', "") for name, code in {**of, **talking}.items()}


def needs_stream(code: str) -> bool:
    """Whether an example uses a stream that it does not open."""
    return "stream" in code and "as stream" not in code and "record(" not in code


async def test_the_examples_run(work: PrivateTmux) -> None:
    async with streamrelay.connect() as server:
        answering, talking = await server.pane("work:0.1"), await server.pane("work:0.0")
        message = await answering.send("hello")
        assert await message.answer() == "you said hello"
        for code in code_of("streamrelay", "Server", "Pane", "Stream", "Message").values():
            pane = talking if "pane.watch" in code else answering
            async with contextlib.AsyncExitStack() as stack, asyncio.timeout(60):
                stream = await stack.enter_async_context(talking.watch()) if needs_stream(code) else None
                await compiled(code, "async")(server, pane, stream, message)
    assert Path("session.jsonl.gz").exists()


def test_the_examples_without_asyncio_run(work: PrivateTmux) -> None:
    with streamrelay.blocking.connect() as server:
        answering, talking = server.pane("work:0.1"), server.pane("work:0.0")
        message = answering.send("hello")
        assert message.answer(timeout=60) == "you said hello"
        names = ("streamrelay.blocking", "BlockingServer", "BlockingPane", "BlockingStream", "BlockingMessage")
        for code in code_of(*names).values():
            pane = talking if "pane.watch" in code else answering
            with contextlib.ExitStack() as stack:
                stream = stack.enter_context(talking.watch()) if needs_stream(code) else None
                compiled(code, "plain")(server, pane, stream, message)
    assert Path("session.jsonl.gz").exists()


def test_the_examples_with_libtmux_run(work: PrivateTmux) -> None:
    server = ControlServer(socket_path=work.socket_path)
    for code in code_of("ControlServer").values():
        compiled(code.replace("%3", "%0"), "plain")(server, None, None, None)
    server.close()
