"""What a change of files breaks or may affect, from their definitions before and after it."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import islice
from operator import attrgetter
from pathlib import PurePosixPath

from msgspec import Struct, field

from graphrag_mcp.graph.definitions import Change, ChangedDefinition, compare
from graphrag_mcp.graph.dependants import Affected, Dependants, without_certain, without_declarations
from graphrag_mcp.graph.impact import RankedTest, Reached, Tested, find_impact
from graphrag_mcp.graph.relations import Relations
from graphrag_mcp.graph.unfitting import Edit
from graphrag_mcp.history.differing import Difference, Differing, Read
from graphrag_mcp.model.files import Category
from graphrag_mcp.model.graph import NO_DOUBT, Certainty, CodeNode, Doubt, Line
from graphrag_mcp.model.grouping import firsts, grouped
from graphrag_mcp.model.history import Companion
from graphrag_mcp.model.scope import Scope
from graphrag_mcp.model.shown import shown
from graphrag_mcp.ports import SymbolGraph
from graphrag_mcp.text.words import words_of

MOST_TEXTS = 5  # Removed texts for which other files are searched.
COMMON = 30  # Lines; a text that more lines have names nothing in particular.
_TEXT = re.compile(r"""(["'`])([^"'`\\\n${}]{4,80})\1""")  # In quotes, without values that are filled in.
# What it imports concerns no other file: `import "bytes"`, `import ( … )`, `export { a } from "./bytes"`.
_IMPORTING = re.compile(
    r"^[ \t]*(?:import[ \t]*\([^()]*\)|(?:import\b|from\b|export\b.*\bfrom\b|#[ \t]*include\b).*)", re.MULTILINE
)
# Letters of a removed text, and characters of a file in which texts are compared.
LEAST_LETTERS, MOST_COMPARED = 4, 1_000_000
NEARER = 0.3  # The factor by which a test counts less for each relation between it and the change.
_TEST_WORDS = re.compile(r"^[tT]ests?[-_]?|[-_]?[tT]ests?$|[-_]spec$")


@shown(
    "base", "files", "broken", "not_decided", "reached", "tests", "tests_of_types", "test_commands", "tests_changed",
    "is_deeper", "without_definition", "together", "files_left", "doubt", "texts_left",
)  # fmt: skip
class DiffImpact(Struct, Tested, frozen=True):
    """What a difference of files affects, the gravest changes first, and the nearest tests first.

    files: how many differ. tests_changed: how many definitions of tests do. without_definition: files without a changed
    definition. files_left: how many were not compared. together: files that usually change with one of them, and did
    not. reached: what depends on a direct dependant. is_deeper, build_files, tests_of_types: as in `Impact`.
    texts_left: texts in quotes that the change removes from its files, with the lines of others that have them.
    types_tested: the types that `tests_of_types` reach.
    """

    base: str
    affected: tuple[Affected, ...]
    tests: tuple[RankedTest, ...]
    files: int
    without_definition: tuple[str, ...] = ()
    files_left: int = 0
    together: tuple[Companion, ...] = ()
    doubt: Doubt = NO_DOUBT
    tests_changed: int = 0
    is_deeper: bool = False
    build_files: Mapping[str, str] = field(default_factory=dict)
    reached: tuple[Reached, ...] = ()
    tests_of_types: tuple[CodeNode, ...] = ()
    types_tested: tuple[CodeNode, ...] = ()
    texts_left: Mapping[str, tuple[Line, ...]] = field(default_factory=dict)

    @property
    def levels(self) -> Iterator[list[CodeNode]]:
        """What changed, and the code that depends on it, the nearest first."""
        yield [row.node for row in self.affected if row.node is not None]
        yield [node for row in self.affected for node in row.on_the_way]
        yield [row.node for row in self.reached]

    @property
    def broken(self) -> int:
        """How many lines outside the change certainly do not fit any more."""
        return len({place.site for affected in self.affected for place in affected.breaks})

    @property
    def not_decided(self) -> int:
        """How many certain dependants may not fit any more, in languages in which that is not known."""
        places = (place for row in self.affected if not row.is_decided for place in row.may_break)
        return sum(place.certainty is Certainty.CERTAIN for place in places)


def find_diff_impact(
    graph: SymbolGraph,
    relations: Relations,
    difference: Difference,
    hops: int,
    scope: Scope,
    read: Read,
) -> DiffImpact:
    """Return what depends on the definitions that differ, as far as the index has it now."""
    compared = [(file, compare(file)) for file in difference.files]
    changed = [definition for _, definitions in compared for definition in definitions]
    edits = [
        Edit(file.path, *map(_decoded, (file.old, file.new)))
        for file, definitions in compared
        if any(definition.is_breaking and definition.change is Change.SIGNATURE for definition in definitions)
    ]
    unfitting = relations.misfits.calls(edits, partial(_read_text, read))
    nodes = list(_nodes(graph, changed))
    inside = {node.node_id for _, node in nodes if node is not None}
    dependants = Dependants(graph, relations, scope, changed, inside, unfitting)
    of_code = [pair for pair in nodes if pair[0].category is not Category.TESTS]
    affected, whole = [], NO_DOUBT
    for definition, node in sorted(of_code, key=lambda pair: list(Change).index(pair[0].change)):
        reached, doubt = dependants.of(definition, node)
        if definition.change is not Change.MOVED or reached.breaks:
            affected.append(reached)
            whole |= doubt
    concerned = {definition.path for definition in changed}
    plain = tuple(sorted(file.path or file.before for file in difference.files
                         if concerned.isdisjoint((file.path, file.before))))  # fmt: skip
    changed_nodes = [node for definition, node in nodes if node and definition.change is not Change.MOVED]
    starts = [*changed_nodes, *filter(None, map(graph.file, plain))]
    gone = [row for row in affected if row.node is None or row.definition.change is Change.MOVED]
    left = [place.node for row in gone for place in row.breaks]
    code = [node for node in (*starts, *left) if node.category is not Category.TESTS]
    impact = find_impact(graph, relations, code, hops, scope, with_members=False)
    whole |= Doubt(is_cut=impact.doubt.is_cut, undecided_on_the_way=impact.doubt.undecided_on_the_way)
    perhaps = [place.node for row in gone for place in row.may_break]
    tests = [
        *(RankedTest(node, 0) for node in _tests_among(starts)),
        *(RankedTest(node, 1) for node in _tests_among(left)),
        *(RankedTest(row.node, row.hops, row.is_guess) for row in impact.tests),
        *(RankedTest(node, 1, is_guess=True) for node in _tests_among(perhaps)),
    ]
    return DiffImpact(
        difference.base, without_certain(without_declarations(affected)), _ranked(tests, changed),
        len(difference.files), plain, difference.left, doubt=whole, is_deeper=impact.is_deeper,
        tests_changed=sum(row.category is Category.TESTS and row.change is not Change.MOVED for row in changed),
        reached=tuple(row for row in impact.reached if row.hops > 1 and not (row.is_guess or row.node.is_file)),
        texts_left=_texts_left(graph, difference, scope),
    )  # fmt: skip


def _texts_left(graph: SymbolGraph, difference: Difference, scope: Scope) -> dict[str, tuple[Line, ...]]:
    """Return the texts in quotes that the files lose, each with the lines of other files that have it, if they are few.

    A test that starts the program, or a document, depends on what it prints.
    """
    own = {path for file in difference.files for path in (file.before, file.path)}
    texts = dict.fromkeys(text for file in difference.files if file.path for text in _removed_texts(file))
    left: dict[str, tuple[Line, ...]] = {}
    for text in islice(texts, MOST_TEXTS):
        lines = [
            (path, first + number)
            for path, _, first, chunk in graph.texts((text,), scope)
            if path not in own
            for number, line in enumerate(chunk.split("\n"))
            if text in line
        ]
        if 0 < len(lines) <= COMMON:
            left[text] = tuple(dict.fromkeys(lines))
    return left


def _removed_texts(file: Differing) -> Iterator[str]:
    """Yield the texts in quotes that a file had and has no more."""
    old, new = map(_decoded, (file.old, file.new))
    if max(len(old), len(new)) <= MOST_COMPARED:
        kept = {match[2] for match in _TEXT.finditer(new)}
        texts = dict.fromkeys(match[2] for match in _TEXT.finditer(_IMPORTING.sub("", old)))
        yield from (text for text in texts if text not in kept and sum(map(str.isalpha, text)) >= LEAST_LETTERS)


def _decoded(data: bytes) -> str:
    return data.decode(errors="replace")


def _read_text(read: Read, path: str) -> str | None:
    return next((_decoded(data) for _, data in read([path]) if data is not None), None)


def _tests_among(nodes: Iterable[CodeNode]) -> Iterator[CodeNode]:
    return (node for node in nodes if node.category is Category.TESTS)


def _nodes(
    graph: SymbolGraph, changed: Sequence[ChangedDefinition]
) -> Iterator[tuple[ChangedDefinition, CodeNode | None]]:
    """Yield definitions with what the index has of them."""
    inside = (node for path in {definition.path for definition in changed} for node in graph.in_file(path))
    named = grouped(((node.path, node.qualified_name, node.kind), node) for node in inside)
    for definition in changed:
        yield definition, _node(named[definition.path, definition.symbol, definition.kind], definition)


def _node(nodes: Sequence[CodeNode], definition: ChangedDefinition) -> CodeNode | None:
    """Return what the index has of a definition; of a removed one only if it is still there: a patch to be applied."""
    if definition.change is Change.REMOVED:
        nodes = [node for node in nodes if (node.start_line, node.signature) == (definition.line, definition.signature)]
    return min(nodes, key=lambda node: abs(node.start_line - definition.line), default=None)


def _ranked(tests: Iterable[RankedTest], changed: Sequence[ChangedDefinition]) -> tuple[RankedTest, ...]:
    """Return each test once, those of the file that the change concerns most first, then the nearest.

    A file counts the sum of NEARER^hops of its tests, as often as a test shares words with what changed, and 1 more if
    it is called like a changed file.
    """
    first = firsts(tests, lambda test: test.node.node_id)
    names = {_stem(definition.path) for definition in changed}
    words = {word for definition in changed for word in words_of(definition.symbol)}
    worth: dict[str, float] = {test.node.path: float(_stem(test.node.path) in names) for test in first}
    for test in first:
        shared = words.intersection(words_of(test.node.name))
        worth[test.node.path] += NEARER**test.hops * (1 + len(shared))
    return tuple(sorted(first, key=lambda test: (-worth[test.node.path], test.node.path, test.hops)))


def _stem(path: str) -> str:
    """Return the name of a file without what says that it is a test."""
    return _TEST_WORDS.sub("", PurePosixPath(path).name.partition(".")[0])


def not_changed(companions: Sequence[Companion], changed: set[str]) -> tuple[Companion, ...]:
    """Return the files that usually change together with a changed one and did not, each once, the closest first."""
    closest = sorted(companions, key=lambda companion: -companion.together / companion.of)
    return tuple(companion for companion in firsts(closest, attrgetter("path")) if companion.path not in changed)
