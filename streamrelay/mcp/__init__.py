"""The service as tools of the Model Context Protocol."""

from streamrelay.mcp.http import HttpEndpoint
from streamrelay.mcp.server import build_server
from streamrelay.mcp.stdio import serve_stdio
from streamrelay.mcp.tokens import Tokens

__all__ = ["HttpEndpoint", "Tokens", "build_server", "serve_stdio"]
