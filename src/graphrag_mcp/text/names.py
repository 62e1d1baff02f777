"""Reads a name as people write it: `Session.send`, `Session::send`, `session.send()`, `def send`, `SERVER_PORT`."""

import json
import re
from collections.abc import Sequence
from itertools import pairwise

from msgspec import Struct

from graphrag_mcp.text.words import identifier_parts

SEPARATORS = re.compile(r"::|->|[.#]")

# It matches a name with its qualifiers or a path: `Foo::bar`, `foo.bar()`, `Foo#bar`, `ptr->field`, `src/a/b.py`.
# Its runs are possessive: a query of thousands of dots would take seconds otherwise.
NAME = re.compile(r"(?<![$@./\\-])(?:[$@./\\-]*+\w)++(?:(?:::|->|#)[\w$~]+)*[!?]?(?:\(\))?", re.UNICODE)
LOCATION = re.compile(r"(?P<path>.+?):(?P<line>\d+)(?:-\d+)?\Z")
_DECLARATION = re.compile(
    r"(?P<keyword>(?:class|def|enum|fn|func|function|interface|struct|trait|type)\s+)?"
    rf"(?P<name>{NAME.pattern})(?P<parameters>\([^()\n]*\))?[:;{{]?"
)
_WORD = re.compile(r'(?:[^\s"`]|"[^"]*")+')  # A test may have a title, in quotes.
_OPERATOR = re.compile(
    r"(?P<outer>(?:[\w~<>, ]+(?:::|\.|->))*)operator"
    r"(?:\s*(?P<sign>\(\s*\)|\[\s*\]|\"\"\s*\w+|[^\w\s()\[\]]+)|\s+(?P<type>[^()]+))(?:\(.*)?",
    re.DOTALL,
)
_LONGEST = 250  # A longer text is not read as a declaration.
_JOINTS = ("_", "-", "")
_MOST_PARTS = 8
_ENOUGH_PARTS = 2  # One word behind a program's name is in too many variables.


class NamedSymbol(Struct, frozen=True):
    """A symbol as it is written: its last name, the qualifiers before it, outermost first, and its parameters.

    is_flag: whether dashes stand before it, as in `--port`, so that it is an option.
    """

    name: str
    qualifiers: tuple[str, ...] = ()
    parameters: str = ""
    is_flag: bool = False

    @property
    def spellings(self) -> tuple[str, ...]:
        """The name in lower case, and its words in the other styles: `set_command`, `setcommand`, `set-command`."""
        parts = identifier_parts(self.name)
        styles = (separator.join(parts) for separator in ("_", "", "-")) if len(parts) > 1 else ()
        return tuple(dict.fromkeys((self.name.lower(), *styles)))

    def misses(self, signature: str) -> bool:
        """Return whether a signature lacks a word of the parameters that are written."""
        return any(word not in signature for word in re.findall(r"\w+", self.parameters))

    def is_overload(self, name: str, signature: str) -> bool:
        """Return whether a signature has as many parameters as are written, each with the words of the written one."""
        at = re.search(rf"(?<!\w){re.escape(name)}\s*(?:<.*?>)?\s*\(", signature)
        written, own = _parameters(self.parameters), _parameters(signature[at.end() - 1 :]) if at else []
        return len(written) == len(own) and all(
            set(re.findall(r"\w+", wanted)) <= set(re.findall(r"\w+", declared))
            for wanted, declared in zip(written, own, strict=True)
        )


_NESTING = {**dict.fromkeys("([{<", 1), **dict.fromkeys(")]}>", -1)}


def _parameters(text: str) -> list[str]:
    """Return the parameters in the first parentheses; a comma inside other brackets does not divide."""
    depth, parts = 0, [""]
    for before, letter in pairwise(" " + text):
        depth += 0 if before + letter in ("->", "=>") else _NESTING.get(letter, 0)
        if depth == 0:
            break
        parts += [""] if depth == 1 and letter == "," else []
        parts[-1] += letter
    return [] if parts == ["("] else parts


def read_name(token: str, parameters: str = "") -> NamedSymbol:
    """Return the parts of a name in any notation."""
    *outer, name = [part for part in SEPARATORS.split(token.removesuffix("()").lstrip("-")) if part] or [token]
    return NamedSymbol(name, tuple(outer), parameters, token.startswith("-"))


def read_declaration(text: str) -> NamedSymbol | None:
    """Return the symbol of a text that is a declaration: `class Foo`, `def bar`, `Foo.bar(int, String...)`."""
    match = _DECLARATION.fullmatch(text.strip()) if len(text) <= _LONGEST else None
    if match is None:
        return None
    name, parameters = match["name"], match["parameters"] or ""
    is_declared = parameters or (match["keyword"] and (name[:1].isupper() or is_identifier(name)))
    return read_name(name, parameters) if is_declared else None


def operator_name(text: str) -> str:
    """Return an operator of C++ with dots and no parameters: `V.operator bool`, `operator==`; "" if it is none."""
    match = _OPERATOR.fullmatch(text.strip()) if len(text) <= _LONGEST else None
    if match is None:
        return ""
    words = " " + " ".join(match["type"].split()) if match["type"] else re.sub(r"\s", "", match["sign"])
    return re.sub(r"::|->", ".", match["outer"]) + "operator" + re.sub(r" ([*&\[])", r"\1", words)


def is_identifier(token: str) -> bool:
    """Return whether a token is a name in code: it has an underscore, an inner capital, a qualifier or a call."""
    if token.endswith("()") or "_" in token.strip("_") or "::" in token or "->" in token or "#" in token:
        return True
    inner = token[1:]
    if "." in inner.strip("."):
        return True
    return any(letter.isupper() for letter in inner) and any(letter.islower() for letter in token)


def qualified_by(qualifiers: Sequence[str], qualified_name: str, path: str) -> int:
    """Return how well qualifiers fit a symbol, ignoring case: 0 for all of them, 1 for the innermost one, else 2.

    Outer qualifiers may also name the folders and the module of the symbol. qualified_name: with dots.
    """
    outer = [part.lower() for part in qualified_name.split(".")[:-1]]
    wanted = [part.lower() for part in qualifiers]
    around = set(re.split(r"\W+", path.lower()))
    own = len(wanted) - len(outer)
    if own >= 0 and wanted[own:] == outer and around.issuperset(wanted[:own]):
        return 0
    return 1 if not wanted or wanted[-1] in outer or wanted[-1] in around else 2


def as_name(text: str) -> str:
    """Return a name as it is shown: in quotes unless it is one word, since a heading may read like a sentence."""
    return text if not text or (text.isprintable() and _WORD.fullmatch(text)) else json.dumps(text, ensure_ascii=False)


def without_constructor(qualified_name: str) -> str:
    """Return the type of a constructor (`a.Shape` for `a.Shape.Shape`), and any other name unchanged."""
    owner, _, name = qualified_name.rpartition(".")
    return owner if owner.rpartition(".")[2] == name else qualified_name


def key_names(variable: str) -> list[str]:
    """Return the keys that a variable may set: `APP_PORT` gives app_port, app-port, appport, port; else none."""
    if not _is_variable(variable):
        return []
    parts = variable.lower().split("_")
    tails = [parts[start:] for start in range(len(parts))]
    return list(dict.fromkeys(joint.join(tail) for tail in tails for joint in _JOINTS))


def sets_key(variable: str, key: str) -> bool:
    """Return whether a variable sets a key: both `HTTP_PORT` and `APP_HTTP_PORT` set `http.port`.

    Frameworks differ in what they do with hyphens and inner capitals, so only letters and digits are compared.
    """
    if not _is_variable(variable):
        return False
    parts = variable.lower().split("_")
    wanted = "".join(letter for letter in key.lower() if letter.isalnum())
    starts = range(max(1, len(parts) - _ENOUGH_PARTS + 1))
    return any("".join(parts[start:]) == wanted for start in starts)


def _is_variable(text: str) -> bool:
    return text.isupper() and 1 <= text.strip("_").count("_") < _MOST_PARTS and text.replace("_", "").isalnum()
