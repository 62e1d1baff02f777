"""Collects every text that a user can see, so that a change of wording is a diff to review.

    python -m tests.golden.strings

writes strings.txt: the texts of the package, by file, in the order of the source, one a line. Python is read with
`ast`, the page's scripts with tree-sitter, its HTML with the standard parser. A text is a string with words that is not
a docstring, a pattern, a query or a table of words.
"""

import ast
from collections.abc import Iterator
from html.parser import HTMLParser
from pathlib import Path

from graphrag_mcp.languages.grammars import load_grammar
from graphrag_mcp.languages.syntax import SourceCode

PACKAGE = Path(__file__).parent.parent.parent / "src" / "graphrag_mcp"
STRINGS_FILE = Path(__file__).parent / "strings.txt"

# Modules full of SQL, Cypher, patterns or lists of names: there, a text is part of an error, a warning or a log line.
_DATA_MODULES = (
    "model/scope.py",
    "parsing/categories.py",
    "parsing/code/",
    "parsing/documents/markdown.py",
    "languages/registry.py",
    "search/query/",
    "stores/neo4j/",
    "stores/sqlite/",
)
_MESSAGE_CALLS = {"debug", "info", "warning", "error", "exception", "append"}
_TABLE_LINES = 3  # A string of more lines is a table, outside of the packages below.
_NOT_TEXT_CALLS = {"compile", "split", "_words", "encode", "namedtuple", "TypeVar", "match", "fullmatch"}
_LABEL_PACKAGES = ("tools/", "mcp_server/", "cli/", "ui/")  # In their tables, a single word is a text too.
_SPOKEN_ATTRIBUTES = {"alt", "aria-label", "content", "placeholder", "title"}


def render_strings() -> str:
    """Return the content of strings.txt."""
    files = sorted(
        path
        for path in PACKAGE.rglob("*")
        if path.suffix in (".py", ".js", ".html") and "vendor" not in path.parts and "queries" not in path.parts
    )
    sections = []
    for path in files:
        texts = list(dict.fromkeys(_texts(path)))
        if texts:
            name = path.relative_to(PACKAGE).as_posix()
            sections.append("\n".join([f"# {name}", *map(_on_one_line, texts)]))
    return "\n\n".join(sections) + "\n"


def write_strings() -> None:
    """Write strings.txt."""
    STRINGS_FILE.write_text(render_strings(), encoding="utf-8")


def _texts(path: Path) -> Iterator[str]:
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".html":
        return _html_texts(text)
    if path.suffix == ".js":
        return _script_texts(text)
    return python_texts(path.relative_to(PACKAGE).as_posix(), ast.parse(text))


def _has_words(text: str) -> bool:
    """Return whether a string is a sentence or a part of one, rather than an identifier or a format."""
    words = text.split()
    is_phrase = len(words) > 1 or text != text.strip()
    return is_phrase and any(len(word.strip(".,:;()\"'`")) > 1 and any(map(str.isalpha, word)) for word in words)


def _on_one_line(text: str) -> str:
    escaped = text.replace("\\", "\\\\")
    return "".join(mark if mark.isprintable() else mark.encode("unicode_escape").decode() for mark in escaped)


# ---------------------------------------------------------------- Python


def python_texts(name: str, tree: ast.Module) -> Iterator[str]:
    is_shown = name.startswith(_LABEL_PACKAGES)
    for text in _walk(tree, is_message=not name.startswith(_DATA_MODULES), has_labels=is_shown):
        if is_shown or text.count("\n") < _TABLE_LINES:
            yield text


def _walk(node: ast.AST, *, is_message: bool, has_labels: bool) -> Iterator[str]:
    """Yield the texts below a node in the order of the source."""
    if isinstance(node, ast.JoinedStr):
        template = _template(node)
        if is_message and _has_words(template):
            yield template
        for value in node.values:
            if isinstance(value, ast.FormattedValue):
                yield from _walk(value.value, is_message=is_message, has_labels=has_labels)
        return
    if isinstance(node, ast.Constant):
        if is_message and isinstance(node.value, str) and _has_words(node.value):
            yield node.value
        return
    if isinstance(node, ast.Raise) or (isinstance(node, ast.Call) and _called(node) in _MESSAGE_CALLS):
        is_message = True
    if isinstance(node, ast.Call) and _called(node) in _NOT_TEXT_CALLS:
        return
    if has_labels and isinstance(node, ast.Dict):
        yield from (v.value for v in node.values if isinstance(v, ast.Constant) and _is_label(v.value))
    annotation = getattr(node, "annotation", None)
    for child in ast.iter_child_nodes(node):
        if child is not annotation and not _is_docstring(child, node):
            yield from _walk(child, is_message=is_message, has_labels=has_labels)


def _template(node: ast.JoinedStr) -> str:
    """Return an f-string with the last name of each expression in braces."""
    return "".join(
        str(value.value) if isinstance(value, ast.Constant) else f"{{{_last_name(value)}}}" for value in node.values
    )


def _last_name(node: ast.AST) -> str:
    names = [
        child.attr if isinstance(child, ast.Attribute) else child.id
        for child in ast.walk(node)
        if isinstance(child, ast.Attribute | ast.Name)
    ]
    return names[0] if names else ""


def _called(node: ast.Call) -> str:
    return getattr(node.func, "attr", getattr(node.func, "id", ""))


def _is_label(value: object) -> bool:
    return isinstance(value, str) and value.isalpha()


def _is_docstring(child: ast.AST, parent: ast.AST) -> bool:
    return (
        isinstance(child, ast.Expr)
        and isinstance(child.value, ast.Constant)
        and isinstance(parent, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef)
    )


# ---------------------------------------------------------------- the page


class _PageTexts(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []
        self._hidden = 0

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._hidden += tag in ("script", "style")
        self.texts += [value for name, value in attrs if name in _SPOKEN_ATTRIBUTES and value]

    def handle_endtag(self, tag: str) -> None:
        self._hidden -= tag in ("script", "style")

    def handle_data(self, data: str) -> None:
        if not self._hidden and data.strip():
            self.texts.append(" ".join(data.split()))


def _html_texts(text: str) -> Iterator[str]:
    parser = _PageTexts()
    parser.feed(text)
    yield from parser.texts


def _script_texts(text: str) -> Iterator[str]:
    grammar = load_grammar("javascript")
    assert grammar is not None
    code = SourceCode(text)
    nodes = [grammar.parse(code).root_node]
    while nodes:
        node = nodes.pop()
        if node.type in ("string", "template_string"):
            literal = code.node_text(node)[1:-1]
            if _has_words(literal):
                yield literal
        nodes += reversed(node.children)


if __name__ == "__main__":
    write_strings()
