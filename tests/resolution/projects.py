"""Small projects in source text, parsed by the real reader and resolved by the real resolver."""

import posixpath
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import cached_property

from graphrag_mcp.languages.grammars import load_grammar
from graphrag_mcp.languages.manifests import read_manifest
from graphrag_mcp.languages.registry import detect_language
from graphrag_mcp.languages.syntax import SourceCode
from graphrag_mcp.model.facts import Declared, FileFacts, Mention, SymbolId, Use, identities_of
from graphrag_mcp.model.files import Manifest, Relation, RelationKind, SymbolKind
from graphrag_mcp.model.links import How, Place, StoredLink, place_id
from graphrag_mcp.model.sources import Keyed, Named
from graphrag_mcp.parsing.code.symbols import read_outline
from graphrag_mcp.parsing.facts.reader import read_facts
from graphrag_mcp.resolution.linking import Linker
from graphrag_mcp.resolution.references import References
from graphrag_mcp.resolution.resolver import Resolver
from graphrag_mcp.stores.sqlite.links import pack_links

UNDECIDED = "?"
OTHER = "-"  # Not of the project, or no declaration: a variable, a parameter.
_MARKS = "«»"


class Project:
    """The facts of a few files, in memory; a name that is asked for stands between « and »."""

    def __init__(self, files: Mapping[str, str]) -> None:
        self._marked = files
        self._texts = {path: _plain(text) for path, text in files.items()}
        self._facts = {path: facts for path, text in self._texts.items() if (facts := read(path, text))}
        self._manifests = [found for path, text in self._texts.items() if (found := read_manifest(path, text))]

    def facts(self, path: str) -> FileFacts | None:
        return self._facts.get(path)

    def paths(self) -> list[str]:
        """Return the paths of the files with facts."""
        return sorted(self._facts)

    def has(self, path: str) -> bool:
        return path in self._facts

    def unit(self, path: str) -> str:
        return self._facts[path].unit

    def unit_of_folder(self, folder: str) -> str:
        return next((self.unit(path) for path in self._facts if posixpath.dirname(path) == folder), "")

    def has_unit(self, unit: str) -> bool:
        return any(facts.unit == unit for facts in self._facts.values())

    def find(self, unit: str, qualified_name: str) -> Sequence[SymbolId]:
        return [
            symbol
            for symbol, one in self._declared()
            if self.unit(symbol.path) == unit and one.qualified == qualified_name
        ]

    def manifests(self) -> Sequence[Manifest]:
        return self._manifests

    def methods(self, unit: str, owner: str) -> Sequence[SymbolId]:
        return [
            symbol
            for symbol, one in self._declared()
            if self.unit(symbol.path) == unit
            and (one.kind, one.qualified) == (SymbolKind.METHOD, f"{owner}.{one.name}")
        ]

    def named(self, name: str) -> Sequence[SymbolId]:
        return [symbol for symbol, one in self._declared() if one.name == name]

    def places_of(self, name: str) -> Sequence[int]:
        return [self.search.place(symbol) for symbol in self.named(name)]

    def outline(self, _path: str) -> Sequence[Relation]:
        return ()

    def file(self, path: str) -> Keyed | None:
        return Keyed(path, self._facts[path].language, False) if path in self._facts else None

    def inside(self, _path: str) -> Sequence[Named]:
        return ()

    def called(self, _name: str) -> Sequence[Named]:
        return ()

    def keyed(self, _key: str) -> Sequence[Keyed]:
        return ()

    def unparsed(self, name: str, language: str) -> tuple[str, ...]:
        return tuple(
            path
            for path in sorted(self._facts)
            if name in self._texts[path] and self._facts[path].has_errors and self._facts[path].language == language
        )

    def placed(self, places: Iterable[int]) -> dict[int, SymbolId]:
        wanted = set(places)
        found = {
            place_id(Place(path, identity)): SymbolId(path, number)
            for path, facts in self._facts.items()
            for number, identity in enumerate(identities_of(facts))
        }
        return {place: symbol for place, symbol in found.items() if place in wanted}

    @cached_property
    def search(self) -> References:
        """The search over the links of all files."""
        return References(self, MemoryLinks(self))

    @cached_property
    def resolver(self) -> Resolver:
        return Resolver(self)

    def answers(self) -> list[str]:
        """Return what each marked name refers to: "file:line name", several with commas; OTHER or UNDECIDED."""
        return [self._answer(path, at) for path, text in self._marked.items() for at in _marked(text)]

    def answer(self) -> str:
        """Return what the only marked name refers to."""
        (found,) = self.answers()
        return found

    def unmentioned(self) -> bool:
        """Return whether a marked name is no mention: it reads or writes a variable."""
        wanted = [(path, at) for path, text in self._marked.items() for at in _marked(text)]
        return any(all(one.at != at for one in self._facts[path].mentions) for path, at in wanted)

    def _declared(self) -> Iterator[tuple[SymbolId, Declared]]:
        for path, facts in self._facts.items():
            for number, one in enumerate(facts.declared):
                yield SymbolId(path, number), one

    def _answer(self, path: str, at: int) -> str:
        found = self.resolver.resolve(path, self._mention(path, at))
        if found is None:
            return UNDECIDED
        declared = ((symbol.path, self.resolver.declared(symbol)) for symbol in found.symbols)
        return ", ".join(f"{path}:{one.line} {one.name}" for path, one in declared) or OTHER

    def _mention(self, path: str, at: int) -> Mention:
        return next(one for one in self._facts[path].mentions if one.at == at)


class MemoryLinks:
    """The links of a project, as an index stores them."""

    def __init__(self, project: Project) -> None:
        linker = Linker(project)
        self._found: dict[int, list[StoredLink]] = {}
        for path in project.paths():
            for target, position, source, kind, use, how, given, receiver in pack_links(path, linker.link(path).links):
                kinds = (list(RelationKind)[kind], ["", *map(str, Use)][use], How(how))
                link = StoredLink(target, path, position >> 8, source, *kinds, given, receiver)
                self._found.setdefault(target, []).append(link)

    def to(self, targets: Collection[int], hows: Collection[How], /) -> list[StoredLink]:
        return [link for target in targets for link in self._found.get(target, ()) if link.how in hows]

    def of(self, path: str, /) -> list[StoredLink]:
        return [link for links in self._found.values() for link in links if link.path == path]

    def pending(self, _names: Collection[str], /) -> Sequence[str]:
        return ()

    def unresolved(self, _path: str, /) -> bool:
        return False


def read(path: str, text: str) -> FileFacts | None:
    """Return the facts of a file; None where its language has none."""
    grammar = load_grammar(language) if (language := detect_language(path)) else None
    if grammar is None:
        return None
    code = SourceCode(text)
    matches = grammar.find(grammar.parse(code), code)
    return read_facts(matches, grammar, path, code, read_outline(matches, grammar, path, code).definitions)


def _plain(text: str) -> str:
    for mark in _MARKS:
        text = text.replace(mark, "")
    return text


def _marked(text: str) -> list[int]:
    """Return the byte offsets of the marked names in the plain text."""
    parts = text.split("«")
    offsets = []
    length = 0
    for part in parts[:-1]:
        length += len(_plain(part).encode())
        offsets.append(length)
    return offsets
