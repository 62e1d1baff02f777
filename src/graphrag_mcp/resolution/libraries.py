"""What the languages' own libraries declare, read as the files of a project are."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache, partial

from graphrag_mcp.languages.grammars import load_grammar
from graphrag_mcp.languages.policy import policy_of
from graphrag_mcp.languages.registry import FACT_LANGUAGES
from graphrag_mcp.languages.syntax import SourceCode
from graphrag_mcp.model.facts import FileFacts, SymbolId
from graphrag_mcp.model.grouping import grouped
from graphrag_mcp.model.sources import FactSource
from graphrag_mcp.model.values import Foreign, Instance, Outside, Value
from graphrag_mcp.parsing.code.symbols import read_outline
from graphrag_mcp.parsing.facts import read_facts


def _read_library(path: str, language: str, text: str) -> FileFacts | None:
    grammar, code = load_grammar(language), SourceCode(text)
    if grammar is None:
        return None
    matches = grammar.find(grammar.parse(code), code)
    return read_facts(matches, grammar, path, code, read_outline(matches, grammar, path, code).definitions)


LIBRARIES: Mapping[str, Callable[[], FileFacts | None]] = {
    path: cache(partial(_read_library, path, language, text))
    for name in sorted(FACT_LANGUAGES)
    for path, (language, text) in policy_of(name).foreign.declarations.items()
}


class WithLibraries:
    """The modules of a project, and behind them those of the libraries."""

    def __init__(self, source: FactSource) -> None:
        self.has, self.manifests = source.has, source.manifests
        self.unit_of_folder = source.unit_of_folder
        self._source = source

    def has_unit(self, unit: str) -> bool:
        return self._source.has_unit(unit) or f"<{unit}>" in LIBRARIES

    def find(self, unit: str, qualified_name: str) -> Sequence[SymbolId]:
        path = f"<{unit}>"
        symbols = self._source.find(unit, qualified_name)
        return symbols or (_named(path).get(qualified_name, ()) if path in LIBRARIES else ())


@cache
def _named(path: str) -> Mapping[str, Sequence[SymbolId]]:
    """Return the declarations of a file of a library by their qualified names."""
    facts = LIBRARIES[path]()
    declared = enumerate(facts.declared if facts else ())
    return grouped((declaration.qualified, SymbolId(path, number)) for number, declaration in declared)


def of_project(symbols: Iterable[SymbolId]) -> tuple[SymbolId, ...]:
    """Return the declarations but those of libraries."""
    return tuple(symbol for symbol in symbols if symbol.path not in LIBRARIES)


def is_foreign(value: Value | None) -> bool:
    """Return whether a value holds nothing that the project defines."""
    match value:
        case Outside():
            return True
        case Foreign(_, arguments):
            return all(map(is_foreign, arguments))
        case Instance(symbols, arguments):
            return symbols[0].path in LIBRARIES and all(map(is_foreign, arguments))
    return False
