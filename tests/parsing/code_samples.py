"""The samples of code that the parser's tests share: `tests/languages/` has a folder for each language.

`FILE.txt` is code as its users write it, and `FILE.toml` what is expected of it: its definitions (`symbols`), some with
signature and documentation (`described`), and one relation of each kind. `calls.EXTENSION.txt` has the forms of calls.
"""

import tomllib
from pathlib import Path
from typing import Any

from msgspec.structs import replace

from graphrag_mcp.languages.grammars import load_grammar
from graphrag_mcp.languages.registry import detect_language
from graphrag_mcp.languages.syntax import SourceCode
from graphrag_mcp.model.files import ParsedFile
from graphrag_mcp.parsing.code.relations import build_relations
from graphrag_mcp.parsing.code.symbols import read_outline
from graphrag_mcp.parsing.outline import Outline
from graphrag_mcp.parsing.parser import parse_file

FOLDERS = Path(__file__).parents[1] / "languages"
_FILES = {path.name.removesuffix(".toml"): path for path in sorted(FOLDERS.glob("*/*.toml"))}
SAMPLES = {name: path.with_suffix(".txt").read_text(encoding="utf-8") for name, path in _FILES.items()}
EXPECTED: dict[str, dict[str, Any]] = {
    name: tomllib.loads(path.read_text(encoding="utf-8")) for name, path in _FILES.items()
}


def parse_sample(name: str) -> ParsedFile:
    """Parse a sample as if it lay in a project's source folder."""
    return _parse(f"src/shop/{name}", SAMPLES[name])


def outline_of(name: str, text: str = "") -> Outline:
    """Return what the syntax tree of a sample, or of a text, says before it is cut."""
    grammar = load_grammar(detect_language(name))
    assert grammar is not None
    code = SourceCode(text or SAMPLES[name])
    return read_outline(grammar.find(grammar.parse(code), code), grammar, name, code)


def parse_lines(path: str, *lines: str) -> ParsedFile:
    """Parse a few lines as a file; see `_parse`."""
    return _parse(path, "\n".join(lines))


def _parse(path: str, text: str) -> ParsedFile:
    """Parse a file, with the relations of its outline also where it has facts, which replace them."""
    parsed = parse_file(path, text.encode())
    grammar = load_grammar(parsed.language) if parsed.code else None
    if grammar is None:
        return parsed
    code = SourceCode(text)
    outline = read_outline(grammar.find(grammar.parse(code), code), grammar, path, code)
    return replace(parsed, relations=tuple(build_relations(path, parsed.language, parsed.category, outline)))
