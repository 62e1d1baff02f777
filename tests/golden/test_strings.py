"""The golden file of texts: every change of wording is a diff to review."""

import ast

from tests.golden.strings import STRINGS_FILE, python_texts, render_strings


def test_the_golden_file_has_the_texts_of_the_package() -> None:
    """A text that is added, changed or removed shows in strings.txt."""
    assert render_strings() == STRINGS_FILE.read_text(encoding="utf-8"), "run: make strings, and review the diff"


def test_messages_templates_and_labels_are_texts_and_docstrings_and_queries_are_not() -> None:
    """What a user reads is collected from each form in which the program writes it."""
    source = '''
"""A docstring of the module."""
WARNING = "the folder is missing"
LABELS = {"import": "explicit"}
def check(path: "tuple[int, str] | None") -> None:
    """A docstring."""
    pattern.compile("two words")
    raise IndexStoreError(f"{path.name} holds {'no rows' if not rows else rows}; run it again")
'''
    shown = ["the folder is missing", "explicit", "{name} holds {rows}; run it again", "no rows"]
    assert list(python_texts("tools/one.py", ast.parse(source))) == shown
    assert list(python_texts("stores/sqlite/one.py", ast.parse(source))) == shown[2:]
