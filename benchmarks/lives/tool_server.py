"""A server with one tool, as agents start it: the Model Context Protocol on standard input and output.

    python tool_server.py

It needs nothing but Python: an agent starts it in its own folder, with its own environment.
"""

import json
import sys

_TOOL = {
    "name": "lookup",
    "description": "Look up the answer to a question",
    "inputSchema": {"type": "object", "properties": {"question": {"type": "string"}}, "required": ["question"]},
}


def result(method: str, parameters: dict[str, object]) -> dict[str, object] | None:
    """Return the result of a request; None for a notification and for what the server does not know."""
    match method:
        case "initialize":
            version = parameters.get("protocolVersion", "2025-06-18")
            named = {"name": "tiny", "version": "1.0"}
            return {"protocolVersion": version, "capabilities": {"tools": {}}, "serverInfo": named}
        case "tools/list":
            return {"tools": [_TOOL]}
        case "tools/call":
            return {"content": [{"type": "text", "text": "forty-two, and nothing besides"}]}
        case "ping":
            return {}
        case _:
            return None


def main() -> None:
    """Answer requests until the input ends."""
    for line in sys.stdin:
        request = json.loads(line)
        if "id" not in request:
            continue
        answer = {"jsonrpc": "2.0", "id": request["id"]}
        found = result(request.get("method", ""), request.get("params") or {})
        unknown = {"code": -32601, "message": "no such method"}
        answer |= {"error": unknown} if found is None else {"result": found}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
