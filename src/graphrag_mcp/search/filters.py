"""Checks the filters of a search: raises for a wrong one, and warns of one that has no effect."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from graphrag_mcp.errors import RequestError, ServerError, quoted
from graphrag_mcp.model.scope import Scope
from graphrag_mcp.model.search import SearchRequest
from graphrag_mcp.parsing.languages import detect_language, known_languages
from graphrag_mcp.ports import ChunkStore


def check_filters(request: SearchRequest, catalog: ChunkStore) -> SearchRequest:
    """Return the request with a warning for each filter that has no effect.

    Raises RequestError for a language that is neither indexed nor known. Nothing is checked while a server fails.
    """
    try:
        warnings = [*_check_languages(request.scope, catalog), *_check_patterns(request.scope, catalog)]
    except ServerError:
        return request
    return replace(request, warnings=(*request.warnings, *warnings))


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
    meant = detect_language(f"name.{language}")
    hint = f"; did you mean {meant}?" if meant else ""
    return f"languages = {quoted(language)}: expected any of {', '.join(expected)}{hint}"


def _check_patterns(scope: Scope, catalog: ChunkStore) -> Iterator[str]:
    if not scope.include_patterns:
        return
    if not scope.exclude_archived:
        yield "include_patterns changed nothing: exclude_archived is false, so all archived files are searched"
    elif not catalog.lifted(scope.include_patterns):
        yield "include_patterns changed nothing: they only add archived files to the search, and none matches them"
