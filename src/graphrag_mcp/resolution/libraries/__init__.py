"""What the languages' own libraries declare, in the files beside this one."""

from collections.abc import Callable, Mapping, Sequence
from functools import cache, partial
from importlib import resources

from graphrag_mcp.model.facts import FileFacts, Thing
from graphrag_mcp.parsing.code.symbols import read_outline
from graphrag_mcp.parsing.code.syntax import SourceCode, parse_tree
from graphrag_mcp.parsing.facts import read_facts
from graphrag_mcp.parsing.languages import load_grammar
from graphrag_mcp.resolution.sources import FactSource

ECMASCRIPT = "<ecmascript>"


def library_text(name: str) -> str:
    """Return a file of this folder."""
    return resources.files(__package__).joinpath(name).read_text(encoding="utf-8")


def _read_library(path: str, language: str, text: str) -> FileFacts | None:
    grammar, code = load_grammar(language), SourceCode(text)
    if grammar is None:
        return None
    matches = grammar.find(parse_tree(grammar.language, code))
    return read_facts(matches, grammar, path, code, read_outline(matches, grammar, path, code).definitions)


_JAVA_PACKAGES = ["package " + text for text in library_text("java.java").split("\npackage ")[1:]]
_ECMA_MODULES = {
    "react.d.ts": ("react", "preact", "preact/hooks", "preact/compat"),
    "solid.d.ts": ("solid-js", "solid-js/store"),
    "vue.d.ts": ("vue",),
    "angular.d.ts": ("@angular/core", "@angular/core/testing"),
}
_LIBRARY_TEXTS = {
    ECMASCRIPT: ("typescript", library_text("ecmascript.d.ts")),
    **{f"<{name}>": ("typescript", library_text(file)) for file, names in _ECMA_MODULES.items() for name in names},
    **{f"<{text.split(';')[0].removeprefix('package ')}>": ("java", text) for text in _JAVA_PACKAGES},
}
LIBRARIES: Mapping[str, Callable[[], FileFacts | None]] = {
    path: cache(partial(_read_library, path, language, text)) for path, (language, text) in _LIBRARY_TEXTS.items()
}


def find_declared(source: FactSource, unit: str, qualified_name: str) -> Sequence[Thing]:
    """Return the declarations of a name in a unit of the project, else in one of the language's own library."""
    path = f"<{unit}>"
    return source.find(unit, qualified_name) or (_named(path).get(qualified_name, ()) if path in LIBRARIES else ())


@cache
def _named(path: str) -> Mapping[str, Sequence[Thing]]:
    """Return the declarations of a file of a library by their qualified names."""
    found: dict[str, list[Thing]] = {}
    facts = LIBRARIES[path]()
    for number, one in enumerate(facts.declared if facts else ()):
        found.setdefault(one.qualified, []).append(Thing(path, number))
    return found
