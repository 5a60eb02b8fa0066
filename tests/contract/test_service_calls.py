"""A call of the service is declared once: HTTP, OpenAPI, client and MCP tools agree with `Service`."""

import ast
import inspect
import types
import typing
from pathlib import Path
from typing import Any

import pytest

from streamrelay.daemon.client import DaemonClient
from streamrelay.daemon.operations import OPERATIONS, Nothing, Operation
from streamrelay.service.api import Service
from streamrelay.service.local import LocalService

ROOT = Path(__file__).resolve().parents[2]
CALLS = {name: value for name, value in vars(Service).items() if inspect.iscoroutinefunction(value)}
NAMES = {operation.name: operation for operation in OPERATIONS}


def parameters(call: Any) -> dict[str, Any]:
    """The parameters of a call by name, with their types and without `self`."""
    hints = typing.get_type_hints(call, include_extras=False)
    return {name: hints[name] for name in inspect.signature(call).parameters if name != "self"}


def test_each_call_has_an_operation_and_the_other_way_round() -> None:
    assert CALLS.keys() == NAMES.keys()


@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.name)
def test_an_operation_has_the_arguments_and_the_answer_of_its_call(operation: Operation[Any, Any]) -> None:
    call = CALLS[operation.name]
    given = parameters(call)
    if operation.arguments not in given.values():
        fields = operation.arguments.__struct_fields__ if operation.arguments is not Nothing else ()
        assert sorted(given) == sorted(fields)
    answer = typing.get_type_hints(call)["return"]
    assert answer == (types.NoneType if operation.answer is None else operation.answer)


@pytest.mark.parametrize("name", sorted(CALLS))
def test_the_client_has_each_call_with_the_same_signature(name: str) -> None:
    assert inspect.signature(getattr(DaemonClient, name)) == inspect.signature(CALLS[name])


@pytest.mark.parametrize("implementation", [DaemonClient, LocalService], ids=lambda kind: kind.__name__)
@pytest.mark.parametrize("name", sorted(CALLS))
def test_an_implementation_describes_a_call_as_the_service_does(name: str, implementation: type) -> None:
    summary, described = (inspect.getdoc(vars(kind)[name]) or "" for kind in (Service, implementation))
    assert described.partition("\n")[0] == summary.partition("\n")[0] != ""


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
