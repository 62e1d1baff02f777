"""What is particular to each language: one policy each."""

from collections.abc import Mapping

from graphrag_mcp.resolution.languages import ecma, go, java, python
from graphrag_mcp.resolution.policy import Policy

POLICIES: Mapping[str, Policy] = {
    "python": python.POLICY,
    "go": go.POLICY,
    "java": java.POLICY,
    **dict.fromkeys(("javascript", "typescript", "tsx"), ecma.POLICY),
}
