"""The types of the variables and fields of a file, as they are written beside them or created for them."""

from collections.abc import Iterator, Sequence, Set
from typing import NamedTuple

from graphrag_mcp.model.files import OF_FIELD, VARIABLE
from graphrag_mcp.parsing.code.names import last_name
from graphrag_mcp.parsing.outline import Outline, Reference, around, as_parameter, enclosing_indexes

MOST_KINDS = 40  # Times that a variable gets another type; one with more has none.
_MOST_HELD = 4  # Variables that hold a field of another one in a row.


class _Kind(NamedTuple):
    """The type of a variable, with "?" where it may hold something else. is_new: see `Variable`."""

    start: int
    name: str
    is_new: bool


class VariableTypes:
    """The types of the variables of one file. own: the words for the own instance."""

    def __init__(self, outline: Outline, own: Set[str]) -> None:
        self._own = own
        self._definitions = outline.definitions
        self._types = _kinds_of_variables(outline)
        self._bindings, self._typed = outline.bindings, {variable.start for variable in outline.variables}
        self._around: dict[tuple[int, str], list[Sequence[_Kind]]] = {}
        self._has_bounds = any(variable.name.startswith("<") for variable in outline.variables)

    def of_receiver(self, use: Reference, index: int) -> str:
        """Return the type of the value before a name, "Cart>owner" of a field of a value of a type; "" if unknown."""
        kind = self.of(use.receiver, index, use.start) if use.is_plain else ""
        fields = kind if kind.startswith(OF_FIELD) else "" if kind else use.fields
        return self._of_fields(fields, index, use.start, _MOST_HELD) if fields else kind

    def of_field(self, kind: str, name: str) -> str:
        """Return the type of a field of a type, "" if unknown. kind: the qualified name of the type."""
        found = _only_or_last(self._types.get((kind, name), ()), 0)
        return "" if found.startswith(OF_FIELD) or len(found) == 1 else found  # One letter stands for any type.

    def _of_fields(self, written: str, index: int, at: int, most: int) -> str:
        """Return the type of the fields of a variable; most: variables that are looked at."""
        first, _, fields = written.strip(f"{OF_FIELD}?").partition(".")
        kind = self.type_around(index) if first in self._own else self.of(first, index, at)
        if kind.startswith(OF_FIELD):
            kind = self._of_fields(kind, index, at, most - 1) if most else ""
        if not kind:
            return ""
        kind, mark, before = kind.partition(OF_FIELD)
        unsure = "?" if written.endswith("?") and not kind.endswith("?") else ""
        return f"{kind}{unsure}{OF_FIELD}{before}{'.' if mark and fields else ''}{fields}"

    def type_around(self, index: int) -> str:
        """Return the name of the type or module around a definition, "" for none."""
        outwards = (definition for _, definition in around(self._definitions, index))
        return next((last_name(outer.qualified_name) for outer in outwards if outer.is_container), "")

    def of(self, variable: str, index: int, at: int) -> str:
        """Return the type of a variable of a definition, or of a field of the types around it; "" if unknown.

        Of a value whose type is a parameter, the only type that bounds it; likewise of that parameter.
        """
        kind = self._said(variable, index, at)
        name = kind.rstrip("?") or variable
        bound = self._said(as_parameter(name), index, at) if self._has_bounds and name else ""
        return bound + kind.removeprefix(name) if bound and not bound.endswith("?") else kind

    def _said(self, variable: str, index: int, at: int) -> str:
        if (index, variable) not in self._around:
            self._around[index, variable] = list(self._types_around(variable, index))
        begin = self._bindings.start_of(variable, at) if self._bindings else -1
        if begin >= 0 and begin not in self._typed:  # Another variable of its name hides it.
            return ""
        known = (_only_or_last(kinds, at, begin) for kinds in self._around[index, variable])
        return next(filter(None, known), "")

    def _types_around(self, variable: str, index: int) -> Iterator[Sequence[_Kind]]:
        outermost, is_of_file = "", True
        for outer, definition in around(self._definitions, index):
            is_of_file &= definition.name.startswith('"')  # The block of a test sees the variables around it.
            place = definition.qualified_name if definition.is_container else outer
            if kinds := self._types.get((place, variable)):
                yield kinds
            outermost = definition.qualified_name
        if kinds := self._types.get((outermost.rpartition(".")[0], variable)):  # Defined outside of its type.
            yield kinds
        if is_of_file and (kinds := self._types.get((-1, variable))):
            yield kinds


def _kinds_of_variables(outline: Outline) -> dict[tuple[int | str, str], list[_Kind]]:
    """Return the types of variables by the index of the function and by their names, of fields by that of the type.

    With each type where it is said; of one that may hold something else it ends in "?".
    """
    definitions = outline.definitions
    fields = {definition.name_start: definition.parent for definition in definitions if definition.kind in VARIABLE}
    indexes = enclosing_indexes(definitions, [variable.start for variable in outline.variables])
    kinds: dict[tuple[int | str, str], list[_Kind]] = {}
    for index, variable in zip(indexes, outline.variables, strict=True):
        is_field = variable.is_own or variable.start in fields
        index = fields.get(variable.start, index)
        while index >= 0 and not (definitions[index].is_container or (definitions[index].is_callable and not is_field)):
            index = definitions[index].parent
        is_container = index >= 0 and definitions[index].is_container
        key = (definitions[index].qualified_name if is_container else index, variable.name)
        kind = variable.kind + ("" if variable.is_declared else "?")
        said = kinds.setdefault(key, [])
        if not said or said[-1].name != kind:
            said.append(_Kind(variable.start, kind, variable.is_new or (variable.is_declared and not is_field)))
    return {key: said for key, said in kinds.items() if len(said) <= MOST_KINDS}


def _only_or_last(kinds: Sequence[_Kind], at: int, begin: int = -1) -> str:
    """Return the only type of what has a name; of several variables, unsurely, that of the last one before a place.

    begin: where the variable begins, if that is known.
    """
    if own := next((kind.name for kind in kinds if kind.start == begin and kind.is_new), ""):
        return own
    if len({kind.name.rstrip("?") for kind in kinds}) < 2:
        return min((kind.name for kind in kinds), default="")  # A type that is written says it of what is unsure.
    if not all(kind.is_new for kind in kinds):
        return ""
    last = max((kind for kind in kinds if kind.start <= at), default=None)
    return f"{last.name.rstrip('?')}?" if last else ""
