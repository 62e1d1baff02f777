"""What does not fit a definition any more since its parameters were edited: calls, and methods that override it."""

from collections.abc import Callable, Sequence, Set
from itertools import chain
from typing import TYPE_CHECKING

from graphrag_mcp.graph.code import IndexedCode
from graphrag_mcp.graph.unfitting import Edit
from graphrag_mcp.languages.registry import describe
from graphrag_mcp.model.files import ANY_COUNT, Count
from graphrag_mcp.model.graph import CodeNode, Line
from graphrag_mcp.model.grouping import grouped

if TYPE_CHECKING:  # It imports the parser, which few questions need.
    from graphrag_mcp.graph.definitions import ChangedDefinition


class Misfits:
    """Answers from one state of the index."""

    def __init__(self, code: IndexedCode) -> None:
        self._code = code

    def calls(self, edits: Sequence[Edit], read: Callable[[str], str | None]) -> set[Line]:
        """Return the calls that certainly do not fit since edits. read: see `Edit.unfitting`."""
        facts = self._code.facts
        together = {place: change for edit in edits for place, change in edit.changed(facts).items()}
        functions = chain.from_iterable(edit.unfitting(facts, self._code.links, read, together) for edit in edits)
        return {(path, line) for function in functions for path, line, _ in function.calls}

    def miscounted(self, name: str, places: Set[Line], took: Count, takes: Count) -> set[Line]:
        """Return those of some places whose calls of a name gave a right number of arguments, and do not any more.

        In languages without facts; none in others. took, takes: the right numbers before and now.
        """
        calls = self._code.calls_said(name, {path for path, _ in places})
        given = grouped((line, said.given) for line, said in calls)
        return {
            place
            for place in places & given.keys()
            if all(count.meets(took) and not count.meets(takes) for count in given[place])
        }

    def overriding(self, node: CodeNode, changed: "ChangedDefinition") -> set[int]:
        """Return the places of methods that take what a changed one above them took, and so override it no longer.

        Of those that must, in languages without facts that check it; none where they may override another one instead.
        """
        language = describe(self._code.language(node.path))
        took, takes = changed.took, changed.takes
        if not language.overrides_exactly or took.most == takes.most or ANY_COUNT in (took, takes):
            return set()
        named = [each for each in self._code.facts.called(node.name) if each.place != node.place]
        words = [*_words_before(changed.signature), *_words_before(changed.was)]
        # If it overrides, others override what is above it.
        if "override" in words or any(each.qualified_name == node.qualified_name for each in named):
            return set()
        if not language.blocks_implement:
            if any(each.most == takes.most for each in named):
                return set()
            if changed.has_body or not self._is_in_interface(node.path, node.qualified_name):
                named = [each for each in named if "override" in _words_before(each.signature)]
            else:
                explicit = [each for each in named if f".{each.name}" in each.signature.split("(")[0]]
                named = explicit or [
                    each for each in named if not self._is_in_interface(each.file.path, each.qualified_name)
                ]
        return {each.place for each in named if each.most == took.most}

    def _is_in_interface(self, path: str, member: str) -> bool:
        owner = member.rpartition(".")[0]
        around = (each for each in self._code.store.in_file(path) if each.qualified_name == owner)
        return any(map(self._code.is_interface, around))


def _words_before(signature: str) -> list[str]:
    """Return the words of a signature before its parameters."""
    return signature.split("(")[0].split()
