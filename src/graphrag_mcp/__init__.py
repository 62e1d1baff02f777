"""Code-aware semantic search over a repository, as an MCP stdio server."""

__version__ = "0.1.0"
