"""What the commands that run tests have in common."""

import re
import shlex
from collections.abc import Iterable

# The names of the annotations and attributes that make a function a test, and how the signature of one begins.
_MARKS = r"(?:(?!Before|After)\w{0,60}?(?:Test|Fact|Theory|TestMethod|TestCase|TestCaseSource|TestFactory|TestTemplate)"
_MARKS += r"(?:Attribute)?|(?:\w{0,60}_)?test|rstest|test_case|quickcheck|Property|Benchmark)"
TEST_MARK = re.compile(_MARKS)
MARKED_TEST = re.compile(rf"(?:#?\[|@){_MARKS}(?!\w)")
NAMED_TEST = re.compile(r'(?i)"|test|spec|bench|fuzz|example')  # How the names of tests begin; a title has quotes.
SAYS_CASE = None  # Of a language without a folder, nothing says what is started.
MOST_NAMES = 12  # If there are more tests, their files or packages are run as a whole.


def quoted(words: Iterable[str]) -> str:
    """Return distinct words for a shell; none is an option, whatever a file is called."""
    return shlex.join(dict.fromkeys(f"./{word}" if word.startswith("-") else word for word in words))
