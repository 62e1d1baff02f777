"""Work that ends the process it runs in; a parsing process imports this and nothing else of the tests."""

import os
from pathlib import PosixPath


class DeadlyPath(PosixPath):
    """A folder that takes the process that reads in it down, as a fault in a grammar's C code does."""

    def __fspath__(self) -> str:
        """End the process at once."""
        os._exit(1)


def end_at_seven(number: int) -> int:
    """Return the number, but end the process at seven."""
    if number == 7:
        os._exit(1)
    return number
