"""Finds the links of a Markdown document to other files: wikilinks, embeds, relative and reference links."""

import re
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from posixpath import dirname, join, normpath
from urllib.parse import unquote

from msgspec import Struct

from graphrag_mcp.model.files import Relation, RelationKind, Resolution
from graphrag_mcp.model.grouping import grouped
from graphrag_mcp.parsing.documents.sections import Lines, Passage, Section

_CERTAIN = 1.0  # A path identifies one file.
_BY_NAME = 0.9  # Several notes may have the name of a wikilink.

_TOKEN = re.compile(r"\\.|`+|!?\[\[([^\[\]\n]+)\]\]|!?\[|\]", re.DOTALL)
_BACKTICKS = re.compile(r"`+")
_DESTINATION = re.compile(r"\(\s*(?:<([^<>\n]*)>|([^\s<()]*(?:\([^\s()]*\)[^\s()]*)*))(?=[\s)])")
_LABEL = re.compile(r"\[([^\[\]]{0,200})\]")
_DEFINITION = re.compile(r"^ {0,3}\[([^\[\]^][^\[\]]{0,199})\]:\s{0,20}(?:<([^<>\n]*)>|(\S+))", re.MULTILINE)
_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:|//")
_EXTENSION = re.compile(r"\.[A-Za-z][A-Za-z0-9]{0,9}$")
_NOTE_EXTENSION = re.compile(r"\.(?:md|markdown|mdx|txt|rst|adoc)$", re.IGNORECASE)
_LABEL_LIMIT = 200  # characters; longer brackets hold prose.


class _Link(Struct, frozen=True):
    """A link as it is written: `is_label`: whether its destination is in a link definition."""

    line: int
    destination: str
    is_wiki: bool = False
    is_label: bool = False


def find_links(path: str, lines: Lines, prose: Sequence[Passage], sections: Sequence[Section]) -> tuple[Relation, ...]:
    """Return one relation per section and linked file, at the first line that links to it."""
    texts = [(start, text) for start, end in prose if "[" in (text := lines.text((start, end)))]
    definitions: dict[str, str] = {}
    for _, text in texts:
        for match in _DEFINITION.finditer(text):
            label, *destination = match.groups("")
            definitions.setdefault(_normalise_label(label), "".join(destination))
    begins = [section.span[0] for section in sections]
    links: dict[tuple[str, str], Relation] = {}
    for start, text in texts:
        for link in _scan(text, start):
            if module := _target_module(path, link, definitions):
                source = sections[max(bisect_right(begins, link.line) - 1, 0)].name
                links.setdefault((source, module), _relation(source, module, link))
    return tuple(links.values())


def superseded(path: str, names: Iterable[str]) -> tuple[Relation, ...]:
    """Return a relation for each document that this one declares, by path or by name, to supersede."""
    links: dict[str, Relation] = {}
    for name in names:
        target = name.strip().removeprefix("[[").removesuffix("]]").partition("|")[0]
        is_name = "/" not in target and not _NOTE_EXTENSION.search(target)
        link = _Link(0, target, is_wiki=is_name)
        if module := _target_module(path, link, {}):
            links.setdefault(module, _relation("", module, link, RelationKind.SUPERSEDES))
    return tuple(links.values())


def _relation(source: str, module: str, link: _Link, kind: RelationKind = RelationKind.LINKS_TO) -> Relation:
    return Relation(
        kind=kind,
        source=source,
        target=module.rpartition("/")[2],
        line=link.line + 1,
        confidence=_BY_NAME if link.is_wiki else _CERTAIN,
        resolution=Resolution.UNRESOLVED,
        target_module=module,
    )


def _scan(text: str, line: int) -> Iterator[_Link]:
    """Yield the links of one run of prose, skipping code spans and escapes."""
    runs = _code_marks(text)
    opened: list[tuple[int, bool]] = []  # (where the text begins, whether it is an image's)
    position = counted = 0
    while match := _TOKEN.search(text, position):
        position = match.end()
        mark = match[0]
        line += text.count("\n", counted, match.start())
        counted = match.start()
        if mark[0] == "`":
            position = _end_of_code(runs, position, len(mark))
        elif match[1] is not None:
            yield _Link(line, match[1].partition("|")[0].strip(), is_wiki=True)
        elif mark in ("[", "!["):
            opened.append((position, mark == "!["))
        elif mark == "]" and opened:
            begin, is_image = opened.pop()
            link, position = _read_destination(text, begin, position, line)
            if link is not None and not is_image:
                yield link


def _read_destination(text: str, begin: int, position: int, line: int) -> tuple[_Link | None, int]:
    """Return the link whose closing bracket ends at `position`, and where to read on."""
    follower = text[position : position + 1]
    if follower == "(" and (match := _DESTINATION.match(text, position)):
        return _Link(line, "".join(match.groups(""))), match.end()
    content = text[begin : position - 1] if position - begin <= _LABEL_LIMIT else ""
    if follower == "[" and (match := _LABEL.match(text, position)):
        return _Link(line, match[1] or content, is_label=True), match.end()
    if follower == ":" or not content:
        return None, position
    return _Link(line, content, is_label=True), position


def _code_marks(text: str) -> dict[int, list[int]]:
    """Return where the runs of backticks begin, by their length."""
    return grouped((len(match[0]), match.start()) for match in _BACKTICKS.finditer(text))


def _end_of_code(runs: Mapping[int, Sequence[int]], position: int, length: int) -> int:
    """Return where the code span ends whose opening backticks end at `position`: there, when nothing closes it."""
    places = runs.get(length, ())
    place = bisect_left(places, position)
    return places[place] + length if place < len(places) else position


def _target_module(path: str, link: _Link, definitions: Mapping[str, str]) -> str:
    """Return where the link leads as a path without extension, "" when it leads to no other file of the project."""
    destination = definitions.get(_normalise_label(link.destination), "") if link.is_label else link.destination
    if _SCHEME.match(destination):
        return ""
    target = destination.partition("#")[0]
    if not link.is_wiki:
        target = unquote(target.partition("?")[0])
    target = target.strip().rstrip("/")
    if not target:
        return ""
    if link.is_wiki:
        return _without_extension(target.lstrip("/"), _EXTENSION if "/" in target else _NOTE_EXTENSION)
    if target.startswith("/"):  # The root of the project or of a web site: either way the end of the path agrees.
        return _without_extension(target.lstrip("/"), _EXTENSION)
    resolved = normpath(join(dirname(path), target))
    if resolved.startswith("..") or resolved == ".":
        return ""
    return "/" + _without_extension(resolved, _EXTENSION)


def _without_extension(path: str, extension: re.Pattern[str]) -> str:
    folder, slash, name = path.rpartition("/")
    return folder + slash + (extension.sub("", name) or name)


def _normalise_label(label: str) -> str:
    return " ".join(label.split()).casefold()
