"""The table of tools."""

from collections.abc import Mapping
from typing import Any

from graphrag_mcp.tools.find_history import HISTORY
from graphrag_mcp.tools.find_occurrences import OCCURRENCES
from graphrag_mcp.tools.find_symbol import FIND_SYMBOL
from graphrag_mcp.tools.impact import IMPACT
from graphrag_mcp.tools.index_status import STATUS
from graphrag_mcp.tools.search import DOCUMENTS, HYBRID, UNIQUE_DOCUMENTS, SearchTool
from graphrag_mcp.tools.tool import Tool
from graphrag_mcp.tools.trace_relations import TRACE

SEARCH_TOOLS: Mapping[str, SearchTool] = {tool.name: tool for tool in (HYBRID, DOCUMENTS, UNIQUE_DOCUMENTS)}
TOOLS: Mapping[str, Tool[Any, Any, Any]] = {
    tool.name: tool
    for tool in (HYBRID, DOCUMENTS, UNIQUE_DOCUMENTS, FIND_SYMBOL, TRACE, IMPACT, OCCURRENCES, HISTORY, STATUS)
}
