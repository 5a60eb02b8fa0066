"""The procedures as resources, which an agent reads, and as prompts, which its user calls up."""

from typing import Any, get_args

import mcp.types as wire
from mcp.server import ServerRequestContext
from mcp.shared.exceptions import MCPError

from streamrelay.procedures import Procedure, procedure

URI = "streamrelay://procedures/"
_NAMES: tuple[Procedure, ...] = get_args(Procedure)
_MARKDOWN = "text/markdown"
_Context = ServerRequestContext[Any, Any]


async def list_resources(_: _Context, __: wire.PaginatedRequestParams | None) -> wire.ListResourcesResult:
    """List the procedures as resources."""
    resources = []
    for name in _NAMES:
        title, about = _head(name)
        resources.append(
            wire.Resource(uri=f"{URI}{name}", name=name, title=title, description=about, mime_type=_MARKDOWN)
        )
    return wire.ListResourcesResult(resources=resources)


async def read_resource(_: _Context, params: wire.ReadResourceRequestParams) -> wire.ReadResourceResult:
    """Return the text of a procedure."""
    uri = str(params.uri)
    for name in _NAMES:
        if uri == f"{URI}{name}":
            contents = wire.TextResourceContents(uri=params.uri, mime_type=_MARKDOWN, text=procedure(name))
            return wire.ReadResourceResult(contents=[contents])
    raise MCPError(wire.INVALID_PARAMS, "there is no such resource", {"uri": uri})


async def list_prompts(_: _Context, __: wire.PaginatedRequestParams | None) -> wire.ListPromptsResult:
    """List the procedures as prompts."""
    prompts = []
    for name in _NAMES:
        title, about = _head(name)
        prompts.append(wire.Prompt(name=name, title=title, description=about))
    return wire.ListPromptsResult(prompts=prompts)


async def get_prompt(_: _Context, params: wire.GetPromptRequestParams) -> wire.GetPromptResult:
    """Return a procedure as a user's message."""
    for name in _NAMES:
        if params.name == name:
            said = wire.PromptMessage(role="user", content=wire.TextContent(text=procedure(name)))
            return wire.GetPromptResult(messages=[said])
    raise MCPError(wire.INVALID_PARAMS, f"there is no prompt {params.name[:100]!r}")


def _head(name: Procedure) -> tuple[str, str]:
    """Return the title of a procedure, and how it begins."""
    title, _, text = procedure(name).removeprefix("# ").partition("\n")
    return title, " ".join(text.strip().partition("\n\n")[0].split())
