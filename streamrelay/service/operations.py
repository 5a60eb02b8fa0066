"""The calls of the service as operations, from which HTTP routes, OpenAPI document, client and tools derive.

An operation derives from the method of `Service` with the same name and from its route. Its arguments are one struct:
the only parameter if that is a struct, otherwise a struct with a field for each parameter. Names in braces in the path
are fields of the struct. GET and DELETE read the other fields from the query, POST from a JSON object.
"""

import inspect
import re
import types
import typing
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from streamrelay.service.call import CallRoute, Method
from streamrelay.service.interface import ROUTES, Service

API = "/v1"


@dataclass(frozen=True)
class Operation:
    """One call of the service, as it crosses a socket."""

    name: str
    method: Method
    path: str
    arguments: type[msgspec.Struct]
    answer: Any
    """The type of the answer; None for an empty one."""
    call: Callable[[Any, Any], Awaitable[Any]]
    """Takes a service and the arguments, and makes the call."""
    summary: str = ""
    """What it does: the docstring of the method."""
    waits: str = ""
    """The argument that holds the seconds by which the answer may take longer."""
    in_path: frozenset[str] = field(init=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "in_path", frozenset(re.findall(r"\{(\w+)\}", self.path)))

    def arguments_of(self, given: Sequence[Any]) -> msgspec.Struct:
        """Return the struct for the arguments of the method, in the order of its parameters."""
        if len(given) == 1 and isinstance(given[0], self.arguments):
            return given[0]
        return self.arguments(**dict(zip(self.arguments.__struct_fields__, given, strict=True)))

    def seconds_more(self, arguments: msgspec.Struct) -> float:
        """Return the seconds by which the answer to these arguments may take longer than others."""
        return float(getattr(arguments, self.waits) or 0.0) if self.waits else 0.0


def operations() -> tuple[Operation, ...]:
    """Return the operations of all calls by path, in an order in which each can be a route.

    An id at the end of a path may contain slashes, so that path also matches longer ones and comes after them.
    """

    def place(name: str) -> tuple[bool, str, str]:
        route = ROUTES[name]
        return route.path.endswith("}"), route.path, route.method

    return tuple(operation(name) for name in sorted(ROUTES, key=place))


def operation(name: str) -> Operation:
    """Return the operation of a call."""
    return _operation(name, getattr(Service, name), ROUTES[name])


def _operation(name: str, method: Callable[..., Any], route: CallRoute) -> Operation:
    hints = typing.get_type_hints(method, include_extras=True)
    parameters = [parameter for parameter in inspect.signature(method).parameters.values() if parameter.name != "self"]
    answer = hints["return"]
    request = hints[parameters[0].name] if len(parameters) == 1 else None
    if isinstance(request, type) and issubclass(request, msgspec.Struct):
        kind, takes_struct = request, True
    else:
        kind, takes_struct = _struct(name, parameters, hints), False

    async def make(service: Service, arguments: msgspec.Struct) -> Any:
        given = [arguments] if takes_struct else [getattr(arguments, parameter.name) for parameter in parameters]
        return await getattr(service, name)(*given)

    return Operation(
        name=name,
        method=route.method,
        path=f"{API}{route.path}",
        arguments=kind,
        answer=None if answer is types.NoneType else answer,
        call=make,
        summary=inspect.getdoc(method) or "",
        waits=route.waits,
    )


def _struct(name: str, parameters: Sequence[inspect.Parameter], hints: dict[str, Any]) -> type[msgspec.Struct]:
    fields = []
    for parameter in parameters:
        default = msgspec.NODEFAULT if parameter.default is parameter.empty else parameter.default
        fields.append((parameter.name, hints[parameter.name], default))
    title = "".join(word.capitalize() for word in name.split("_"))
    return msgspec.defstruct(f"{title}Call", fields, frozen=True, kw_only=True, module=__name__)
