"""The MCP side: which tools there are, how a call becomes a request, and how a result becomes an answer."""
