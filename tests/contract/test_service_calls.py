"""A call of the service is declared once: interface, HTTP, client and tools for agents derive from the declaration."""

import ast
import inspect
import subprocess
import sys
import typing
from pathlib import Path

import pytest

from streamrelay.daemon.client import DaemonClient
from streamrelay.service.call import declared_calls
from streamrelay.service.interface import ROUTES, Service
from streamrelay.service.local import LocalService
from streamrelay.service.operations import operations

ROOT = Path(__file__).resolve().parents[2]
STREAMS = {"events", "follow_council"}
CALLS = {name: value for name, value in vars(Service).items() if inspect.iscoroutinefunction(value)}
del CALLS["call"]


def test_the_generated_files_are_what_the_script_writes() -> None:
    done = subprocess.run(
        [sys.executable, ROOT / "scripts" / "generate.py", "--check"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"{done.stderr}run: python scripts/generate.py"


def test_each_declared_call_is_a_method_a_route_and_an_operation() -> None:
    declared = declared_calls()
    assert CALLS.keys() == ROUTES.keys() == declared.keys() == {operation.name for operation in operations()}
    assert {name: declaration.route for name, declaration in declared.items()} == ROUTES


@pytest.mark.parametrize("name", sorted(CALLS))
def test_a_method_has_the_parameters_the_result_and_the_description_of_its_declaration(name: str) -> None:
    run = declared_calls()[name].run
    declared, method = inspect.signature(run), inspect.signature(CALLS[name])
    assert [*declared.parameters.values()][1:] == [*method.parameters.values()][1:]
    assert declared.return_annotation == method.return_annotation
    assert inspect.getdoc(run) == inspect.getdoc(CALLS[name])


@pytest.mark.parametrize("operation", operations(), ids=lambda operation: operation.name)
def test_an_operation_takes_its_path_and_its_wait_from_its_arguments(operation: typing.Any) -> None:
    names = {*operation.arguments.__struct_fields__}
    assert operation.in_path <= names
    assert operation.waits in {"", *names}


@pytest.mark.parametrize("implementation", [DaemonClient, LocalService], ids=lambda kind: kind.__name__)
def test_an_implementation_inherits_every_call(implementation: type) -> None:
    assert not CALLS.keys() & vars(implementation).keys()
    assert vars(implementation).keys() >= STREAMS


def test_tools_for_agents_make_calls_of_the_service_only() -> None:
    made = {
        node.func.attr
        for path in (ROOT / "streamrelay" / "mcp").glob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id == "service"
    }
    assert len(made) > 10
    assert made <= CALLS.keys()
