"""The MCP server with the tools. All transports use it; they differ only in how they find the caller.

No error leaves it as a traceback. For a refused call or invalid arguments, the caller gets a result marked as error,
with code, message and hint, to correct its call. An unknown tool is an error of the protocol. A defect is logged here;
its message does not reach the caller.
"""

import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import mcp.types as wire
import msgspec
from mcp.server import Server, ServerRequestContext
from mcp.shared.exceptions import MCPError

from streamrelay.errors import DaemonLost, DaemonMissing, StreamrelayError, TargetNotFound, UsageError
from streamrelay.mcp import descriptions, manual
from streamrelay.mcp.arguments import Arguments
from streamrelay.mcp.tool import Tool
from streamrelay.mcp.tools import TOOLS
from streamrelay.service.encoding import check_encodes
from streamrelay.service.interface import Service

FindCaller = Callable[[ServerRequestContext[Any, Any]], Awaitable[str]]
"""Returns the session id of a request's caller, or an empty string."""

Revive = Callable[[], Awaitable[None]]
"""Starts a process that serves the service again, or raises why it cannot."""

_ALWAYS_SHOWN = {"anthropic/alwaysLoad": True}
"""Makes Claude Code load a tool at once; it shows an agent other tools only after a search."""
_log = logging.getLogger(__name__)


def build_server(
    service: Service, find_caller: FindCaller, *, revive: Revive | None = None, version: str = ""
) -> Server[Any]:
    """Return an MCP server for a service; it calls `revive` when no process serves the service."""
    tools = {tool.name: tool for tool in TOOLS}

    async def caller(context: ServerRequestContext[Any, Any]) -> str:
        # This call reads only, so it can be repeated. The tool itself runs once, and its failure is reported.
        try:
            return await find_caller(context)
        except (DaemonMissing, DaemonLost):
            if revive is None:
                raise
        await revive()
        return await find_caller(context)

    async def list_tools(_: ServerRequestContext[Any, Any], __: object) -> wire.ListToolsResult:
        return wire.ListToolsResult(tools=[_described(tool) for tool in TOOLS])

    async def call_tool(
        context: ServerRequestContext[Any, Any], params: wire.CallToolRequestParams
    ) -> wire.CallToolResult:
        tool = tools.get(params.name)
        if tool is None:
            raise MCPError(wire.INVALID_PARAMS, f"unknown tool: {params.name[:100]!r}", {"tools": list(tools)})
        try:
            asked = read_arguments(tool.takes, params.arguments or {})
            return _answer(await tool.run(service, await caller(context), asked))
        except StreamrelayError as error:
            return _refusal(error)
        except Exception as error:  # noqa: BLE001  # whatever it was, an agent gets an answer
            # The message of an unexpected error may contain anything, including a session's output.
            _log.error("the tool %s failed: %s", tool.name, type(error).__name__)
            _log.debug("the tool %s failed", tool.name, exc_info=error)
            return _refusal(StreamrelayError("streamrelay failed at this call", hint="its log says more"))

    return Server(
        "streamrelay",
        title="streamrelay",
        version=version,
        instructions=descriptions.INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_resources=manual.list_resources,
        on_read_resource=manual.read_resource,
        on_list_prompts=manual.list_prompts,
        on_get_prompt=manual.get_prompt,
    )


def read_arguments(kind: type[Arguments], given: Mapping[str, object]) -> Arguments:
    """Return arguments as their struct; raises UsageError that names the invalid argument."""
    check_encodes(given)
    try:
        return msgspec.convert(dict(given), kind, strict=False)
    except msgspec.ValidationError as error:
        problem = str(error).replace(" - at `$.", ", in `")
        fields = msgspec.structs.fields(kind)
        words = [f"{field.encode_name}{' (needed)' if field.required else ''}" for field in fields]
        takes = ", ".join(words) or "none"
        raise UsageError(problem, hint=f"the arguments are: {takes}") from error


def schema(kind: type[msgspec.Struct]) -> dict[str, Any]:
    """Return the JSON schema of a struct with the struct itself at its root, as the protocol requires.

    References are replaced by their content, because not every agent resolves references.
    """
    made = msgspec.json.schema(kind)
    definitions: dict[str, Any] = made["$defs"]
    root: dict[str, Any] = _in_place({"$ref": made["$ref"]}, definitions)
    for name in ("title", "description"):
        root.pop(name, None)
    return root


def _in_place(value: Any, definitions: dict[str, Any]) -> Any:
    if isinstance(value, list):
        return [_in_place(one, definitions) for one in value]
    if not isinstance(value, dict):
        return value
    if isinstance(reference := value.get("$ref"), str):
        return _in_place(definitions[reference.rpartition("/")[2]], definitions)
    return {name: _in_place(one, definitions) for name, one in value.items()}


def _described(tool: Tool) -> wire.Tool:
    return wire.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=schema(tool.takes),
        output_schema=schema(tool.gives),
        annotations=wire.ToolAnnotations(
            title=tool.title,
            read_only_hint=tool.only_reads,
            destructive_hint=tool.destroys,
            idempotent_hint=tool.only_reads,
            open_world_hint=False,
        ),
        _meta=_ALWAYS_SHOWN if tool.always_shown else None,
    )


def _answer(result: Any) -> wire.CallToolResult:
    structured = msgspec.to_builtins(result)
    return wire.CallToolResult(content=[wire.TextContent(text=result.as_text())], structured_content=structured)


def _refusal(error: StreamrelayError) -> wire.CallToolResult:
    # The other hints name commands that an agent can run, too.
    hint = descriptions.WHO_IS_THERE if isinstance(error, TargetNotFound) else error.hint
    text = f"error ({error.code}): {error.message}" + (f"\nhint: {hint}" if hint else "")
    told = {"code": error.code, "message": error.message, "hint": hint}
    return wire.CallToolResult(content=[wire.TextContent(text=text)], structured_content={"error": told}, is_error=True)
