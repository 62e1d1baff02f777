"""What the commands that run tests have in common."""

import re
import shlex
from collections.abc import Iterable

NAMED_TEST = re.compile(r'(?i)"|test|spec|bench|fuzz|example')  # How the names of tests begin; a title has quotes.
MOST_NAMES = 12  # If there are more tests, their files or packages are run as a whole.


def quoted(words: Iterable[str]) -> str:
    """Return distinct words for a shell; none is an option, whatever a file is called."""
    return shlex.join(dict.fromkeys(f"./{word}" if word.startswith("-") else word for word in words))
