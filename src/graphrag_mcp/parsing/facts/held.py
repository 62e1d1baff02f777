"""Reads what names hold: by their type, their value, or what they are taken from."""

from tree_sitter import Node

from graphrag_mcp.languages.grammars import Captures
from graphrag_mcp.languages.shapes import LITERAL, UNKNOWN, arguments
from graphrag_mcp.parsing.facts.reading import ReaderPart, Reading


class Held(ReaderPart):
    """Writes what is held; a constant without a value repeats the one before, where the language says so."""

    def __init__(self, reading: Reading) -> None:
        super().__init__(reading)
        self._repeated = ""

    def values(self, node: Node, captures: Captures, count: int) -> list[str]:
        """Return what each of the names holds."""
        if "part" in captures and self._shapes.taken:
            return [self._shapes.taken(self._writer, captures["part"][0])]
        kinds = captures.get("type", ())
        if kinds and self._writer.text(kinds[0]) not in self._shapes.inferred:
            types = [self._writer.typed(kinds[0])] * count
        elif loop := captures.get("loop"):
            value = self._writer.value(loop[0])
            types = [value if value == UNKNOWN else f"{value}{step}" for step in self._shapes.loops[:count]]
        elif entered := captures.get("enter"):
            value = self._writer.value(entered[0])
            types = [value if value == UNKNOWN else f"{value}{self._shapes.enter[node.children[0].type]}"]
        elif values := captures.get("value"):
            listed = [value for part in values for value in self.listed(part)]
            if len(listed) == count:
                types = [self._writer.value(value) for value in listed]
            else:
                types = self._unpacked(listed[0], count)
        elif node.type in self._shapes.repeated:
            return [self._repeated or LITERAL] * count
        else:
            types = [self._shapes.unset] * count
        if node.type in self._shapes.repeated:
            self._repeated = types[0]
        return types

    def _unpacked(self, value: Node, count: int) -> list[str]:
        text = self._writer.value(value)
        if value.type in self._shapes.alone:
            return [text, *[LITERAL] * (count - 1)]
        return [UNKNOWN if text == UNKNOWN else f"{text}[{place}]" for place in range(count)]

    def listed(self, node: Node) -> list[Node]:
        """Return the nodes of a list, or the node itself."""
        return arguments(node) if node.type in self._shapes.lists else [node]
