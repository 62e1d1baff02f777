"""The laws of one ignore file's lines, without a disk."""

import time

import pytest

from graphrag_mcp.exclusion.patterns import Rule, RuleList, parse_rule
from tests.waiting import HANG_SECONDS


def parse(text: str) -> list[Rule]:
    """Read an ignore file's text as rules."""
    lines = enumerate(text.encode().split(b"\n"), start=1)
    return [rule for number, line in lines if (rule := parse_rule(line, ".gitignore", number))]


def matches(text: str, path: str, *, is_folder: bool = False) -> bool:
    """Tell whether the rules in the text ignore the path itself."""
    rule = RuleList(parse(text)).match(path.encode(), is_folder=is_folder)
    return rule is not None and not rule.negated


@pytest.mark.requirement("000-14", "B-01")
def test_double_star_matches_any_depth() -> None:
    """`**` matches no, one and many folders."""
    assert [matches("src/**/gen.py", path) for path in ("src/gen.py", "src/a/gen.py", "src/a/b/gen.py")] == [True] * 3
    assert not matches("src/**/gen.py", "lib/src/gen.py")


@pytest.mark.requirement("B-01", "B-02")
def test_a_star_stays_within_one_folder() -> None:
    """`*` does not cross a slash, and a pattern with any star compiles."""
    assert matches("src/*.py", "src/a.py")
    assert not matches("src/*.py", "src/a/b.py")


@pytest.mark.requirement("000-10")
def test_comments_and_empty_lines_are_no_rules() -> None:
    """`#` lines and empty lines are skipped, `\\#` is a name."""
    assert [rule.text for rule in parse("# a\n\n   \n\\#b\n")] == ["\\#b"]
    assert matches("\\#b", "#b")


@pytest.mark.requirement("000-11")
def test_the_last_match_wins() -> None:
    """A later `!` takes a path back, a still later pattern takes it again."""
    assert not matches("*.log\n!keep.log", "keep.log")
    assert matches("*.log\n!keep.log\nkeep.*", "keep.log")
    assert matches("\\!keep.log", "!keep.log")


@pytest.mark.requirement("000-12")
def test_a_slash_at_the_end_means_a_folder() -> None:
    """`build/` matches a folder of that name at any depth and no file."""
    assert matches("build/", "src/build", is_folder=True)
    assert not matches("build/", "src/build")


@pytest.mark.requirement("000-13")
def test_a_rule_remembers_where_it_stands() -> None:
    """Pattern, negation, folder flag, source and line."""
    (rule,) = parse("\n!docs/*/\n")
    assert (rule.text, rule.negated, rule.folders_only, rule.source, rule.line) == (
        "!docs/*/",
        True,
        True,
        ".gitignore",
        2,
    )


@pytest.mark.requirement("B-07")
@pytest.mark.parametrize(
    ("line", "name"),
    [
        ("foo  ", "foo"),
        ("foo\\ ", "foo "),
        ("foo\\ \\  ", "foo  "),
        ("foo\r", "foo"),
        ("foo \r", "foo"),
        ("f\\oo", "foo"),
    ],
)
def test_blanks_at_the_end_count_only_after_a_backslash(line: str, name: str) -> None:
    """Git's rules for trailing blanks, escapes and CRLF."""
    assert matches(line, name)


@pytest.mark.requirement("B-02")
@pytest.mark.parametrize("line", ["[", "a[b", "[[:nonsense:]]", "a\\", "x/[!"])
def test_a_pattern_that_can_never_match_is_named(line: str) -> None:
    """Git accepts a malformed pattern in silence; here it is an error that the reader turns into a warning."""
    with pytest.raises(ValueError, match=r"matching|class|backslash"):
        parse(line)


@pytest.mark.requirement("B-02")
def test_a_class_never_matches_a_slash() -> None:
    """`[!a]`, `[^a]` and `?` are one byte of a name."""
    assert matches("x[!a]y", "x-y")
    assert not matches("z/x[^a]y", "z/x/y")
    assert not matches("z/x?y", "z/x/y")


@pytest.mark.requirement("000-47")
def test_a_hostile_pattern_takes_no_time() -> None:
    """Many stars cost no more than a pass over the name."""
    rules = RuleList(parse("*a" * 40 + "b\n" + "**/a*/" * 20 + "b"))
    start = time.process_time()
    assert rules.match(b"a" * 250, is_folder=False) is None
    assert rules.match(b"/".join([b"aaaa"] * 200), is_folder=False) is None
    assert time.process_time() - start < HANG_SECONDS
