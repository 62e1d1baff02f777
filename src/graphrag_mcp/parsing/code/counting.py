"""Counts the arguments that calls give and functions take, in languages without facts."""

from tree_sitter import Node

from graphrag_mcp.languages.language import Arguments
from graphrag_mcp.model.files import ANY_COUNT, Count

NO_ARGUMENTS = Count(0, 0)
_NOTHING = Arguments(calls="", parameters="")
_OWN = b"this"  # A parameter with this word may stand before the name.
_MAY_LACK = ("=", "attribute_list")  # A default value, or an attribute that may give one.
_UNCLEAR = frozenset({"<", "|", "token_repetition"})  # A comma after these may be none between arguments.
_MOST_LEVELS = 6  # Nodes between a name and its call, or between a function and its parameters.
_MOST_COUNTED = 60  # Longer lists are not counted.
_MOST_BETWEEN = 200  # Bytes between a name and its arguments: those of its type.


class Counting:
    """Counts in one language; any number where its nodes are not described."""

    def __init__(self, arguments: Arguments | None, data: bytes) -> None:
        """data: the code that is counted in."""
        self._rules = rules = arguments or _NOTHING
        self._data = data
        self._calls, self._bare = frozenset(rules.calls.split()), frozenset(rules.bare.split())
        self._parameters, self._optional = rules.parameters.split(), rules.optional.split()
        self._uncounted, self._together = rules.uncounted.split(), rules.together.split()
        self._spread, self._tokens = frozenset(rules.spread.split()), frozenset(rules.tokens.split())

    def given(self, name: Node, *, is_of_value: bool = False) -> Count:
        """Return how many arguments the call of a name gives. is_of_value: whether a value is before the name."""
        if name.parent is not None and name.parent.type in self._tokens:
            return self._given_in_tokens(name)
        call: Node | None = name.parent if self._calls else None
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
            return NO_ARGUMENTS if call == name.parent else ANY_COUNT
        if not self._is_of(name, listed) or listed.has_error or listed.named_child_count > _MOST_COUNTED:
            return ANY_COUNT
        together, count = False, int(is_of_value and self._rules.gives_receiver)
        for node in listed.named_children:
            if node.type in self._spread or (node.children and node.children[0].type in self._spread):
                return ANY_COUNT
            together |= node.type in self._together
            count += node.type not in self._uncounted and node.type not in self._together
        is_open = self._rules.has_macros and any(map(self._may_be_macro, listed.children))
        return Count(count, ANY_COUNT.most if is_open else count + together)

    def _given_in_tokens(self, name: Node) -> Count:
        """Return how many arguments a name has in a macro, whose tokens are not parsed."""
        listed, before = name.next_sibling, name.prev_sibling
        if listed is None or listed.type not in self._tokens or listed.child_count > _MOST_COUNTED:
            return ANY_COUNT
        tokens = [node.type for node in listed.children[1:-1]]
        if not _UNCLEAR.isdisjoint(tokens):
            return ANY_COUNT
        count = tokens.count(",") + (tokens[-1:] not in ([], [","]))
        count += self._rules.gives_receiver and before is not None and before.type == "."
        return Count(count, count)

    def _is_of(self, name: Node, listed: Node) -> bool:
        """Return whether arguments are those of a name, which is not in them, nor in what has them."""
        start, stop = name.end_byte, listed.start_byte
        return start <= stop <= start + _MOST_BETWEEN and b"(" not in self._data[start:stop]

    def _may_be_macro(self, node: Node) -> bool:
        return node.type == "identifier" and self._data[node.start_byte : node.end_byte].isupper()

    def taken(self, definition: Node) -> Count:
        """Return how many arguments a function takes."""
        around: Node | None = definition if self._calls else None
        for _ in range(_MOST_LEVELS):
            if around is None:
                break
            if listed := around.child_by_field_name("parameters"):
                return self._taken(listed)
            around = around.child_by_field_name("declarator")
        return NO_ARGUMENTS if definition.type in self._bare else ANY_COUNT

    def _taken(self, listed: Node) -> Count:
        is_empty = not listed.named_children
        if listed.has_error or listed.named_child_count > _MOST_COUNTED or (is_empty and self._rules.has_macros):
            return ANY_COUNT
        least = most = 0
        for node in listed.named_children:
            if node.type in self._uncounted or node.text == b"void":
                continue
            is_optional = node.type in self._optional or any(
                child.type in _MAY_LACK or child.text == _OWN for child in node.children
            )
            if not is_optional and node.type not in self._parameters:
                return ANY_COUNT
            least, most = least + (not is_optional), most + 1
        return Count(least, ANY_COUNT.most if self._rules.takes_more else most)
