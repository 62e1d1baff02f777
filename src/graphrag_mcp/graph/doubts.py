"""What is not known of the relations to a definition.

Lines that may mean it and that are not read for relations are code of other languages, expressions in templates and
notebooks, `file:name` and `Type.name` in configuration, and texts that a function which looks members up is given.
Prose and data call nothing.
"""

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Set
from functools import lru_cache, partial
from itertools import islice
from typing import NamedTuple, TypeAlias

from msgspec.structs import replace

from graphrag_mcp.graph.code import IndexedCode
from graphrag_mcp.graph.edges import BY_SYNTAX, Incoming
from graphrag_mcp.languages.registry import (
    FACT_LANGUAGES,
    describe,
    detect_language,
    family_of,
    known_languages,
    platform_of,
)
from graphrag_mcp.model.facts import Declared, Mark, SymbolId, Use
from graphrag_mcp.model.files import CALLABLE, Category, RelationKind, SymbolKind
from graphrag_mcp.model.graph import Certainty, CodeNode, Doubt, Line
from graphrag_mcp.model.grouping import of_each
from graphrag_mcp.model.links import BY_NAME, MEANT, How, StoredLink
from graphrag_mcp.model.scope import Scope
from graphrag_mcp.model.values import Type
from graphrag_mcp.ports import SymbolGraph
from graphrag_mcp.resolution.by_name import macro_name
from graphrag_mcp.resolution.references import Site

_BELOW = {RelationKind.IMPLEMENTS, RelationKind.OVERRIDES}
OF_TYPES = {*_BELOW, RelationKind.INHERITS}  # Relations between types, of which mentions of other things say nothing.
MAX_LOADED = 20  # No more types are searched for in data that loads types by name.
_READING = {RelationKind.READS, RelationKind.CALLS, RelationKind.HANDS_ON}
# A class literal that is handed over, or by which an instance is made.
_LITERAL = r"(?<!\w)NAME\.class\b(?!\.(?!\w*Constructor|newInstance))"


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_OTHERS = frozenset(known_languages() | {"", "markdown"}) - FACT_LANGUAGES
_OF_PROGRAMS = _words("properties xml")  # Suffixes of data that names types to load.
_WITH_EXPRESSIONS = _words(
    "aspx cshtml ejs erb ftl gohtml gotmpl haml handlebars hbs htm html ipynb j2 jinja jinja2 jsp jspx liquid mustache "
    "njk pug razor slim tag tmpl tpl twig vm xhtml"
)
_REFLECTING = _words(
    "FieldByName MethodByName attrgetter delattr forName getDeclaredField getDeclaredMethod getField getMethod getattr "
    "hasattr import_string loadClass methodcaller patch setattr spyOn"
)
_Text: TypeAlias = tuple[str, Category, int, str]  # As `SymbolGraph.texts` returns it.
_NAME = r"(?<!\w)NAME(?!\w)"
_CODE = r"^(?!\s*(?://|/?\*|<!--)).*(?<![\w'\"`/?-])NAME(?![\w'\"`-])"
_BINDING = r"(?:[\[(@:*]|\bv-|\bon)[\w.:-]*[\])]?=[\"'][^\"'\n]*"  # An attribute whose value is an expression.
_INSIDE = rf"\{{[{{%][^}}\n]*|<%[^>\n]*|[$#]\{{[^}}\n]*|\bimport\b[^\n]*|[.|]\s*|{_BINDING}"
_EXPRESSION = rf"(?:{_INSIDE}){_NAME}|{_NAME}\("
_LOADED = r"[\"'>=]\s*(?:[\w$]+\.)*NAME(?=\s*[\"'<]|\s*$)"  # The name is a whole value or text.
_QUALIFIED = r"(?<!\w)(?:OWNER)(?:[.:#$]|::)NAME(?=[\"'`\s,;<)\]}(]|$)"
_REFLECTION = re.compile(rf"\b(?:{'|'.join(sorted(_REFLECTING))})(?:\.\w+)?\([^()]*")
_COMPOSED = re.compile(r"[\"'`](?:[\w.$/]*[.:#$])?(\w{2,})(?:\$?\{|%s|[\"'`]\s*[+%])")
_MEMBER = re.compile(r"[\"'`](?:[\w.$/]*[.:#$])?(\w+)[\"'`]")


def unread_lines(graph: SymbolGraph, node: CodeNode, language: str, scope: Scope) -> Iterator[Line]:
    """Yield the lines of a scope that may mean a definition, and are not read as code."""
    for row in graph.texts((node.name,), _inside(scope, _OTHERS)):
        if pattern := _pattern(node, language, *row[:2]):
            yield from _matching([row], re.compile(pattern.replace("NAME", re.escape(node.name)), re.M))


def loading_lines(graph: SymbolGraph, kind: CodeNode, scope: Scope) -> Iterator[Line]:
    """Yield the lines of data by which a program loads a type; what reads them may call a member by its name."""
    loaded = re.compile(_LOADED.replace("NAME", re.escape(kind.qualified_name).replace(r"\.", "[.$]")), re.M)
    texts = graph.texts((kind.name,), _inside(scope, _OTHERS))
    return _matching((row for row in texts if row[0].rpartition(".")[2] in _OF_PROGRAMS), loaded)


class Reflections(NamedTuple):
    """What code gives to functions which look members up.

    names: the last names in their texts, with the lines. beginnings: of names that are composed, with their lines:
    `getattr(self, f"visit_{kind}")`. files: those where a name is computed from values alone.
    """

    names: Mapping[str, Set[Line]]
    beginnings: Sequence[tuple[str, Line]]
    files: Set[str]


def read_reflections(graph: SymbolGraph, language: str, scope: Scope) -> Reflections:
    """Return the texts by which code of a language looks members up."""
    names: dict[str, set[Line]] = {}
    beginnings: list[tuple[str, Line]] = []
    files: set[str] = set()
    for path, _, first, text in graph.texts(sorted(_REFLECTING), _inside(scope, family_of(language))):
        for call in _REFLECTION.finditer(text):
            start = first + text.count("\n", 0, call.start())
            found, composed = (
                [(name[1], (path, start + call[0].count("\n", 0, name.end()))) for name in pattern.finditer(call[0])]
                for pattern in (_MEMBER, _COMPOSED)
            )
            for name, line in found:
                names.setdefault(name, set()).add(line)
            beginnings += composed
            files |= set() if found else {path}
    return Reflections(names, beginnings, files)


def quoted_lines(graph: SymbolGraph, name: str, language: str, files: Set[str], scope: Scope) -> Iterator[Line]:
    """Yield the lines of some files with a name in quotes."""
    before = r"(?:[\w$]+[.$])*" if describe(language).loads_types else ""
    quoted = re.compile(rf"([\"'`]){before}{re.escape(name)}\1")
    texts = graph.texts((name,), _inside(scope, family_of(language))) if files else ()
    return _matching((row for row in texts if row[0] in files), quoted)


def located_lines(graph: SymbolGraph, node: CodeNode, language: str, scope: Scope) -> Iterator[Line]:
    """Yield the lines of code that have a definition in texts with its module: `load("app.tasks", "run")`."""
    folder, _, file = node.path.rpartition("/")
    stem = file.partition(".")[0]
    modules = "|".join(re.escape(name) for name in (stem, folder.rpartition("/")[2]) if name)
    module, name = rf"[\"'](?:[\w./-]*[./])?(?:{modules})", re.escape(node.name)
    located = re.compile(rf"{module}(?:[\"']\s*,\s*[\"']|[.:]){name}[\"']")
    return _matching(graph.texts((node.name,), _inside(scope, family_of(language))) if modules else (), located)


def _matching(texts: Iterable[_Text], pattern: re.Pattern[str]) -> Iterator[Line]:
    """Yield the lines of texts on which matches end."""
    for path, _, first, text in texts:
        for match in pattern.finditer(text):
            yield path, first + text.count("\n", 0, match.end())


def _inside(scope: Scope, languages: frozenset[str]) -> Scope:
    chosen = languages & scope.languages if scope.languages else languages
    return replace(scope, languages=chosen or frozenset(("none",)))


def _pattern(node: CodeNode, language: str, path: str, category: Category) -> str:
    """Return what can mean a definition in a file, "" if nothing can."""
    folder, _, file = path.rpartition("/")
    own, _, home = node.path.rpartition("/")
    extension = file.rpartition(".")[2]
    described = describe(language)
    if extension in described.beside.split():
        return _CODE if described.is_named_in_texts or folder == own else ""
    if described.exports_capitals and not node.name[:1].isupper():
        return ""
    if extension in _WITH_EXPRESSIONS:
        return _EXPRESSION if extension == "ipynb" or category is not Category.DOCUMENTATION else ""
    is_loaded = category is Category.DATA and described.loads_types and extension in _OF_PROGRAMS
    is_text = category in (Category.DATA, Category.DOCUMENTATION) and not is_loaded
    if is_text or not described.is_named_in_texts:
        return ""
    owners = {home.partition(".")[0], own.rpartition("/")[2], *node.qualified_name.split(".")[-2:-1]} - {""}
    return _QUALIFIED.replace("OWNER", "|".join(map(re.escape, sorted(owners))))


class Doubts:
    """Answers from one state of the index."""

    def __init__(self, code: IndexedCode) -> None:
        self._code = code
        self.unread = lru_cache(1 << 12)(self._find_unread)
        self._reflections = lru_cache(1 << 4)(partial(read_reflections, code.store))

    def of(self, node: CodeNode, incoming: Incoming, scope: Scope) -> Doubt:
        """Return what is not known of the relations that were found."""
        store, references, resolver = self._code.store, self._code.references, self._code.resolver
        symbols, language = incoming.symbols, self._code.language(node.path)
        unsure = self._unsure(node, incoming, platform_of(language), scope)
        if not symbols:
            is_typed = incoming.kinds <= BY_SYNTAX and len(self._code.places(node)) > 1
            waiting = frozenset(store.visible(set(references.pending((node.name,))), scope))
            is_implicit = RelationKind.CALLS in incoming.kinds and _is_implicit(node, language)
            unparsed = self.unparsed(node.name, node.path)
            return Doubt(unsure, unparsed=unparsed, files_pending=waiting, is_typed=is_typed, is_implicit=is_implicit)
        is_run = RelationKind.CALLS in incoming.kinds
        unparsed = frozenset(self._code.facts.unparsed(resolver.declared(symbols[0]).name, language))
        if all(self._code.uses.is_confined(symbol, Use.CALL if is_run else Use.VALUE) for symbol in symbols):
            unparsed &= {node.path}
        outside = frozenset(self._outside(node, incoming, scope)).union(incoming.outside)
        if is_run and not (outside or incoming.edges) and any(map(self._is_called_by_name, symbols)):
            outside = frozenset({"duck typing"})
        # The interfaces whose implementations are asked for.
        implemented = symbols if RelationKind.IMPLEMENTS in incoming.kinds and node.kind is SymbolKind.TYPE else ()
        guesses = {edge for edge in incoming.edges if edge.certainty is Certainty.BY_NAME}.difference(incoming.by_name)
        return Doubt(
            unsure.union((edge.path, edge.line) for edge in guesses),
            frozenset(() if OF_TYPES.issuperset(incoming.kinds) else incoming.elsewhere),
            unparsed,
            frozenset(store.visible(incoming.pending, scope)),
            is_typed=not incoming.by_name,
            # Every value has a common member, so a list would not help.
            is_listed=not resolver.symbols.is_common(symbols[0]),
            is_implicit=is_run and any(map(resolver.symbols.is_implicit, symbols)),
            callers_outside=outside,
            is_structural=any(map(resolver.is_function_type, implemented)),
            is_protocol=not _BELOW.isdisjoint(incoming.kinds) and any(map(self._is_of_protocol, symbols)),
            is_given=RelationKind.OVERRIDES in incoming.kinds and node.kind is SymbolKind.FIELD,
            archived=self._archived(incoming.hidden, scope),
            embedding=self.lines_of([*of_each(self._code.hierarchy.method_sets.may_satisfy, implemented)], scope),
            run_by=frozenset(map(self._code.outsiders.run_by, symbols)) - {""} if is_run else frozenset(),
            methods=frozenset((edge.path, edge.line) for edge in incoming.methods),
        )

    def _is_of_protocol(self, symbol: SymbolId) -> bool:
        """Return whether a type, or that of a member, stands for all types with its members."""
        resolver, owner = self._code.resolver, self._code.hierarchy.owner_of(symbol) or symbol
        protocols = resolver.state.policy(owner).foreign.protocols
        bases = resolver.lineage.bases_of(owner) if protocols else ()
        return any(resolver.foreign.name(base) in protocols for base in bases)

    def lines_of(self, symbols: Collection[SymbolId], scope: Scope) -> frozenset[Line]:
        """Return where definitions in a scope begin."""
        declared = self._code.resolver.declared
        return frozenset((symbol.path, declared(symbol).line) for symbol in self._code.in_scope(symbols, scope))

    def _archived(self, hidden: Set[str], scope: Scope) -> frozenset[str]:
        """Return those of the hidden files that are only left out since they are archived."""
        if not hidden:
            return frozenset()
        return frozenset(self._code.store.visible(hidden, replace(scope, exclude_archived=False)))

    def _outside(self, node: CodeNode, incoming: Incoming, scope: Scope) -> Iterator[str]:
        """Yield what else may use a definition, for the kinds of relations that are asked for."""
        symbols, outsiders = incoming.symbols, self._code.outsiders
        if RelationKind.CALLS in incoming.kinds:
            yield from self._callers_outside(symbols, incoming.sites)
            yield from self._makers(symbols, scope)
            yield from of_each(outsiders.class_readers, symbols)
        elif RelationKind.WRITES in incoming.kinds:
            yield from of_each(outsiders.callers, symbols)
        elif RelationKind.IMPLEMENTS in incoming.kinds:
            yield from filter(None, map(outsiders.alias_of, symbols))
            named = [*symbols, *of_each(self._code.hierarchy.aliased, symbols)]
            yield from of_each(self._code.hierarchy.method_sets.unlisted, named)
        if node.kind is SymbolKind.FIELD and any(map(self._is_seen, symbols)):
            is_read = RelationKind.READS in incoming.kinds
            kinds = _READING if is_read else {RelationKind.WRITES}.intersection(incoming.kinds)
            if kinds and kinds.isdisjoint(edge.relation for edge in incoming.edges):
                yield "serialization"

    def _is_seen(self, field: SymbolId) -> bool:
        """Return whether libraries that are given an object see a field of it."""
        declaration, owner = self._code.resolver.declared(field), self._code.hierarchy.owner_of(field)
        if owner is None or self._code.resolver.members.is_enumeration(Type((owner,))):
            return False
        is_capital = declaration.name[:1].isupper() or not describe(self._code.language(field.path)).exports_capitals
        reads_all = self._code.resolver.state.policy(field).foreign.reads_private
        return Mark.STATIC not in declaration.marks and (reads_all or (is_capital and _is_open(declaration)))

    def _is_called_by_name(self, method: SymbolId) -> bool:
        """Return whether a library that is given an object may call a method of it, since it has that name."""
        resolver, declaration = self._code.resolver, self._code.resolver.declared(method)
        policy, owner = resolver.state.policy(method), self._code.hierarchy.owner_of(method)
        is_method = owner is not None and declaration.kind == SymbolKind.METHOD
        is_nominal = policy.members.method_sets or policy.calls.overloads
        return _is_open(declaration) and is_method and not (is_nominal or self._code.outsiders.run_by(method))

    def _makers(self, symbols: Sequence[SymbolId], scope: Scope) -> Iterator[str]:
        """Yield the class literals, or values, by which code may get a constructor."""
        for symbol in symbols:
            owner, calls = self._code.made_by(symbol), self._code.resolver.state.policy(symbol).calls
            name = self._code.resolver.declared(owner).name if owner else ""
            links = self._code.references.linked((owner,), MEANT) if owner and calls.comparing else ()
            if any(self._is_value(link, name, calls.comparing) for link in links):
                yield f"{name} as a value"
            if owner and calls.overloads:
                literal = re.compile(_LITERAL.replace("NAME", re.escape(name)))
                if any(literal.search(text) for *_, text in self._code.store.texts((name,), scope)):
                    yield f"{name}.class"

    def _is_value(self, link: StoredLink, name: str, comparing: Set[str]) -> bool:
        """Return whether a line may have a type as a value: not as what is compared, nor before a member."""
        mentions = self._code.references.mentions(link.path, link.line)
        named = [mention for mention in mentions if mention.name == name and mention.use == Use.VALUE]
        members = [mention for mention in mentions if f".{mention.receiver}".endswith(f".{name}")]
        is_compared = any(mention.name in comparing for mention in mentions)
        return link.use == Use.VALUE and not is_compared and (not named or len(named) > len(members))

    def _callers_outside(self, symbols: Sequence[SymbolId], sites: Iterable[Site]) -> Iterator[str]:
        """Yield what may call symbols from outside; that others import them is said where nothing here uses them."""
        is_used = any(site.mention.use != Use.IMPORT for site in sites)
        if not is_used and any(map(self._code.resolver.foreign.is_published, symbols)):
            yield "whatever imports the package"
        for symbol in symbols:
            yield from self._code.resolver.foreign.callers(symbol)
            yield from self._code.outsiders.callers(symbol)

    def unparsed(self, name: str, path: str) -> frozenset[str]:
        """Return the files in the language of a file that may have a name in lines that do not parse."""
        return frozenset(self._code.facts.unparsed(name, detect_language(path)))

    def _unsure(self, node: CodeNode, incoming: Incoming, languages: Collection[str], scope: Scope) -> frozenset[Line]:
        """Return the places of its name that may mean a node where names are compared, and are none of its relations.

        languages: those in which its name may mean it.
        """
        if node.is_file or node.kind is SymbolKind.KEY:
            return frozenset()
        name = macro_name(node.name) if node.signature.startswith("macro_rules!") else node.name
        kinds = incoming.kinds - {RelationKind.OVERRIDES}  # A place that overrides it declares the name.
        # A decided call is of the constructor of its own type.
        is_constructor = node.name in describe(self._code.language(node.path)).constructors.split()
        hows = (How.UNDECIDED,) if is_constructor else (How.UNDECIDED, *BY_NAME)
        unsure = self._code.references.unsure(name, (node.place,), languages)
        links = [link for link in unsure
                 if link.kind in kinds and link.how in hows and not self._code.facts.has(link.path)]  # fmt: skip
        if others := FACT_LANGUAGES.intersection(languages) if not incoming.symbols else ():
            is_member = node.kind is not SymbolKind.TYPE
            owner = node.qualified_name.removesuffix(node.name).rstrip(".").rpartition(".")[2] if is_member else ""
            links += [link for link in self._code.references.foreign(node.name, owner, others) if link.kind in kinds]
        left = {(link.path, link.line) for link in self._code.in_scope(links, scope)}
        return frozenset(left - {(edge.path, edge.line) for edge in incoming.by_name})

    def _find_unread(self, node: CodeNode, scope: Scope) -> frozenset[Line]:
        """Return the lines that may mean a node, and are not read as code."""
        symbols = [symbol for symbol in self._code.symbols(node) if not self._is_inner(symbol)]
        language = self._code.language(node.path)
        own = self.unread_by_name(node, language, scope) if symbols else frozenset()
        kinds = self._owners(node, symbols) if describe(language).loads_types else ()
        return own.union(*(loading_lines(self._code.store, kind, scope) for kind in kinds))

    def _owners(self, node: CodeNode, symbols: Iterable[SymbolId]) -> Iterator[CodeNode]:
        """Yield the types that have a field or method, those below its own as well, up to a limit."""
        hierarchy, declared = self._code.hierarchy, self._code.resolver.declared
        members = symbols if node.kind in (SymbolKind.FIELD, SymbolKind.METHOD) else ()
        owners = dict.fromkeys(filter(None, map(hierarchy.owner_of, members)))
        kinds = dict.fromkeys(kind for owner in owners for kind in (owner, *hierarchy.descendants(owner)))
        for kind in islice(kinds, MAX_LOADED):
            name, qualified = declared(kind).name, declared(kind).qualified
            yield node._replace(path=kind.path, name=name, qualified_name=qualified, kind=SymbolKind.TYPE)

    def unread_by_name(self, node: CodeNode, language: str, scope: Scope) -> frozenset[Line]:
        """Return the lines that may mean a definition in a language with facts, also one that is gone."""
        if language not in FACT_LANGUAGES:
            return frozenset()
        store, reflections = self._code.store, self._reflections(language, scope)
        lines = {*reflections.names.get(node.name, ()), *unread_lines(store, node, language, scope)}
        if node.kind in (*CALLABLE, SymbolKind.FIELD):
            lines |= {line for beginning, line in reflections.beginnings if node.name.startswith(beginning)}
        is_loaded = node.kind is SymbolKind.TYPE and describe(language).loads_types
        if node.kind in (SymbolKind.FIELD, SymbolKind.METHOD) or is_loaded:
            lines |= {*quoted_lines(store, node.name, language, reflections.files, scope)}
        elif describe(language).is_named_in_texts:
            lines |= {*located_lines(store, node, language, scope)}
        return frozenset(lines)

    def _is_inner(self, symbol: SymbolId) -> bool:
        """Return whether nothing outside of its file, or of the function around it, can name a declaration."""
        declaration = self._code.resolver.declared(symbol)
        if declaration.name.startswith("#") or Mark.PRIVATE in declaration.marks or self._code.uses.is_confined(symbol):
            return True
        while declaration.owner >= 0:
            declaration = self._code.resolver.declared(SymbolId(symbol.path, declaration.owner))
            if declaration.kind in CALLABLE:
                return True
        return False


def _is_open(declaration: Declared) -> bool:
    """Return whether a member is not meant for its own type alone."""
    return declaration.name[:1] not in ("_", "#") and Mark.PRIVATE not in declaration.marks


def _is_implicit(node: CodeNode, language: str) -> bool:
    """Return whether a language without facts calls a function by itself: by an operator, or at the end of a scope."""
    is_named = node.name in describe(language).implicit.split() or _IMPLICIT.match(node.name)
    return node.kind in CALLABLE and bool(is_named or _OPERATOR.search(node.signature))


_IMPLICIT = re.compile(r"\W|__|operator\b")  # `+`, `~Session`, `__index`
_OPERATOR = re.compile(r"\boperator\b")  # In Kotlin, a keyword before the name of the function.
