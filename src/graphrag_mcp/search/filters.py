"""Checks the filters of a search: raises for a wrong one, and warns of one that has no effect."""

import difflib
from collections.abc import Iterator, Sequence

from msgspec.structs import replace

from graphrag_mcp.errors import RequestError, ServerError, quoted
from graphrag_mcp.languages.registry import detect_language, known_languages
from graphrag_mcp.model.paths import folders
from graphrag_mcp.model.scope import EVERYTHING, Scope
from graphrag_mcp.model.search import SearchRequest
from graphrag_mcp.ports import ChunkStore
from graphrag_mcp.text.names import as_name

NEAREST_PATHS = 3
TOP_FOLDERS = 12  # Shown where a path matches nothing: more than most repositories have.


def check_filters(request: SearchRequest, catalog: ChunkStore) -> SearchRequest:
    """Return the request with a warning for each filter that has no effect.

    Raises RequestError for a language that is neither indexed nor known, and for a path that matches no indexed file.
    Nothing is checked while a server fails.
    """
    scope = request.scope
    try:
        check_paths(scope, catalog)
        warnings = [*_check_languages(scope, catalog), *_check_patterns(scope, catalog)]
    except ServerError:
        return request
    return replace(request, warnings=(*request.warnings, *warnings))


def check_paths(scope: Scope, catalog: ChunkStore) -> None:
    """Raise RequestError, with what there is instead, if one of the paths or all together match no indexed file."""
    if not scope.paths:
        return
    chosen = catalog.scope_paths.chosen(scope.paths)
    if chosen.unmatched:
        raise RequestError("paths", _describe_unmatched(chosen.unmatched, catalog))
    if chosen.is_empty:
        raise RequestError("paths", "paths: no indexed file is left; leave out an entry that begins with !")


def _describe_unmatched(glob: str, catalog: ChunkStore) -> str:
    """Return that a path matches nothing, with the nearest paths and the top folders."""
    files = [path for path, _ in catalog.paths(EVERYTHING)]
    known = dict.fromkeys(folder for file in files for folder in folders(file)[:-1])
    wanted = glob.strip("/").replace("\\", "")
    nearest = _nearest(wanted, [*known, *files])
    top = [as_name(f"{folder}/") for folder in known if "/" not in folder]
    shown = ", ".join(top[:TOP_FOLDERS]) + (f" and {len(top) - TOP_FOLDERS} more" if len(top) > TOP_FOLDERS else "")
    hint = f"; did you mean {' or '.join(map(as_name, nearest))}?" if nearest else "."
    return f"paths: {quoted(wanted)} matches no indexed file{hint} The folders at the top are: {shown or 'none'}"


def _nearest(wanted: str, paths: Sequence[str]) -> list[str]:
    """Return the paths that look most like one; first those whose last name does."""
    by_name: dict[str, list[str]] = {}
    for path in paths:
        by_name.setdefault(path.rpartition("/")[2], []).append(path)
    names = difflib.get_close_matches(wanted.rpartition("/")[2], by_name, NEAREST_PATHS)
    same_name = [path for name in names for path in by_name[name]]
    same_name.sort(key=lambda path: -difflib.SequenceMatcher(None, wanted, path).ratio())
    return same_name[:NEAREST_PATHS]


def _check_languages(scope: Scope, catalog: ChunkStore) -> Iterator[str]:
    if not scope.languages:
        return
    indexed = sorted(filter(None, catalog.languages()))
    absent = sorted(scope.languages.difference(indexed))
    for language in absent:
        if language not in known_languages():
            raise RequestError("languages", _unknown(language, indexed or sorted(known_languages())))
    if absent:
        yield f"languages: no indexed file is in {' or '.join(absent)}, only in {', '.join(indexed) or 'none yet'}"


def _unknown(language: str, expected: Sequence[str]) -> str:
    detected = detect_language(f"name.{language}")
    hint = f"; did you mean {detected}?" if detected else ""
    return f"languages = {quoted(language)}: expected any of {', '.join(expected)}{hint}"


def _check_patterns(scope: Scope, catalog: ChunkStore) -> Iterator[str]:
    if not scope.include_patterns:
        return
    if not scope.exclude_archived:
        yield "include_patterns changed nothing: exclude_archived is false, so all archived files are searched"
    elif not catalog.scope_paths.lifted(scope.include_patterns):
        yield "include_patterns changed nothing: they only add archived files to the search, and none matches them"
