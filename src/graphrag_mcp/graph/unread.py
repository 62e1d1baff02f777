"""The lines that may mean a definition where nothing is read for relations.

They are code of other languages, expressions in templates and notebooks, `file:name` and `Type.name` in configuration,
and texts that a function which looks members up is given. Prose and data call nothing.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import replace
from typing import NamedTuple, TypeAlias

from graphrag_mcp.languages.registry import FACT_LANGUAGES, describe, family_of, known_languages
from graphrag_mcp.model.files import Category
from graphrag_mcp.model.graph import CodeNode, Line
from graphrag_mcp.model.scope import Scope
from graphrag_mcp.ports import SymbolGraph


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
