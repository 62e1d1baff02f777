"""Resolves a file of a language without facts: by its imports, by what it declares itself, and by names.

A name means what the file declares, else the only thing of the project that has it, else it is shared: each of a few
things of that name may be meant. What many things are called means none of them. Several definitions may be one thing:
the overloads of a file, or what a header declares and other files define. No code means a heading.
"""

from bisect import bisect_left, bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from operator import attrgetter

from graphrag_mcp.languages.language import ImportStyle, Language
from graphrag_mcp.languages.registry import describe, platform_of
from graphrag_mcp.model.facts import Use
from graphrag_mcp.model.files import (
    ANY_COUNT,
    BARE_CONFIDENCE,
    BASE_CONFIDENCE,
    CALLABLE,
    HEADER_SUFFIXES,
    MACRO,
    Relation,
    RelationKind,
    Resolution,
    SymbolKind,
)
from graphrag_mcp.model.links import How, Link, Place
from graphrag_mcp.model.sources import Keyed, Named
from graphrag_mcp.resolution.candidates import (
    NOTHING,
    Called,
    Candidate,
    Meant,
    are_overloads,
    candidate_of,
    count_symbols,
    fitting,
    guess,
    is_member,
    one_or_guess,
    owner_name,
    scopes,
)
from graphrag_mcp.resolution.owners import USED, Definitions, Inherited, NamedModules, Owners
from graphrag_mcp.resolution.reads import MOST_OF_A_NAME, Reads
from graphrag_mcp.text.names import without_constructor

_HIDING = (SymbolKind.MODULE, *CALLABLE)
SURE = 0.8  # The least confidence of what an import or the file itself decides.
_LINKING = (RelationKind.LINKS_TO, RelationKind.SUPERSEDES)
_OF_FILES = (RelationKind.IMPORTS, *_LINKING)
_UNTOLD = (RelationKind.CONTAINS, RelationKind.TESTS, *_LINKING)
_OF_MODULES = (Resolution.IMPORT, Resolution.LOCAL)
_SCOPES = (SymbolKind.TYPE, SymbolKind.MODULE)
_CALLING = (RelationKind.CALLS, RelationKind.TESTS)  # These mean the function where a field has the same name.
_OF_ONE = (RelationKind.CALLS, RelationKind.HANDS_ON)  # Of overloads, one.
_SCOPED = (RelationKind.CALLS, RelationKind.INHERITS, RelationKind.USES, RelationKind.HANDS_ON, RelationKind.TESTS)
_MEANT_BY = {
    **dict.fromkeys(RelationKind, frozenset(SymbolKind) - {SymbolKind.SECTION}),
    **dict.fromkeys(_LINKING, frozenset(SymbolKind)),
    RelationKind.CALLS: frozenset(SymbolKind) - {SymbolKind.SECTION, SymbolKind.MODULE},
    RelationKind.USES: USED,
    RelationKind.INHERITS: USED,
    RelationKind.HANDS_ON: CALLABLE,
}
_NEVER_MEANT = {  # The language's own is one more candidate for the name of a builtin.
    Resolution.UNKNOWN: (SymbolKind.FUNCTION,),
    Resolution.MEMBER: (SymbolKind.FUNCTION,),
    Resolution.BUILTIN: (SymbolKind.METHOD, SymbolKind.FIELD),
}
_RARELY_MEANT = {  # The type is meant, and not its constructors.
    RelationKind.CALLS: SymbolKind.FIELD,
    RelationKind.IMPORTS: SymbolKind.METHOD,
    RelationKind.INHERITS: SymbolKind.METHOD,
}


class InSight:
    """The blocks of one file. named: its definitions by their qualified names."""

    def __init__(self, path: str, language: Language, named: Mapping[str, Sequence[Named]]) -> None:
        self._path, self._named = path, named
        self._has_blocks, self._roots = language.inner_modules, language.packages.split()
        self._outer = {name.rpartition(".")[0] for name in named}

    def block(self, name: str) -> str:
        """Return the module around a definition, or the function that has definitions, "" for the file.

        In all of it names mean the same.
        """
        name = name if self._has_blocks else ""
        while name and not any(
            each.kind is SymbolKind.MODULE or (each.kind in CALLABLE and name in self._outer)
            for each in self._named.get(name, ())
        ):
            name = name.rpartition(".")[0]
        return name

    def of(self, line: int, local: Sequence[Candidate]) -> Sequence[Candidate]:
        """Return the definitions of the file that a name on a line can mean: those of the innermost block."""
        if not self._has_blocks:
            return local
        in_sight: dict[int, list[Candidate]] = {}  # By the line in which the block begins, 0 for the file.
        for each in local:
            blocks = self._around(each.name)
            lines = [block.start_line for block in blocks if block.start_line <= line <= block.end_line]
            if (lines or not blocks) and not self.is_hidden(line, each):
                in_sight.setdefault(max(lines, default=0), []).append(each)
        return in_sight[max(in_sight)] if in_sight else ()

    def is_hidden(self, line: int, each: Candidate) -> bool:
        """Return whether a name on a line cannot mean a definition of the file: one in a function, or `Self::Error`."""
        if not self._has_blocks or each.path != self._path:
            return False
        outer, blocks = self._named.get(each.name.rpartition(".")[0], ()), self._around(each.name)
        if each.kind is SymbolKind.TYPE and any(around.kind is SymbolKind.TYPE for around in outer):
            return True
        return bool(blocks) and not any(
            block.kind not in CALLABLE or block.start_line <= line <= block.end_line for block in blocks
        )

    def beside(self, module: str, possible: Sequence[Candidate]) -> Sequence[Candidate]:
        """Return what a name means in the package of the file, or by its import from a module."""
        packages = (module, module.rpartition("/")[0]) if module else (self._package(self._path),)
        top = (each for each in possible if self._roots and "." not in each.name)
        return [each for each in top if self._package(each.path) in packages]

    def _package(self, path: str) -> str:
        folders = path.split("/")[:-1]
        first = next((place + 1 for place, folder in enumerate(folders) if folder in self._roots), 0)
        return "/".join(folders[first:]) if self._roots != ["*"] else ""

    def _around(self, name: str) -> Sequence[Named]:
        """Return the innermost module or function around a definition."""
        while name := name.rpartition(".")[0]:
            if blocks := [each for each in self._named.get(name, ()) if each.kind in _HIDING]:
                return blocks
        return ()


def macro_name(name: str) -> str:
    """Return the name by which a macro is linked, which is none of a function."""
    return name + MACRO


def linked_name(relation: Relation) -> str:
    """Return the name by which a relation is linked."""
    return macro_name(relation.target) if relation.target_module == MACRO else relation.target


class NameResolution:
    """The resolution of one file."""

    def __init__(self, source: Reads, file: Keyed) -> None:
        self._source, self._file = source, file
        self._language, self._platform = describe(file.language), platform_of(file.language)
        self._is_header = file.path.endswith(HEADER_SUFFIXES)
        self._declaring = [file.path] if self._is_header else []
        self._modules = NamedModules(source, file.path, self._language)
        self._definitions = Definitions(source, file)
        self._named: defaultdict[str, list[Named]] = defaultdict(list)
        self._inherited = Inherited(source, file, self._definitions)
        self._owners = Owners(source, file, self._modules, self._definitions, self._inherited)
        self._all_called: dict[tuple[object, ...], Called] = {}
        self._meanings: dict[Relation, Meant] = {}
        for named in sorted(source.inside(file.path), key=attrgetter("start_line")):
            self._named[named.qualified_name].append(named)
        self._own = {name.rpartition(".")[2] for name in self._named}
        self._sight = InSight(file.path, self._language, self._named)
        self._block = cache(self._sight.block)

    def links(self) -> Iterator[Link]:
        """Yield the links of the relations that the file states, and of the methods that override others."""
        for relation in map(self._owners.followed, self._source.outline(self._file.path)):
            source = self._around(relation)
            files = self._files(relation)
            of_file = self._choose(relation, files)
            is_module = relation.kind is RelationKind.IMPORTS and any(each.nearness > 1 for each in files)
            meaning = NOTHING if is_module else self._meaning(relation)
            if links := [*self._link(relation, meaning, source), *self._link(relation, of_file, source)]:
                yield from links
                if relation.kind is RelationKind.CALLS:
                    types = ((each.path, each.name) for each in meaning.chosen if each.kind is SymbolKind.TYPE)
                    run = [candidate_of(each) for kind in types for each in self._inherited.run_by_creation(kind)]
                    yield from self._link(relation, self._of_overloads(relation, Meant(meaning.how, run)), source)
                elif relation.kind is RelationKind.INHERITS:
                    yield from (
                        Link(source, link.target, relation.line, relation.kind, "", How.ABOVE) for link in links
                    )
                    above = ((each.path, each.name) for each in meaning.chosen)
                    self._inherited.add(relation.source, above, meaning.how)
            elif self._is_told(relation):
                is_foreign = (
                    relation.resolution is Resolution.LIBRARY
                    or self._owners.is_of_unknown(relation)
                    or (self._is_bare(relation) and not (self._language.bare_members or self._called(relation).all))
                )
                how = How.OUTSIDE if is_foreign else How.UNDECIDED
                yield Link(Place("", linked_name(relation)), source, relation.line, relation.kind, "", how)
        yield from self._inherited.links()

    def _is_told(self, relation: Relation) -> bool:
        """Return whether an undecided relation is worth to be told: most values that are handed on are no functions."""
        if relation.kind in _UNTOLD or relation.resolution is Resolution.BUILTIN:
            return False
        is_value = relation.kind is RelationKind.HANDS_ON
        return not is_value or not (relation.owner or not self._called(relation).all)

    def _link(self, relation: Relation, meaning: Meant, source: Place | int) -> list[Link]:
        use = Use.BASE if relation.resolution is Resolution.BASE else ""
        return [
            Link(each.place, source, relation.line, relation.kind, use, meaning.how_of(each)) for each in meaning.chosen
        ]

    def _around(self, relation: Relation) -> Place | int:
        """Return the innermost definition of the relation's source: of an `impl` the type, in whatever file it is."""
        named = self._named.get(relation.source, [])
        around = _starting_last(named, relation.line)
        around = [each for each in around if relation.line <= each.end_line] or [
            each for each in named[:MOST_OF_A_NAME] if each.kind in (SymbolKind.TYPE, SymbolKind.MODULE)
        ][:1]
        if not named and relation.kind is RelationKind.INHERITS:
            definitions = self._definitions.of(relation.source.rpartition(".")[2], (SymbolKind.TYPE,))
            types = [each for each in definitions if each.qualified_name == relation.source]
            around = types if len(types) == 1 else []
        innermost = min(around, key=lambda each: each.end_line - each.start_line, default=None)
        return innermost.place if innermost else Place(self._file.path, "")

    # ------------------------------------------------------------ what may be meant

    def _meaning(self, relation: Relation) -> Meant:
        """Return what a relation means, which others like it elsewhere in the file mean, too."""
        if relation.resolution is Resolution.SYNTAX:
            return self._of_syntax(relation)
        source = relation.source
        if relation.resolution is not Resolution.BASE:  # What is in sight is the same in all of a block.
            source = self._block(source) or next(self._scopes(relation), "")
        like = relation._replace(source=source, line=0)
        if like not in self._meanings:
            found = self._found(relation)
            if relation.kind in _CALLING and found.how is How.SAID and not self._language.calls_fields:
                others = [each for each in found.chosen if each.kind is not SymbolKind.FIELD]
                found = found._replace(chosen=others or found.chosen)
            self._meanings[like] = self._of_overloads(relation, found)
        return self._meanings[like]

    def _of_overloads(self, relation: Relation, meaning: Meant) -> Meant:
        """Return what is meant, with whether only one of its functions is.

        One that does not take what is given is meant, if it is the only one: it was changed.
        """
        is_one = self._language.overloads and relation.kind in _OF_ONE and are_overloads(meaning.chosen)
        return meaning._replace(is_one=is_one)

    def _of_syntax(self, relation: Relation) -> Meant:
        """Return what the source says whose member it is."""
        name = f"{relation.source}.{relation.target}".removeprefix(".")
        here = _starting_last(self._named.get(name, ()), relation.line)
        here = [each for each in here if each.start_line == relation.line and self._may_mean(relation, each)]
        return Meant(How.SAID, list(map(candidate_of, here))) if here else NOTHING

    def _found(self, relation: Relation) -> Meant:
        called = self._called(relation)
        if relation.owner and (owned := self._owners.of(relation, called)) is not None:
            return owned
        if around := next((called.in_scope[name] for name in self._scopes(relation)), None):
            here = [each for each in around if each.path == self._file.path]
            return one_or_guess(How.SAID, here if here and count_symbols(around) > 1 else around)
        modules = self._modules.of(relation)
        is_own = self._is_header and relation.resolution is Resolution.LOCAL and not relation.owner
        declared = self._declared(called) if is_own or self._is_bare(relation) else ()
        if len(declared) <= MOST_OF_A_NAME and count_symbols(declared) == 1:
            return Meant(How.SAID, declared)
        possible = called.all if called.is_known else called.inside({self._file.path: None} | dict.fromkeys(modules))
        nearer = [each._replace(nearness=int(each.path in modules)) for each in possible]
        meant = self._choose(relation, nearer, is_of_known_module=bool(modules))
        is_foreign = relation.owner and relation.resolution is Resolution.IMPORT and not modules
        return Meant(max(meant.how, How.NAMED), meant.chosen) if is_foreign else meant  # No surer than by name.

    def _scopes(self, relation: Relation) -> Iterator[str]:
        """Yield the qualified names, from the inside, of what a bare name means in the types and modules around it."""
        is_bare = not relation.owner and (self._is_bare(relation) or relation.resolution is Resolution.LOCAL)
        if is_bare and relation.kind in _SCOPED and not self._language.inner_modules:
            in_scope = self._called(relation).in_scope
            around = (scope for scope in scopes(relation.source) if self._is_scope(scope))
            yield from (name for scope in around if (name := f"{scope}.{relation.target}") in in_scope)

    def _is_in_table(self, each: Named) -> bool:
        """Return whether a function is the field of a table, and so is not called without it."""
        around = each.qualified_name.rpartition(".")[0]
        return not self._language.inner_modules and bool(around) and not self._is_scope(around)

    def _is_scope(self, name: str) -> bool:
        """Return whether a definition of the file has names of its own: no table of which functions are fields."""
        return any(each.kind in (*CALLABLE, *_SCOPES) for each in self._named.get(name, ()))

    def _declared(self, called: Called) -> Sequence[Candidate]:
        """Return what the file, as a header, or one that it includes declares, with its definitions elsewhere."""
        names = {
            each.name for path in (*self._declaring, *self._modules.included) for each in called.in_file.get(path, ())
        }
        return [each for each in called.all if each.name in names] if names else ()

    def _called(self, relation: Relation) -> Called:
        """Return the definitions of a name that a relation may mean; archived ones only where there are no others.

        Those that take another number of arguments than a call gives are left out if one takes it.
        """
        is_macro, has_no_receiver = relation.target_module == MACRO, self._has_no_receiver(relation)
        is_of_unknown = not relation.owner and relation.confidence < BARE_CONFIDENCE
        definitions = self._source.called(relation.target)
        given = relation.given if len(definitions) <= MOST_OF_A_NAME else ANY_COUNT
        key = relation.target, relation.kind, is_macro, has_no_receiver, is_of_unknown, given
        if key not in self._all_called:
            every = [each for each in definitions if self._may_mean(relation, each)]
            fits = fitting(every, given, has_overloads=self._language.headers and self._language.overloads)
            every = fits or ([] if is_of_unknown else every)  # Else a definition was changed.
            shown = [each for each in every if not each.file.is_archived] or every
            self._all_called[key] = Called(list(map(candidate_of, shown)))
        return self._all_called[key]

    def _may_mean(self, relation: Relation, each: Named) -> bool:
        is_here = each.file.path == self._file.path
        if not (is_here or relation.kind in _LINKING or each.file.language in self._platform):
            return False
        is_import, is_of_macro = relation.kind is RelationKind.IMPORTS, relation.target_module == MACRO
        if not (self._language.imports_names if is_import else is_of_macro == each.is_macro):
            return False
        if each.is_number and relation.kind is RelationKind.CALLS and self._language.headers:
            return False
        is_owned = is_member(each) or self._is_in_table(each)
        if not self._language.bare_members and is_owned and self._has_no_receiver(relation):
            return False
        if each.is_static and describe(each.file.language).headers and not each.file.path.endswith(HEADER_SUFFIXES):
            return is_here
        if each.is_private and self._language.hides_private and not is_here:
            return owner_name(each.qualified_name) in self._own  # A part of its type is here.
        is_value = relation.kind is RelationKind.HANDS_ON
        is_made = is_value and without_constructor(each.qualified_name) != each.qualified_name
        return each.kind in _MEANT_BY[relation.kind] and not is_made

    def _is_bare(self, relation: Relation) -> bool:
        """Return whether a name has no receiver, and nothing in the file declares it."""
        return relation.confidence >= BARE_CONFIDENCE and relation.resolution is Resolution.UNRESOLVED

    def _has_no_receiver(self, relation: Relation) -> bool:
        is_of_module = self._language.inner_modules and not relation.owner and relation.resolution in _OF_MODULES
        return is_of_module or self._is_bare(relation)

    # ------------------------------------------------------------ whole files

    def _files(self, relation: Relation) -> list[Candidate]:
        """Return the files that a relation imports or links to as a whole."""
        if relation.kind not in _OF_FILES or not relation.target_module:
            return []
        defines = {each.file.path for each in self._source.called(relation.target)}
        inside = f"{relation.target_module}/{relation.target}"
        keyed = [(file, 1) for file in self._modules.named(relation.target_module) if file.path not in defines]
        keyed += [(file, 2) for file in self._modules.named(inside)]
        others = [pair for pair in keyed if pair[0].path != self._file.path and self._may_import(relation, pair[0])]
        return [
            Candidate(file.path, file.path, SymbolKind.MODULE, Place(file.path, ""), near)
            for file, near in [pair for pair in others if not pair[0].is_archived] or others
        ]

    def _may_import(self, relation: Relation, file: Keyed) -> bool:
        if relation.kind is not RelationKind.IMPORTS:
            return True
        match self._language.imports:
            case ImportStyle.INCLUDE:  # A header is included by its whole name.
                return f"/{file.path}".endswith(f"/{relation.target}")
            case ImportStyle.PATH | ImportStyle.NAMESPACE:  # A file, in whatever language.
                return True
            case ImportStyle.DOTTED:
                return file.language in self._platform
        return file.language == self._file.language

    # ------------------------------------------------------------ which of them

    def _choose(self, relation: Relation, possible: Sequence[Candidate], *, is_of_known_module: bool = False) -> Meant:
        if len(possible) > MOST_OF_A_NAME:
            return NOTHING
        possible = [each for each in possible if each.kind not in _NEVER_MEANT.get(relation.resolution, ())]
        if not possible or relation.resolution in (Resolution.UNKNOWN, Resolution.BUILTIN):
            return guess(possible)
        if relation.resolution is Resolution.BASE:
            return self._of_base(relation, possible)
        possible = [each for each in possible if each.kind is not _RARELY_MEANT.get(relation.kind)] or possible
        ways = self._ways(relation, possible, is_of_known_module=is_of_known_module)
        return next((one_or_guess(how, chosen) for how, chosen in ways if chosen), NOTHING)

    def _ways(
        self, relation: Relation, possible: Sequence[Candidate], *, is_of_known_module: bool
    ) -> Sequence[tuple[How, Sequence[Candidate]]]:
        """Return the candidates of each way in which a name may be meant, the surest first."""
        local = self._sight.of(relation.line, [each for each in possible if each.path == self._file.path])
        nearest = max(1, *(each.nearness for each in possible))  # Those with 0 are in modules that are not named.
        imported = [each for each in possible if each.nearness == nearest]
        if self._language.inner_modules:  # A module inside of a file is none that an import means.
            imported = [each for each in imported if "." not in each.name] or imported
        by_name = [
            each
            for each in possible
            if _is_importable(relation, each) and not self._sight.is_hidden(relation.line, each)
        ]
        said = How.SAID if relation.confidence >= SURE else How.NAMED
        is_declared = self._language.inner_modules and self._is_bare(relation)
        is_alone = self._is_bare(relation) or (relation.resolution is Resolution.IMPORT and not relation.owner)
        beside = self._sight.beside(relation.target_module, possible) if is_alone and not imported else ()
        ways = [(How.SAID if is_declared else said, local), (said, imported), (How.SAID, beside), (How.NAMED, by_name)]
        if relation.resolution is Resolution.LIBRARY:  # Unless the project has a module of that name.
            return ways[1:2]
        if relation.resolution is Resolution.IMPORT:  # `module.name` is not what this file defines by that name.
            return [ways[1], *ways[3:]] if is_of_known_module else [*ways[1:3], ways[0], ways[3]]
        return ways

    def _is_of_base(self, relation: Relation, each: Candidate) -> bool:
        """Return whether `super().name()` may mean a member: one of another type than that in which it stands."""
        is_inside = relation.source.startswith(each.name.rpartition(".")[0] + ".")
        return each.kind is not SymbolKind.FUNCTION and not (is_inside and each.path == self._file.path)

    def _of_base(self, relation: Relation, possible: Sequence[Candidate]) -> Meant:
        """Return which member `super().name()` means, of another type: what the file shows, else it is a guess."""
        others = [each for each in possible if self._is_of_base(relation, each)]
        local = [each for each in others if each.path == self._file.path]
        if relation.confidence >= BASE_CONFIDENCE and count_symbols(local) == 1:
            return Meant(How.SAID, local)
        around = (each for name in scopes(relation.source) for each in self._named.get(name, ()))
        kind = next((each.qualified_name for each in around if each.kind is SymbolKind.TYPE), "")
        above = self._inherited.above((self._file.path, kind), relation.target)
        return one_or_guess(How.NAMED, list(map(candidate_of, above))) if above else guess(others)


def _starting_last(named: Sequence[Named], line: int) -> Sequence[Named]:
    """Return those of definitions of one name, none of which contains another, that start last before a line."""
    end = bisect_right(named, line, key=attrgetter("start_line"))
    start = bisect_left(named, named[end - 1].start_line, key=attrgetter("start_line")) if end else 0
    return named[start:end]


def _is_importable(relation: Relation, each: Candidate) -> bool:
    """Return whether a relation may mean it by its name: no `#include <stdio.h>` means a field called `stdio`."""
    return relation.kind is not RelationKind.IMPORTS or each.kind not in (SymbolKind.FIELD, SymbolKind.METHOD)
