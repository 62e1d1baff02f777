"""Counts the arguments that calls give and functions take, in languages without facts."""

from tree_sitter import Node

from graphrag_mcp.languages.language import Arguments
from graphrag_mcp.model.files import ANY_COUNT, Count

NO_ARGUMENTS = Count(0, 0)
_OWN = b"this"  # A parameter with this word may stand before the name.
_MOST_LEVELS = 6  # Nodes between a name and its call, or between a function and its parameters.
_MOST_COUNTED = 60  # Longer lists are not counted.


class Counting:
    """Counts in one language; any number where its nodes are not described."""

    def __init__(self, arguments: Arguments | None) -> None:
        self._rules = arguments
        if arguments:
            self._calls, self._bare = frozenset(arguments.calls.split()), frozenset(arguments.bare.split())
            self._parameters, self._optional = arguments.parameters.split(), arguments.optional.split()
            self._uncounted, self._together = arguments.uncounted.split(), arguments.together.split()
            self._spread = frozenset(arguments.spread.split())

    def given(self, name: Node, *, is_of_value: bool = False) -> Count:
        """Return how many arguments the call of a name gives. is_of_value: whether a value is before the name."""
        call: Node | None = name.parent if self._rules else None
        for _ in range(_MOST_LEVELS):
            if call is None or call.type in self._calls:
                break
            call = call.parent
        if call is None or call.type not in self._calls:
            return ANY_COUNT
        listed = call.child_by_field_name("arguments") or next(
            (node for node in call.children if node.type == "arguments"), None
        )
        if listed is None:
            return NO_ARGUMENTS
        if listed.start_byte < name.end_byte or listed.has_error or listed.named_child_count > _MOST_COUNTED:
            return ANY_COUNT  # One whose name is itself an argument is no call.
        together, count = False, int(is_of_value and self._rules is not None and self._rules.gives_receiver)
        for node in listed.named_children:
            if node.type in self._spread or (node.children and node.children[0].type in self._spread):
                return ANY_COUNT
            together |= node.type in self._together
            count += node.type not in self._uncounted and node.type not in self._together
        return Count(count, count + together)

    def taken(self, definition: Node) -> Count:
        """Return how many arguments a function takes."""
        around: Node | None = definition if self._rules else None
        for _ in range(_MOST_LEVELS):
            if around is None:
                break
            if listed := around.child_by_field_name("parameters"):
                return self._taken(listed)
            around = around.child_by_field_name("declarator")
        return NO_ARGUMENTS if self._rules and definition.type in self._bare else ANY_COUNT

    def _taken(self, listed: Node) -> Count:
        if listed.has_error or listed.named_child_count > _MOST_COUNTED:
            return ANY_COUNT
        least = most = 0
        for node in listed.named_children:
            if node.type in self._uncounted or node.text == b"void":
                continue
            is_optional = node.type in self._optional or any(
                child.type == "=" or child.text == _OWN for child in node.children
            )
            if not is_optional and node.type not in self._parameters:
                return ANY_COUNT
            least, most = least + (not is_optional), most + 1
        return Count(least, ANY_COUNT.most if self._rules and self._rules.takes_more else most)
