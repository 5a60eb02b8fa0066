"""Write the generated files: `python scripts/generate.py`. A test compares each file with what this writes.

| file | made from |
|---|---|
| streamrelay/service/interface.py | the calls declared in streamrelay/service/calls |
| cli/streamrelay_cli/commands.py | the commands declared in cli/streamrelay_cli |
| docs/events.md, the text and the table of each event | the docstrings in streamrelay/events.py |
| docs/daemon.md, the table of calls | the calls declared in streamrelay/service/calls |
| README.md, the measured figures | docs/benchmarks.md, as `streamrelay bench` writes it (readme_figures.py) |
| docs/streamrelay.1 | the help of the commands (man_page.py) |

With `--check` it writes nothing, and fails with the names of the files that are out of date.
"""

import ast
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from generated_pages import calls_table, events_page, with_calls_table
from readme_figures import with_figures
from streamrelay_cli import command_entry

ROOT = Path(__file__).resolve().parents[1]
CALLS = ROOT / "streamrelay" / "service" / "calls"
INTERFACE = ROOT / "streamrelay" / "service" / "interface.py"

COMMANDS = ROOT / "cli" / "streamrelay_cli" / "commands.py"
MAN_PAGE = ROOT / "docs" / "streamrelay.1"
EVENTS = ROOT / "streamrelay" / "events.py"
EVENTS_PAGE = ROOT / "docs" / "events.md"
DAEMON_PAGE = ROOT / "docs" / "daemon.md"
BENCHMARKS = ROOT / "docs" / "benchmarks.md"
README = ROOT / "README.md"

INTERFACE_HEAD = '''\
"""The interface of the service. Generated from streamrelay/service/calls: `python scripts/generate.py`.

`LocalService` carries the calls out in its process; the daemon's client makes them over a socket.
"""
'''
SERVICE_HEAD = '''\
class Service(Protocol):
    """The calls of the service. Each implementation raises the same StreamrelayError, with its code.

    An implementation that inherits from it needs only `call` and the two streams.
    """

    async def call(self, name: str, /, *given: Any) -> Any:
        """Make a call with its arguments, in the order of its parameters."""
        ...

    def events(self, after: int | None = None) -> AsyncIterator[AnyEvent]:
        """Yield every journaled event in order, after a `seq` or from now on; provisional events are not journaled."""
        ...

    def follow_council(self, council: str) -> AsyncGenerator[CouncilEvent]:
        """Yield the state of an open council session, then what happens in it; raises TargetNotFound."""
        ...
'''
SERVICE_IMPORTS = {
    "from collections.abc import AsyncGenerator, AsyncIterator, Mapping",
    "from typing import Any, Protocol",
    "from streamrelay.council.events import CouncilEvent",
    "from streamrelay.events import AnyEvent",
    "from streamrelay.service.call import CallRoute",
}


@dataclass(frozen=True)
class DeclaredCall:
    """A call as its module declares it; read without importing, so that a stale interface cannot stop the script."""

    module: str
    tree: ast.Module
    function: ast.AsyncFunctionDef
    decorator: ast.Call


def declared_calls() -> Iterator[DeclaredCall]:
    """Yield each declared call, by module."""
    for path in sorted(CALLS.glob("*.py")):
        module = ".".join(path.relative_to(ROOT).with_suffix("").parts)
        tree = ast.parse(path.read_text())
        for node in tree.body:
            if isinstance(node, ast.AsyncFunctionDef):
                for decorator in node.decorator_list:
                    if isinstance(decorator, ast.Call) and ast.unparse(decorator.func) == "call":
                        yield DeclaredCall(module, tree, node, decorator)


def interface() -> str:
    """Return the module with `Service`: a method for each call, and the table of routes."""
    imports, methods, routes = set(SERVICE_IMPORTS), [], []
    for call in declared_calls():
        name, arguments, returns = call.function.name, call.function.args, call.function.returns
        doc = ast.get_docstring(call.function)
        if returns is None or not doc:
            raise SystemExit(f"{call.module}.{name}: a call needs the type of its result, and a docstring")
        arguments.args[0] = ast.arg("self")
        given = "".join(f", {parameter.arg}" for parameter in arguments.args[1:])
        answer = ast.unparse(returns)
        request = f'await self.call("{name}"{given})'
        make = request if answer == "None" else f"answer: {answer} = {request}\nreturn answer"
        text = f'"""{doc}\n"""' if "\n" in doc else f'"""{doc}"""'
        signature = f"async def {name}({ast.unparse(arguments)}) -> {answer}:"
        methods.append(_indented(signature + "\n" + _indented(text + "\n" + make)))
        call.decorator.func = ast.Name("CallRoute")
        routes.append(f"{name!r}: {ast.unparse(call.decorator)},")
        imports |= set(_imports(call, [arguments, returns, call.decorator]))
    table = "ROUTES: Mapping[str, CallRoute] = {" + "\n".join(routes) + "}\n" + '"""How each call is made."""'
    parts = [INTERFACE_HEAD, "\n".join(sorted(imports)), SERVICE_HEAD + "\n" + "\n\n".join(methods), table]
    return _formatted("\n\n".join(parts) + "\n", INTERFACE)


def _imports(call: DeclaredCall, used: list[ast.AST]) -> Iterator[str]:
    """Yield the imports of the names in a signature: as the module of the call has them, or from that module."""
    names = {node.id for part in used for node in ast.walk(part) if isinstance(node, ast.Name)}
    for node in call.tree.body:
        match node:
            case ast.ImportFrom():
                yield from (f"from {node.module} import {alias.name}" for alias in node.names if alias.name in names)
            case ast.Import():
                yield from (f"import {alias.name}" for alias in node.names if alias.name in names)
            case ast.ClassDef() if node.name in names:
                yield f"from {call.module} import {node.name}"
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)) if name in names:
                yield f"from {call.module} import {name}"


COMMANDS_HEAD = '''\
"""The table of all commands. Generated from the modules of the commands: `python scripts/generate.py`.

Help, completion and suggestions read this table alone, so they load no command module. A command's module loads when
the command runs, or when its own help is asked for (`command_group.py`).
"""

from collections.abc import Mapping

from streamrelay_cli.command_entry import CommandEntry

'''


@dataclass(frozen=True)
class DeclaredCommand:
    """A command or a group as its module declares it."""

    words: tuple[str, ...]
    target: str
    help: str
    panel: str
    place: int
    hidden: bool


def declared_commands() -> Iterator[DeclaredCommand]:
    """Yield what each module of the command line declares."""
    for path in sorted(COMMANDS.parent.glob("*.py")):
        for node in ast.parse(path.read_text()).body:
            match node:
                case ast.FunctionDef(decorator_list=decorators):
                    text = (ast.get_docstring(node) or "").partition("\n\n")[0]
                    for decorator in decorators:
                        if isinstance(decorator, ast.Call) and ast.unparse(decorator.func) == "command":
                            yield _command(decorator, f"{path.stem}:{node.name}", " ".join(text.split()))
                case ast.Expr(value=ast.Call(func=ast.Name("group"), args=[_, text]) as declaration):
                    yield _command(declaration, "", str(ast.literal_eval(text)))


def _command(declaration: ast.Call, target: str, text: str) -> DeclaredCommand:
    given = {keyword.arg: keyword.value for keyword in declaration.keywords}
    panel = getattr(command_entry, ast.unparse(given["panel"])) if "panel" in given else ""
    place = ast.literal_eval(given["place"]) if "place" in given else command_entry.LAST
    words = tuple(str(ast.literal_eval(declaration.args[0])).split())
    if not text or (len(words) == 1) != bool(panel):
        raise SystemExit(f"{' '.join(words)}: a command needs a docstring, and a panel if it belongs to no group")
    return DeclaredCommand(words, target, text, panel, place, "hidden" in given)


def commands() -> str:
    """Return the module with the table of commands."""
    found = {command.words: command for command in declared_commands()}
    return _formatted(f"{COMMANDS_HEAD}COMMANDS: Mapping[str, CommandEntry] = {_table(found, ())}\n", COMMANDS)


def _table(found: Mapping[tuple[str, ...], DeclaredCommand], group: tuple[str, ...]) -> str:
    inside = [command for words, command in found.items() if words[:-1] == group]
    panels = ["", *command_entry.PANELS]
    inside.sort(key=lambda command: (panels.index(command.panel), command.place, command.words))
    entries = []
    for command in inside:
        more = f", {command.panel!r}" if command.panel else ""
        more += ", hidden=True" if command.hidden else ""
        more += f", commands={within}" if (within := _table(found, command.words)) != "{}" else ""
        entries.append(f"{command.words[-1]!r}: CommandEntry({command.target!r}, {command.help!r}{more})")
    return "{" + ", ".join(entries) + "}"


def man_page() -> str:
    """Return the manual page; it shows the commands as `commands.py` on the disk has them."""
    script = [sys.executable, str(ROOT / "scripts" / "man_page.py")]
    return subprocess.run(script, capture_output=True, text=True, check=True, cwd=ROOT).stdout


def events_document() -> str:
    """Return the page of the events, with their texts and tables as the source declares them."""
    return events_page(EVENTS.read_text(), EVENTS_PAGE.read_text())


def daemon_document() -> str:
    """Return the page of the daemon, with the table of the declared calls."""
    calls = []
    for call in declared_calls():
        method, path = (str(ast.literal_eval(argument)) for argument in call.decorator.args)
        calls.append((method, path, call.function.name, ast.get_docstring(call.function) or ""))
    return with_calls_table(DAEMON_PAGE.read_text(), calls_table(calls))


def readme() -> str:
    """Return the README, with the figures that the page of the benchmarks has now."""
    return with_figures(README.read_text(), BENCHMARKS.read_text())


def _indented(text: str) -> str:
    return "\n".join(f"    {line}" if line else "" for line in text.split("\n"))


def _formatted(text: str, path: Path) -> str:
    for command in (["check", "--quiet", "--fix-only", "--select", "I"], ["format", "--quiet"]):
        text = subprocess.run(
            [sys.executable, "-m", "ruff", *command, "--stdin-filename", str(path), "-"],
            input=text, capture_output=True, text=True, check=True, cwd=ROOT,
        ).stdout  # fmt: skip
    return text


GENERATED: Mapping[Path, Callable[[], str]] = {
    INTERFACE: interface,
    COMMANDS: commands,
    EVENTS_PAGE: events_document,
    DAEMON_PAGE: daemon_document,
    README: readme,
    MAN_PAGE: man_page,
}
"""The function that makes each file. The manual page comes last, because it is made of the commands."""


def main() -> int:
    """Write the files, or with `--check` name those that are out of date."""
    checking = "--check" in sys.argv[1:]
    old = []
    for path, write in GENERATED.items():
        text = write()
        if not path.exists() or path.read_text() != text:
            old.append(path)
            if not checking:
                path.write_text(text)
    for path in old:
        print(f"{'out of date' if checking else 'written'}: {path.relative_to(ROOT)}")
    return 1 if checking and old else 0


if __name__ == "__main__":
    sys.exit(main())
