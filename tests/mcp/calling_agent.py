"""What an agent does in its pane: start the server of the tools, call some, write down what came of it.

python calling_agent.py FILE SERVER CALLS, where SERVER is the argument list and CALLS are [[tool, arguments], ...],
both in JSON. The server gets the few variables that the official client hands on.
"""

import asyncio
import json
import sys
from pathlib import Path

from mcp import Client, StdioServerParameters


async def main(file: Path, server: list[str], calls: list[tuple[str, dict[str, object]]]) -> None:
    async with Client(StdioServerParameters(command=server[0], args=server[1:])) as client:
        results = [await client.call_tool(tool, arguments) for tool, arguments in calls]
    new = file.with_suffix(".new")
    new.write_text(json.dumps([result.structured_content for result in results]))
    new.rename(file)
    await asyncio.Event().wait()


asyncio.run(main(Path(sys.argv[1]), json.loads(sys.argv[2]), json.loads(sys.argv[3])))
