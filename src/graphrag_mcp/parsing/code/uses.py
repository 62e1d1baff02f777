"""The names that a file uses: what it calls, hands on and extends, its types, and what its variables hold."""

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import islice
from operator import itemgetter
from typing import TypeVar

from tree_sitter import Node

from graphrag_mcp.languages.grammars import Captures, first_of
from graphrag_mcp.languages.language import Arguments, Language
from graphrag_mcp.languages.registry import builtins_of
from graphrag_mcp.languages.syntax import SourceCode, node_around, outwards
from graphrag_mcp.model.files import ANY_COUNT, OF_FIELD, Count
from graphrag_mcp.parsing.code.declared import REGISTRATIONS, SETTING, Registration
from graphrag_mcp.parsing.code.names import (
    Bindings,
    Naming,
    OwnNamespace,
    called_name,
    fields_of,
    is_macro,
    last_name,
    not_local,
    type_name,
    without_marks,
)
from graphrag_mcp.parsing.outline import (
    GIVEN_RECEIVER,
    MACRO_RECEIVER,
    SUPER_RECEIVER,
    UNKNOWN_RECEIVER,
    Base,
    Describing,
    Reference,
    Variable,
    as_parameter,
    enclosing_indexes,
)

NO_ARGUMENTS = Count(0, 0)
_NOTHING = Arguments(calls="", parameters="")
_OWN = b"this"  # A parameter with this word may stand before the name.
_MAY_LACK = ("=", "attribute_list")  # A default value, or an attribute that may give one.
_DECLARING = "function_declarator"  # Below what says that a reference is returned it has no field.
_REST, _ANY_NUMBER = "...", b"vararg"  # These stand for any number of parameters.
_UNCLEAR = frozenset({"<", "|", "token_repetition"})  # A comma after these may be none between arguments.
_TO_DECLARED = 2  # Nodes between a parameter for types and what declares it.
_MOST_LEVELS = 6  # Nodes between a name and its call, or between a function and its parameters.
_MOST_COUNTED = 60  # Longer lists are not counted.
_MOST_BETWEEN = 200  # Bytes between a name and its arguments: those of its type.
HOLDING_ROLES = ("typed", "made.own", "made.new", "made", "held", "bounded")  # These say what a variable holds.
_QUALIFYING = frozenset({".", "::", "\\"})
_MARKS = tuple(mark.encode() for mark in _QUALIFYING)
_BLANKS = 64  # Between a mark and a name, mostly none.
_IMPORTING = ("require(", "import(", "@import(")  # Their value is a module.
_TYPE_ARGUMENTS = re.compile(r"(::)?<[^()]*>\Z")
_SUPER = re.compile(r"super\s*(\(.*\)|<.*>)\Z", re.DOTALL)  # Python's `super()`, Kotlin's `super<Base>`.
_HERE = ("crate", "self", "super", "Self")
_MODULE_ABOVE = re.compile(r"super(?:::super)+")
_BEFORE_PLAIN = ("", "this->", "this.", "self.", "this?.")
_PATH = re.compile(rb"(?:\w++::)*+\w*+\Z", re.ASCII)  # Up to the end of a receiver: among tokens that is its last name.
_RECEIVER_BYTES = 60  # Longer ones are chains of calls.
_Named = TypeVar("_Named", Reference, Variable)


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
        self._lists, self._behind = frozenset(rules.lists.split()), frozenset(rules.behind.split())

    def given(self, name: Node, *, is_of_value: bool = False) -> Count:
        """Return how many arguments the call of a name gives. is_of_value: whether a value is before the name."""
        if node_around(name).type in self._tokens:
            return self._given_in_tokens(name)
        levels = islice(outwards(name.parent), _MOST_LEVELS + 1 if self._calls else 0)
        call = next((outer for outer in levels if outer.type in self._calls), None)
        if call is None:
            return ANY_COUNT
        listed = call.child_by_field_name("arguments") or self._list_of(call)
        more = self._count_behind(call) + (is_of_value and self._rules.gives_receiver)
        if listed is None:
            return Count(more, more) if more or call == name.parent else ANY_COUNT
        return self.listed(listed, more) if self._is_of(name, listed) else ANY_COUNT

    def _list_of(self, node: Node) -> Node | None:
        return next((child for child in node.children if child.type in self._lists), None)

    def _count_behind(self, call: Node) -> int:
        """Return how many arguments are behind the list of a call: in the call, or in one around it."""
        around = [call, call.parent] if call.parent and call.parent.type in self._calls else [call]
        return sum(child.type in self._behind for node in around for child in node.children) if self._behind else 0

    def listed(self, listed: Node, count: int = 0) -> Count:
        """Return how many arguments there are, with some that are not listed."""
        is_list = self._data.startswith(b"{", listed.start_byte)  # It may be one argument.
        if is_list or listed.has_error or listed.named_child_count > _MOST_COUNTED:
            return ANY_COUNT
        together = False
        for node in listed.named_children:
            if any(part.type in self._spread for part in (node, *node.children[:1])):
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
            if listed := around.child_by_field_name("parameters") or self._list_of(around):
                return self._taken(listed)
            around = around.child_by_field_name("declarator") or next(
                (child for child in around.named_children if child.type == _DECLARING), None
            )
        return NO_ARGUMENTS if definition.type in self._bare else ANY_COUNT

    def _taken(self, listed: Node) -> Count:
        is_empty = not listed.named_children
        if listed.has_error or listed.named_child_count > _MOST_COUNTED or (is_empty and self._rules.is_open):
            return ANY_COUNT
        least = most = 0
        for node in listed.named_children:
            before, behind = node.prev_sibling, node.next_sibling
            if node.type in self._uncounted or node.text == b"void" or (before and before.type == "="):
                continue
            is_optional = node.type in self._optional or any(
                child is not None and (child.type in _MAY_LACK or child.text in (_OWN, _ANY_NUMBER))
                for child in (*node.children, before, behind)
            )
            if not is_optional and node.type not in self._parameters:
                return ANY_COUNT
            least, most = least + (not is_optional), most + 1
        takes_more = self._rules.takes_more or any(
            node.type == _REST or node.text == _ANY_NUMBER for node in listed.children
        )
        return Count(least, ANY_COUNT.most if takes_more else most)


class Uses:
    """What a query found of the roles of names that mean something else: calls, types, bases, variables."""

    def __init__(self, code: SourceCode, language: Language, counting: Counting) -> None:
        self._code, self._counting = code, counting
        self._builtins = builtins_of(language.name)
        self._word_for_described, self._has_capitals = language.described, language.capitals
        self._attribute_ending = language.attribute_ending
        self.references: dict[tuple[int, bool], Reference] = {}  # by start, and whether it is a call
        self.bases: set[Base] = set()
        self.variables: list[Variable] = []
        self.declaring: list[tuple[Node, Registration]] = []
        self.described: list[Describing] = []
        self.namespace = OwnNamespace()
        self._namings: list[Naming] = []
        self._of_base: list[int] = []  # The starts of names of constructors that constructors call.
        self._generics: dict[str, list[tuple[int, int]]] = {}  # Parameters for types, by name, with where they mean it.
        self._receiving: list[tuple[int, int]] = []
        self._set: dict[int, bool] = {}  # Names to which values are assigned, by start, and whether they are read, too.

    def add_call(self, role: str, captures: Captures) -> None:
        """Add the name of what is called."""
        if (named := called_name(captures[role][0], self._code)) is not None:
            self._add_reference(named, captures, is_call=True)

    def add_base_call(self, role: str, captures: Captures) -> None:
        """Add the call of a constructor of the type around it, or of one above that."""
        self._of_base.append(captures[role][0].start_byte)
        self.add_call(role, captures)

    def add_type(self, role: str, captures: Captures) -> None:
        """Add the name of a type that is used."""
        self._add_reference(captures[role][0], captures, is_call=False)

    def add_naming(self, role: str, captures: Captures) -> None:
        """Keep a name that may be a local variable, or a block that has some, until all of them are known."""
        self._namings.append(Naming(captures[role][0].start_byte, role, captures[role][0], captures))

    def add_called(self, role: str, captures: Captures) -> None:
        """Add the name of what is called, which may be a local variable if nothing is before it."""
        add = self.add_naming if self._qualifier(captures[role][0]) is None else self.add_call
        add(role, captures)

    def add_generic(self, role: str, captures: Captures) -> None:
        """Note a parameter for types: in what declares it, its name means no type that has it."""
        node = captures[role][0]
        around = next(islice(outwards(node.parent), _TO_DECLARED, None), node)
        self._generics.setdefault(self._code.node_text(node), []).append(around.byte_range)

    def add_receiving(self, role: str, captures: Captures) -> None:
        """Add a block that is given a value whose members it calls without a receiver."""
        self._receiving += [node.byte_range for node in captures[role]]

    def add_setting(self, role: str, captures: Captures) -> None:
        """Add a string that names a setting."""
        self.declaring.append((captures[role][0], SETTING))

    def add_namespace(self, role: str, captures: Captures) -> None:
        """Add the name of the namespace that the file is of."""
        self.namespace.names.append(self._code.node_text(captures[role][0]))

    def add_described(self, role: str, captures: Captures) -> None:
        """Add a block of tests that describes a type."""
        kind = self._code.node_text(captures["kind"][0]).removeprefix("::")
        self.described.append(Describing(*captures[role][0].byte_range, kind))

    def add_set(self, role: str, captures: Captures) -> None:
        """Note that a value is assigned to a name."""
        self._set[captures[role][0].start_byte] = role == "set.read"

    def add_variable(self, role: str, captures: Captures) -> None:
        """Add a variable with the type that it is declared or created with, or the field whose value it holds."""
        variable, kind = captures["variable"][0], captures["kind"][0]
        if role == "held":
            fields = self._fields_of(kind)
            held = OF_FIELD + fields if fields else ""
        else:
            held = type_name(self._code.node_text(kind))
        name = self._code.node_text(variable).lstrip("$@:")
        name = as_parameter(name) if role == "bounded" else name
        said = (role in ("typed", "bounded", "held"), role == "made.own", role in ("made.new", "held"))
        if held:
            self.variables.append(Variable(variable.start_byte, name, held, *said))

    def add_base(self, role: str, captures: Captures) -> None:
        """Add a type that another one extends, implements or embeds."""
        node = captures[role][0]
        start = node.start_byte
        receiver = self._read_receiver(first_of(captures, "receiver"))
        below = self._code.node_text(captures["below"][0]) if "below" in captures else ""
        if self.namespace.names:
            self.namespace.note(node, self._code)
        name, is_above = last_name(self._code.node_text(node)), "above" in captures
        self.bases.add(Base(start, self._code.row(start), name, receiver, below, is_above))

    def finish(self) -> None:
        """Add what could not be told before all matches were known: bare names and setters."""
        self._add_bare_names()
        self._leave_out_generics()
        self._mark_receiving()
        for start in self._of_base:
            if call := self.references.get((start, True)):
                self.references[start, True] = call._replace(is_base=True)
        for start, is_read in self._set.items():  # Within a name, no other one begins.
            if call := self.references.get((start, True)):
                setter = call._replace(start=start + is_read, name=f"{call.name}=", given=Count(1, 1))
                self.references[setter.start, True] = setter

    def _leave_out_generics(self) -> None:
        """Leave out the names of parameters for types, and mark those before a name."""
        places = {name: _merged(spans) for name, spans in self._generics.items()}
        for key, use in list(self.references.items()):
            name = use.receiver or use.name
            spans = places.get(name, ())
            index = bisect_right(spans, use.start, key=itemgetter(0)) - 1
            if index < 0 or use.start >= spans[index][1]:
                continue
            if use.receiver:
                self.references[key] = use._replace(receiver=as_parameter(name))
            else:
                del self.references[key]

    def _mark_receiving(self) -> None:
        """Mark the bare calls in blocks that are given a value: they may be of that."""
        spans = _merged(self._receiving)
        for key, use in list(self.references.items()) if spans else ():
            index = bisect_right(spans, use.start, key=itemgetter(0)) - 1
            is_inside = index >= 0 and use.start < spans[index][1]
            if is_inside and use.is_call and not use.receiver and not use.name[:1].isupper():
                self.references[key] = use._replace(receiver=GIVEN_RECEIVER)

    @property
    def bindings(self) -> Bindings:
        """Where the variables of known types are bound, and others with their names."""
        return Bindings(self._namings, self._code, {variable.name for variable in self.variables})

    def _add_reference(self, node: Node, captures: Captures, *, is_call: bool) -> None:
        name, start = without_marks(self._code.node_text(node)), node.start_byte
        stated, is_of_value = first_of(captures, "receiver") or first_of(captures, "value"), "value" in captures
        if self.namespace.names and not is_of_value:
            self.namespace.note(stated or node, self._code)
        before = stated or self._qualifier(node)
        receiver = self._read_receiver(before)
        if receiver == UNKNOWN_RECEIVER and (start, is_call) in self.references:
            return  # Another pattern knows it.
        if is_call and self._code.data.startswith(b"!", node.end_byte) and is_macro(node):
            receiver = MACRO_RECEIVER
        is_path = not is_of_value and self._is_path(before)
        is_type = (self._has_capitals or is_of_value) and receiver[:1].isupper()
        path = self._path_before(before) if is_path or is_type else ""
        self.references[start, is_call] = Reference(
            start,
            self._code.row(start),
            name,
            receiver,
            is_call,
            is_builtin=name in self._builtins,
            is_of_value=is_of_value,
            is_path=is_path,
            is_plain=self._is_plain(before, receiver),
            is_far=bool(path) and path.partition("::")[0] not in _HERE,
            path=path,
            fields=self._fields_of(before) if is_call else "",
            given=self._given(node, captures, is_of_value=is_of_value) if is_call else ANY_COUNT,
        )
        if "attribute" in captures:  # Within a name, no other one begins.
            whole = self.references[start, is_call]._replace(start=start + 1, name=name + self._attribute_ending)
            self.references[whole.start, is_call] = whole
        registration = REGISTRATIONS.get(name)
        if registration and registration.fits(node, receiver, is_call):
            self.declaring.append((node, registration))

    def _given(self, name: Node, captures: Captures, *, is_of_value: bool) -> Count:
        if listed := first_of(captures, "arguments"):
            return self._counting.listed(listed)
        return self._counting.given(name, is_of_value=is_of_value)

    def _add_bare_names(self) -> None:
        """Add the names that may be local variables as well and are not; a value in capitals is a constant."""
        namings = [naming for naming in self._namings if (naming.start, True) not in self.references]
        for start, role, node, captures in not_local(namings, self._code):
            if role == "called":
                self.add_call(role, captures)
                continue
            name = without_marks(self._code.node_text(node))
            is_call = role == "bare" and name != self._word_for_described
            if name in self._builtins or (name.isupper() and not is_call):
                continue
            before = first_of(captures, "receiver")
            receiver = self._read_receiver(before)
            self.references[start, is_call] = Reference(
                start,
                self._code.row(start),
                name,
                receiver,
                is_call,
                is_handed=role == "handed",
                is_path=self._is_path(before),
                is_plain=self._is_plain(before, receiver),
                given=NO_ARGUMENTS if is_call else ANY_COUNT,
            )

    def _is_path(self, receiver: Node | None) -> bool:
        return receiver is not None and self._code.data.startswith(b"::", receiver.end_byte)

    def _path_before(self, receiver: Node | None) -> str:
        """Return `a::b` of the receiver `a::b::C`."""
        if receiver is None:
            return ""
        start, end = receiver.byte_range
        text = self._code.data[max(0, start - _RECEIVER_BYTES) : min(end, start + _RECEIVER_BYTES)]
        path: bytes = _PATH.findall(text)[0]
        return path.decode().rpartition("::")[0]

    def _is_plain(self, receiver: Node | None, name: str) -> bool:
        """Return whether a receiver, whose last name is given, is a variable, or a field of the own instance."""
        text = self._short_text(receiver).lstrip("$@")
        return bool(text) and text.removesuffix(name) in _BEFORE_PLAIN

    def _fields_of(self, receiver: Node | None) -> str:
        """Return `a.b` of a receiver that is a field of a variable, "" for any other."""
        return fields_of(self._short_text(receiver))

    def _short_text(self, receiver: Node | None) -> str:
        """Return the text of a receiver, "" for none and for a long one."""
        if receiver is None or receiver.end_byte - receiver.start_byte > _RECEIVER_BYTES:
            return ""
        return self._code.node_text(receiver)

    def _read_receiver(self, node: Node | None) -> str:
        """Return `c` of the receiver `a.b.c`, UNKNOWN_RECEIVER for other expressions, "" where there is none."""
        if node is None:
            return ""
        end = node.end_byte
        text = self._code.text(max(node.start_byte, end - _RECEIVER_BYTES), end)
        if text.isidentifier() or _MODULE_ABOVE.fullmatch(text):
            return text
        if _SUPER.match(text):
            return SUPER_RECEIVER
        if text.startswith(_IMPORTING):
            return text.partition("(")[0]
        word = last_name(_TYPE_ARGUMENTS.sub("", text).replace("->", ".")).strip("@$&*!?")
        return word if word.isidentifier() else UNKNOWN_RECEIVER

    def _qualifier(self, node: Node) -> Node | None:
        """Return `a` of the name `b` in `a.b`, `a::b` and `a\\b`."""
        before = self._code.data[max(0, node.start_byte - _BLANKS) : node.start_byte]
        if before.strip() and not before.rstrip().endswith(_MARKS):
            return None  # The way to a sibling begins at the root.
        mark = node.prev_sibling
        return mark.prev_sibling if mark is not None and mark.type in _QUALIFYING else None


def _merged(spans: Sequence[tuple[int, int]]) -> Sequence[tuple[int, int]]:
    """Return the spans that are in no other one: those of nodes are in each other or apart."""
    merged: list[tuple[int, int]] = []
    for start, end in sorted(spans, key=lambda span: (span[0], -span[1])):
        if not merged or start >= merged[-1][1]:
            merged.append((start, end))
    return merged


def name_described(
    word: str, blocks: Sequence[Describing], references: Sequence[Reference], variables: Sequence[Variable]
) -> tuple[list[Reference], list[Variable]]:
    """Return the references and variables, both in the order of their starts, with the type in place of the word."""
    named = []
    for use, described in _innermost(references, blocks):
        around, _, last = described.rpartition("::")
        if described and use.name == word:
            path, _, receiver = around.rpartition("::")
            use = use._replace(name=last, receiver=receiver, path=path, is_path=bool(receiver), is_far=bool(path))
        elif described and use.receiver == word:
            use = use._replace(receiver=last, path=around, is_plain=False)
        named.append(use)
    held = [
        variable._replace(kind=type_name(described)) if described and variable.kind == word else variable
        for variable, described in _innermost(variables, blocks)
    ]
    return named, held


def _innermost(places: Sequence[_Named], blocks: Sequence[Describing]) -> Iterator[tuple[_Named, str]]:
    """Yield each place with the type that the innermost block around it describes, "" for none."""
    ordered = sorted(blocks, key=lambda block: (block.start, -block.end))
    for place, index in zip(places, enclosing_indexes(ordered, [place.start for place in places]), strict=True):
        yield place, ordered[index].name if index >= 0 else ""
