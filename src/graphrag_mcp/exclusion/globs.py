"""Compiles the globs of a search: those of `include_patterns` and of `paths`, both written as in .gitignore."""

from collections.abc import Callable, Sequence

from graphrag_mcp.errors import RequestError, quoted
from graphrag_mcp.exclusion.patterns import Rule, RuleList, parse_rule

_ARGUMENT = "include_patterns"
_ADVICE = "give a glob such as 'docs/archive/'"


def compile_globs(patterns: Sequence[str], argument: str = _ARGUMENT) -> Callable[[str], bool]:
    """Return a predicate for paths relative to the root: true for what git would ignore under these patterns.

    So `docs/archive/` matches everything below that folder, and `!*.txt` negates an earlier match.
    Raises RequestError, which names the argument, for a pattern that is blank or can never match.
    """
    rules = RuleList([_parse(pattern, argument) for pattern in patterns])
    folders: dict[bytes, bool] = {b"": False}  # Most files share their folder with others.

    def is_below_match(folder: bytes) -> bool:
        pending = []
        while folder not in folders:
            pending.append(folder)
            folder = folder.rpartition(b"/")[0]
        found = folders[folder]
        for below in reversed(pending):
            found = folders[below] = found or _is_match(rules, below, is_folder=True)
        return found

    def matches(path: str) -> bool:
        key = path.encode(errors="surrogateescape")
        return is_below_match(key.rpartition(b"/")[0]) or _is_match(rules, key, is_folder=False)

    return matches


def _parse(pattern: str, argument: str) -> Rule:
    try:
        rule = parse_rule(pattern.encode(errors="surrogateescape"), argument, 0)
    except ValueError as error:
        raise RequestError(argument, f"{argument}: {quoted(pattern)} can never match: {error}; {_ADVICE}") from error
    if rule is None:
        raise RequestError(argument, f"{argument}: {quoted(pattern)} names no file; {_ADVICE}")
    return rule


def _is_match(rules: RuleList, path: bytes, *, is_folder: bool) -> bool:
    rule = rules.match(path, is_folder=is_folder)
    return rule is not None and not rule.negated
