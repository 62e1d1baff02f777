"""Where a definition is used that is not there any more."""

from collections.abc import Iterator, Mapping, Sequence, Set
from functools import lru_cache
from itertools import chain
from typing import TYPE_CHECKING

from graphrag_mcp.graph.code import IndexedCode
from graphrag_mcp.languages.policy import policy_of
from graphrag_mcp.languages.registry import FACT_LANGUAGES, describe, detect_language, platform_of
from graphrag_mcp.model.files import BARE_CONFIDENCE, OF_FIELD, Relation, RelationKind, Resolution, SymbolKind
from graphrag_mcp.model.graph import UNKNOWN_MODULE, Certainty, CodeEdge, CodeNode, Mentioned
from graphrag_mcp.model.grouping import grouped, preferred
from graphrag_mcp.model.links import BY_NAME, How, Place, StoredLink, place_id
from graphrag_mcp.model.scope import EVERYTHING, Scope
from graphrag_mcp.parsing.code.imports import module_key, module_keys

if TYPE_CHECKING:  # It imports the parser, which few questions need.
    from graphrag_mcp.graph.definitions import ChangedDefinition

_OF_VALUES = (Resolution.UNKNOWN, Resolution.BASE)
_KEPT = 1_000


class Removed:
    """Answers from one state of the index."""

    def __init__(self, code: IndexedCode) -> None:
        self._code = code
        self._said = lru_cache(_KEPT)(self._find_said)
        self._types = lru_cache(_KEPT)(self._find_types)
        self._is_below_others = lru_cache(_KEPT)(self._find_below_others)

    def uses(self, name: str, scope: Scope) -> list[Mentioned]:
        """Return where a name is used that means nothing in the project, or may mean anything of that name.

        module: that from which the file has the name (`module_keys`), UNKNOWN_MODULE where the receiver is not known.
        is_defined: whether something foreign is meant, as far as is known.
        """
        references = self._code.references
        number, others = place_id(Place("", name)), self._code.facts.places_of(name)
        links = references.to((number,), (How.UNDECIDED, How.FOREIGN, How.OUTSIDE))
        links += references.to(others, BY_NAME)
        mentions: dict[Mentioned, None] = {}
        with self._code.searching():
            for link in self._code.in_scope(links, scope):
                is_foreign = link.how in (How.FOREIGN, How.OUTSIDE)
                for module, receiver in self._meant(link, name):
                    is_meant = is_foreign or (link.how is not How.UNDECIDED and module not in ("", UNKNOWN_MODULE))
                    mentions[Mentioned(link.kind, name, module, link.path, link.line, is_meant, receiver)] = None
        return list(mentions)

    def given(self, definition: "ChangedDefinition", changed: Set[int], names: Mapping[str, int]) -> list[CodeEdge]:
        """Return where the type of a changed method is given as an interface that demands the method as it was.

        changed: the nodes of what changed; one of these demands something else now. names: how much that changed has a
        name; a line with that of something else may give the type to this.
        """
        path, code = definition.path, self._code
        owner, _, name = definition.symbol.rpartition(".")
        language = detect_language(path)
        if language not in FACT_LANGUAGES or not policy_of(language).members.method_sets:
            return []
        edges: dict[tuple[str, int], CodeEdge] = {}
        with code.searching():
            unit = code.facts.unit(path)
            kinds = [
                symbol
                for symbol in code.facts.named(owner.rpartition(".")[2])
                if code.resolver.declared(symbol).kind == SymbolKind.TYPE and code.facts.unit(symbol.path) == unit
            ]
            for link, demanded, is_sure in chain.from_iterable(
                code.hierarchy.method_sets.given(kind, name) for kind in kinds
            ):
                source, target = code.source_id(link.path, link.source), code.node_id(demanded.path, demanded)
                through = set(code.store.at_places((link.target,)).values())
                beside = (mention.name for mention in code.references.mentions(link.path, link.line))
                is_else = any(names.get(other, 0) > (other == name) for other in beside)
                is_sure = is_sure and through.isdisjoint(changed) and not is_else
                certainty = Certainty.CERTAIN if is_sure else Certainty.MAY_CALL
                if not {source, target} & changed:
                    edges[link.path, link.line] = CodeEdge(source, target, link.kind, link.path, link.line, certainty)
        return list(edges.values())

    def _meant(self, link: StoredLink, name: str) -> Iterator[tuple[str, int]]:
        """Yield the modules from which a file has a name that it uses on a line, and the types whose member it is."""
        facts = self._code.facts.facts(link.path)
        if facts is None:
            for said in self._said(link.path, name).get(link.line, ()):
                is_member = said.resolution in _OF_VALUES or (said.owner and not said.target_module)
                is_member = is_member or OF_FIELD in said.owner
                receiver = self._receiver(link.path, said) if link.how is How.UNDECIDED else 0
                yield UNKNOWN_MODULE if is_member else said.target_module, receiver
            return
        imported = {row.name or row.item: row for row in facts.imports}
        for mention in self._code.references.mentions(link.path, link.line):
            if mention.name == name:
                of, module = imported.get(mention.receiver or name), mention.receiver.strip('"')
                if of is not None:
                    module = of.module
                elif mention.receiver[:1] != '"':
                    yield UNKNOWN_MODULE if mention.receiver else "", link.receiver
                    continue
                yield module_key(facts.language, link.path, module, of.item if of else name), link.receiver

    def _receiver(self, path: str, said: Relation) -> int:
        """Return the place of the type whose member a name is, 0 if that is not known, or others may have the member.

        All that a type without others above it has is what it declares, and what the language gives to each.
        """
        language = describe(self._code.language(path))
        owner = said.owner.rstrip(":")
        if "?" in owner or said.target in f"{language.implicit} {language.builtins}".split():
            return 0
        if owner:
            types = self._types(owner, language.name)
        elif language.bare_members and said.resolution is Resolution.UNRESOLVED and said.confidence >= BARE_CONFIDENCE:
            around = said.source.rpartition(".")[0]
            types = [node for node in self._types(around, language.name) if node.path == path]
        else:
            return 0
        types = preferred(types, lambda node: node.path == path)
        if len(types) != 1 or said.target_module not in ("", *module_keys(types[0].path)):
            return 0
        return 0 if self._is_below_others(types[0]) else types[0].place

    def _find_said(self, path: str, name: str) -> Mapping[int, Sequence[Relation]]:
        """Return what a file without facts says of a name, by the line."""
        return grouped((said.line, said) for said in self._code.facts.outline(path) if said.target == name)

    def _find_types(self, name: str, language: str) -> list[CodeNode]:
        """Return the types of a name, as it is written, that code of a language may mean."""
        languages = platform_of(language)
        return [
            node
            for node in self._code.store.definitions(name, EVERYTHING)
            if node.kind is SymbolKind.TYPE
            and f".{node.qualified_name}".endswith(f".{name}")
            and self._code.language(node.path) in languages
        ]

    def _find_below_others(self, node: CodeNode) -> bool:
        """Return whether a type names one above it, or code elsewhere says that there is one."""
        inherits = self._code.outline_of(node.path, RelationKind.INHERITS)
        derived = describe(self._code.language(node.path)).derived.split()
        is_said = any(said.source == node.qualified_name and said.target not in derived for said in inherits)
        return is_said or bool(self._code.references.to({node.place}, (How.ABOVE,)))
