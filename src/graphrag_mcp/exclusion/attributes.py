"""Reads which files the root's `.gitattributes` marks for Linguist: as vendored, generated, or documentation."""

from dataclasses import replace
from pathlib import Path

from graphrag_mcp.exclusion.patterns import Rule, RuleList, parse_rule
from graphrag_mcp.model.files import Category
from graphrag_mcp.system.safe_files import read_file_below

ATTRIBUTES_FILE = ".gitattributes"
MAX_BYTES = 1_000_000
# The first attribute that is set for a file counts.
_CATEGORIES = {
    "linguist-vendored": Category.VENDORED,
    "linguist-generated": Category.DATA,
    "linguist-documentation": Category.DOCUMENTATION,
}
_UNSET = ("false", "no", "0")


class StatedCategories:
    """The categories that the root's `.gitattributes` states; none where it cannot be read."""

    def __init__(self, root: Path) -> None:
        try:
            lines = read_file_below(root, ATTRIBUTES_FILE, MAX_BYTES).split(b"\n")
        except OSError:
            lines = []
        self._rules = {category: RuleList(_rules(lines, name)) for name, category in _CATEGORIES.items()}

    def of(self, path: str) -> Category | None:
        """Return the category that the attributes give a file; path: relative to the root, with forward slashes."""
        name = path.encode(errors="surrogateescape")
        return next((category for category, rules in self._rules.items() if rules.choose(name, is_folder=False)), None)


def _rules(lines: list[bytes], attribute: str) -> list[Rule]:
    """Return the patterns of the lines that set an attribute, and, negated, of those that unset it."""
    rules = []
    for number, line in enumerate(lines, 1):
        pattern, attributes = _split(line)
        settings = dict(map(_setting, attributes))  # The last one of a name counts.
        try:
            rule = parse_rule(pattern, ATTRIBUTES_FILE, number) if attribute in settings else None
        except ValueError:  # The pattern can never match.
            rule = None
        if rule is not None and not rule.negated:  # Git takes no pattern with `!` here.
            rules.append(replace(rule, negated=not settings[attribute]))
    return rules


def _split(line: bytes) -> tuple[bytes, list[bytes]]:
    """Return the pattern of a line, which may be in quotes, and the attributes."""
    line = line.strip()
    if line.startswith(b'"'):
        pattern, _, rest = line[1:].partition(b'"')
    else:
        pattern, _, rest = line.replace(b"\t", b" ").partition(b" ")
    return pattern, rest.split()


def _setting(attribute: bytes) -> tuple[str, bool]:
    """Return the name of an attribute, and whether it is set."""
    name, _, value = attribute.decode(errors="replace").partition("=")
    return name.lstrip("-!"), name[:1] not in "-!" and value.lower() not in _UNSET
