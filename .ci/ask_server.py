"""Start an installed server as a client would, list its tools and call one of them."""

import asyncio
import os
import sys

from mcp import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

TOOLS = {
    "graphrag_hybrid_search",
    "query_documents",
    "query_unique_documents",
    "find_symbol",
    "trace_relations",
    "impact",
    "find_occurrences",
    "find_history",
    "index_status",
}


async def ask(command: str, root: str) -> None:
    server = StdioServerParameters(command=command, args=["serve", "--root", root], env=dict(os.environ))
    async with Client(stdio_client(server)) as client:
        names = {tool.name for tool in (await client.list_tools()).tools}
        if names != TOOLS:
            sys.exit(f"the server offers {names}")
        definition = await client.call_tool("find_symbol", {"symbol": "fuse_rrf"})
        if "fusion.py" not in str(definition.content):
            sys.exit(f"the server answers {definition}")
        answer = await client.call_tool("graphrag_hybrid_search", {"query": "merge ranked lists"})
        if "fusion.py" not in str(answer.content):
            sys.exit(f"the server answers {answer}")


asyncio.run(asyncio.wait_for(ask(*sys.argv[1:]), 60))
