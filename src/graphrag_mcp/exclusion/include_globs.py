"""Compiles the `include_patterns` of a search: gitignore globs for archived files that it includes."""

from collections.abc import Callable, Sequence

from graphrag_mcp.errors import RequestError, quoted
from graphrag_mcp.exclusion.patterns import Rule, RuleList, parse_rule

_ARGUMENT = "include_patterns"
_ADVICE = "give a glob such as 'docs/archive/'"


def compile_globs(patterns: Sequence[str]) -> Callable[[str], bool]:
    """Return a predicate for paths relative to the root: true for what git would ignore under these patterns.

    So `docs/archive/` matches everything below that folder, and `!*.txt` negates an earlier match.
    Raises RequestError for a pattern that is blank or can never match.
    """
    rules = RuleList([_parse(pattern) for pattern in patterns])

    def matches(path: str) -> bool:
        key = path.encode(errors="surrogateescape")
        end = key.find(b"/")
        while end >= 0:
            if _is_match(rules, key[:end], is_folder=True):
                return True
            end = key.find(b"/", end + 1)
        return _is_match(rules, key, is_folder=False)

    return matches


def _parse(pattern: str) -> Rule:
    try:
        rule = parse_rule(pattern.encode(errors="surrogateescape"), _ARGUMENT, 0)
    except ValueError as error:
        raise RequestError(_ARGUMENT, f"{_ARGUMENT}: {quoted(pattern)} can never match: {error}; {_ADVICE}") from error
    if rule is None:
        raise RequestError(_ARGUMENT, f"{_ARGUMENT}: {quoted(pattern)} names no file; {_ADVICE}")
    return rule


def _is_match(rules: RuleList, path: bytes, *, is_folder: bool) -> bool:
    rule = rules.match(path, is_folder=is_folder)
    return rule is not None and not rule.negated
