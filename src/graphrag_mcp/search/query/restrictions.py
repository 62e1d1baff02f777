"""Reads from the words of a question where its answer has to be: "in the tests: ...", "..., only in src/http".

A restriction hides files, so only what can mean nothing else is one: it stands at the beginning or the end, in one of
the forms of `phrases.toml`, and names a kind of file or a path that exists. "How are errors handled in the parser" and
"why does it fail in the tests" have none; there the words only take part in the ranking.
"""

import re
from collections.abc import Callable
from typing import NamedTuple

from msgspec import Struct
from msgspec.structs import replace

from graphrag_mcp.model.files import Category
from graphrag_mcp.model.scope import Scope
from graphrag_mcp.search.query.understand import PHRASES
from graphrag_mcp.text.expressions import expand

LONGEST = 250  # Characters of a question that may end with a restriction; a longer text is an issue or a log.


class _Form(NamedTuple):
    """One way to say a restriction.

    word: whether a word that is the name of a folder is enough, where others need a slash or to be called a folder.
    kind: whether it may be a kind of file. file: whether it may be a single file. asks: whether the rest has to ask for
    something, since a told symptom may be written alike.
    """

    pattern: re.Pattern[str]
    word: bool = False
    kind: bool = True
    file: bool = True
    asks: bool = False


_PARTS = {
    "kinds": "|".join(PHRASES["place"].values()),
    "documents_by_name": "|".join(PHRASES["document"]),
    **PHRASES["part"],
}


def _read_forms(place: str) -> tuple[_Form, ...]:
    forms = (form | {"pattern": re.compile(expand(form["pattern"], _PARTS), re.IGNORECASE)} for form in PHRASES[place])
    return tuple(_Form(**form) for form in forms)


_BEFORE, _AFTER = _read_forms("before"), _read_forms("after")
_KIND_PATTERNS = {Category(name): re.compile(words, re.IGNORECASE) for name, words in PHRASES["place"].items()}
_HAVE_FOLDERS = (Category.TESTS, Category.EXAMPLES)
_DOCUMENTS = {re.compile(words, re.IGNORECASE): globs for words, globs in PHRASES["document"].items()}
_ASKS = re.compile(r"(?:where|which|how|what|who|find|show|list|is there|are there)\b", re.IGNORECASE)


class Restriction(Struct, frozen=True):
    """Where the answer to a question has to be: in files of a kind, or of a path.

    question: its other words. place: the kind or path, for an answer. categories, paths: as in a `Scope`.
    """

    question: str
    place: str
    categories: frozenset[Category] = frozenset()
    paths: tuple[str, ...] = ()

    def narrow(self, scope: Scope) -> Scope | None:
        """Return the scope inside the restriction; None where an argument of the call decides that already."""
        if (self.paths and scope.paths) or (self.categories and scope.categories):
            return None
        return replace(scope, categories=self.categories or scope.categories, paths=self.paths or scope.paths)


def find_restriction(text: str, exists: Callable[[str], bool]) -> Restriction | None:
    """Return the restriction in a question, None without one. exists: whether a glob matches an indexed file."""
    plain = " ".join(text.split())
    for form in _BEFORE if len(plain) > LONGEST else _BEFORE + _AFTER:
        said = form.pattern.fullmatch(plain)
        if said and re.search(r"\w\w", said["rest"]) and (not form.asks or _ASKS.match(said["rest"])):
            restriction = _read(form, said, exists)
            if restriction is not None:
                return restriction
    return None


def _read(form: _Form, said: re.Match[str], exists: Callable[[str], bool]) -> Restriction | None:
    name_asked = said.groupdict().get("asked")
    question = f"{name_asked} {said['rest']}" if name_asked else said["rest"]
    if said["document"]:
        return None if said["of"] or not form.kind else _of_document(question, said["document"], exists)
    name = (said["path"] or said["kind"]).removeprefix("./").rstrip(".")
    if said["of"]:
        return _of_folder(form, question, name, said["of"], exists)
    is_path = "/" in name or "*" in name or said["folder"] is not None
    if (is_path or (form.word and not said["kind"])) and (glob := _existing(form, name, is_path, exists)):
        return Restriction(question, name.rstrip("/"), paths=(glob,))
    # "Under tests/" also means the tests of a project that has them elsewhere.
    category = _category(name.rstrip("/"))
    return Restriction(question, str(category), frozenset((category,))) if category and form.kind else None


def _of_folder(form: _Form, question: str, name: str, kind: str, exists: Callable[[str], bool]) -> Restriction | None:
    """Return the restriction to a folder of the tests or examples: "the parser of the docs" may be code."""
    category, glob = _category(kind), f"**/{name.strip('/')}/"
    if category not in _HAVE_FOLDERS or not form.kind or not exists(glob):
        return None
    return Restriction(question, f"{name} of the {category}", frozenset((category,)), (glob,))


def _category(words: str) -> Category | None:
    return next((category for category, pattern in _KIND_PATTERNS.items() if pattern.fullmatch(words)), None)


def _of_document(question: str, name: str, exists: Callable[[str], bool]) -> Restriction:
    """Return the restriction to a document that is called by what it is; to all documents, if no file is that."""
    globs = next(globs for pattern, globs in _DOCUMENTS.items() if pattern.fullmatch(name))
    in_any_case = [re.sub("[a-z]", lambda letter: f"[{letter[0]}{letter[0].upper()}]", glob) for glob in globs]
    of_root, anywhere = (
        tuple(filter(exists, (glob if glob.startswith("**/") else where + glob for glob in in_any_case)))
        for where in ("/", "**/")
    )
    documents = frozenset({Category.DOCUMENTATION})
    paths = of_root or anywhere
    return Restriction(question, f"the {name}" if paths else str(Category.DOCUMENTATION), documents, paths)


def _existing(form: _Form, name: str, is_path: bool, exists: Callable[[str], bool]) -> str:
    """Return the glob of what the name means, "" if it does not exist.

    That is what has this path in the root, else for a path in any folder; a package may be written with dots, and names
    with a star are those of all folders.
    """
    path = name.strip("/")
    if "*" not in path:
        path = re.sub(r"([\[\]])", r"\\\1", path) + ("" if form.file else "/")
    anywhere = [f"**/{path}", f"**/{path.replace('.', '/')}"] if is_path else []
    globs = (f"/{path}", *anywhere) if "/" in path or "*" not in path else anywhere
    return next(filter(exists, globs), "")
