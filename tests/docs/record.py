"""Writes anew what the pages record of the program: tables, terminal sessions and answers of the tools.

    python -m tests.docs.record [PAGE.md ...]

What still matches is kept, with its "..."; the rest is written with "..." for times, sizes and versions.
"""

import sys
import tempfile
from pathlib import Path

from tests.docs import PAGES
from tests.docs.blocks import replace_blocks
from tests.docs.runner import Reader
from tests.docs.tables import write_tables


def record(pages: list[Path]) -> list[str]:
    """Write the pages and return what cannot be mended by that."""
    write_tables()
    left = []
    for page in pages:
        with tempfile.TemporaryDirectory() as folder:
            replace_blocks(page, Reader(page, Path(folder)).read().recorded)
            left += Reader(page, Path(folder)).read().problems
    return left


if __name__ == "__main__":
    chosen = [Path(name).resolve() for name in sys.argv[1:]] or list(PAGES)
    problems = record(chosen)
    sys.exit("\n\n".join(problems) if problems else 0)
