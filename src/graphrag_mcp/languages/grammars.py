"""Loads a language's grammar with its queries on first use."""

import importlib
from bisect import bisect_left
from collections.abc import Sequence
from functools import cache
from itertools import islice
from typing import NamedTuple, TypeAlias

from msgspec import Struct
from tree_sitter import Language as TreeLanguage
from tree_sitter import Node, Query, QueryCursor, QueryError, Tree

from graphrag_mcp.languages.language import Language
from graphrag_mcp.languages.registry import LANGUAGES, folder_of, known_languages, load_part
from graphrag_mcp.languages.repairs import Repair
from graphrag_mcp.languages.syntax import SourceCode, SyntaxTimeoutError, parse_range, parse_tree
from graphrag_mcp.text.expressions import folder_of_package

_MOST_PARTS = 5_000
_LONGEST_PART = 10_000
_MOST_OPEN = 2_000  # Matches that are begun and not complete, each is compared with each; in real code fewer than 200.

Captures: TypeAlias = dict[str, list[Node]]
Match: TypeAlias = tuple[int, Captures]


def first_of(captures: Captures, name: str) -> Node | None:
    """Return the first node that a match has under a name, None where it has none."""
    return next(iter(captures.get(name, ())), None)


class Matches(NamedTuple):
    """A syntax tree with what is found in it: for the outline, and for the facts."""

    tree: Tree
    outline: list[Match]
    facts: list[Match]


class Grammar(Struct, frozen=True):
    """A loaded language. query: None where this package has none. facts: its first pattern that is of the facts."""

    language: Language
    tree_language: TreeLanguage
    query: Query | None
    facts: int = 0
    repairs: Sequence[Repair] = ()

    def parse(self, code: SourceCode) -> Tree:
        """Return the tree of some code. Raises SyntaxTimeoutError."""
        return parse_tree(self.tree_language, code, ascii_only=self.language.ascii_only, repairs=self.repairs)

    def find(self, tree: Tree, code: SourceCode, rows: int | None = None) -> Matches:
        """Return all matches of the query, or those in the first rows, from one walk over the tree.

        Raises SyntaxTimeoutError.
        """
        matches = self._matches(tree, rows)
        outline = [match for match in matches if match[0] < self.facts]
        parts = islice((captures for _, captures in outline if "code" in captures), _MOST_PARTS)
        inside = [match for part in parts for match in self._calls_in(part, code)]
        outline = [match for match in outline if "code" not in match[1]] + inside
        return Matches(tree, outline, [match for match in matches if match[0] >= self.facts])

    def _matches(self, tree: Tree, rows: int | None = None) -> list[Match]:
        """Return the matches of the query in a tree, or in its first rows. Raises SyntaxTimeoutError."""
        if self.query is None:
            return []
        cursor = QueryCursor(self.query, match_limit=_MOST_OPEN)
        if rows is not None:
            cursor.set_point_range((0, 0), (rows, 0))
        matches = cursor.matches(tree.root_node)
        if cursor.did_exceed_match_limit:
            raise SyntaxTimeoutError("too much of the same beside each other or nested")
        return matches

    def _calls_in(self, part: Captures, code: SourceCode) -> list[Match]:
        """Return what a text of code calls or hands on, without its parameters."""
        text = part["code"][0]
        if b"(" not in code.data[text.start_byte : text.end_byte] or text.end_byte - text.start_byte > _LONGEST_PART:
            return []
        tree = parse_range(self.tree_language, code, text)
        names = {code.node_text(name) for around in part.get("parameters", ()) for name in around.named_children}
        matches = self._matches(tree) if tree else []
        named = ((match, match[1].get("call") or match[1].get("handed")) for match in matches)
        return [match for match, nodes in named if nodes and code.node_text(nodes[0]) not in names]


@cache
def load_grammar(name: str, *, with_query: bool = True) -> Grammar | None:
    """Return the grammar of a language, or None where neither its own wheel nor the language pack is installed.

    with_query: compiling it takes up to .2 s, which only what is found in a tree needs.
    Raises tree_sitter.QueryError when the query names a node that the installed grammar does not have.
    """
    language = LANGUAGES.get(name)
    if language is None:
        return _load_from_pack(name)
    try:
        module = importlib.import_module(language.grammar)
    except ImportError:
        return None
    tree_language = TreeLanguage(getattr(module, language.factory)())
    repairs = getattr(load_part(name, "repairs"), language.repairs) if language.repairs else ()
    if not with_query:
        return Grammar(language, tree_language, None, repairs=repairs)
    try:
        outline, facts = _query_text(language, "outline.scm"), _query_text(language, "facts.scm")
        query = Query(tree_language, outline + facts)
    except QueryError as error:
        raise QueryError(f"{name}: {error}; the installed {language.grammar} does not fit its query") from error
    starts = map(query.start_byte_for_pattern, range(query.pattern_count))
    return Grammar(language, tree_language, query, bisect_left([*starts], len(outline.encode())), repairs)


def _query_text(language: Language, kind: str) -> str:
    folder = folder_of_package(folder_of(language.name))
    files = [folder / f"{part}.{kind}" for part in language.queries.split()] or [folder / kind]
    return "".join(file.read_text(encoding="utf-8") for file in files if file.is_file())


def _load_from_pack(name: str) -> Grammar | None:
    """Return a grammar of the optional tree-sitter-language-pack: files are cut by syntax but have no symbols."""
    if name not in known_languages():
        return None
    try:
        pack = importlib.import_module("tree_sitter_language_pack")
        tree_language = pack.get_language(name)
    except (ImportError, LookupError):
        return None
    # Their scanners were not reviewed, and the cuts are the same without other characters.
    return Grammar(Language(name=name, title=name, grammar="", files="", ascii_only=True), tree_language, None)
