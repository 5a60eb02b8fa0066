"""Derives tools from calls of the service: a call whose declaration has `tool` is a tool without further code.

A tool has the name, description and arguments of its call, except that the server fills in the caller. The result
holds the call's answer. Its texts come from other programs, so each is sanitised, and quoted in the text form.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import msgspec

from streamrelay.delivery.sanitise import sanitised
from streamrelay.mcp.arguments import Arguments
from streamrelay.mcp.results import Result, quoted
from streamrelay.mcp.tool import Tool
from streamrelay.service.call import CallRoute, ToolHints
from streamrelay.service.interface import ROUTES, Service
from streamrelay.service.operations import Operation, operation

CALLER = ("caller", "unknown_agent")
"""The arguments of a call that say which agent makes it."""


class DerivedResult(Result, frozen=True, kw_only=True):
    """The answer of a call."""

    answer: Any = None

    def as_text(self) -> str:
        """Return the answer as quoted JSON."""
        return quoted(msgspec.json.format(msgspec.json.encode(self.answer), indent=1).decode())


def derived_tools(routes: Mapping[str, CallRoute] = ROUTES) -> Sequence[Tool]:
    """Return a tool for each call that declares one."""
    return [_tool(operation(name), route.tool) for name, route in routes.items() if route.tool is not None]


def _tool(made: Operation, hints: ToolHints) -> Tool:
    title = "".join(word.capitalize() for word in made.name.split("_"))
    fields = msgspec.structs.fields(made.arguments)
    takes: Any = msgspec.defstruct(
        f"{title}Arguments",
        [_field(field) for field in fields if field.name not in CALLER],
        bases=(Arguments,),
        frozen=True,
        kw_only=True,
    )
    gives: Any = msgspec.defstruct(f"{title}Result", [("answer", made.answer)], bases=(DerivedResult,), kw_only=True)

    async def run(service: Service, caller: str, asked: Arguments) -> Result:
        given = msgspec.structs.asdict(asked)
        names = {field.name for field in fields}
        given |= {name: value for name, value in zip(CALLER, (caller, not caller), strict=True) if name in names}
        answer = msgspec.to_builtins(await made.call(service, made.arguments(**given)))
        result: Result = gives(answer=_sanitised(answer))
        return result

    return Tool(
        made.name,
        hints.title,
        made.summary,
        takes,
        gives,
        run,
        only_reads=hints.only_reads,
        destroys=hints.destroys,
    )


def _field(field: msgspec.structs.FieldInfo) -> tuple[str, Any, Any]:
    if field.default_factory is not msgspec.NODEFAULT:
        return field.name, field.type, msgspec.field(default_factory=field.default_factory)
    return field.name, field.type, field.default


def _sanitised(value: Any) -> Any:
    """Return an answer whose texts have no control characters."""
    if isinstance(value, str):
        return sanitised(value)
    if isinstance(value, list | tuple):
        return [_sanitised(one) for one in value]
    if isinstance(value, dict):
        return {sanitised(name): _sanitised(one) for name, one in value.items()}
    return value
