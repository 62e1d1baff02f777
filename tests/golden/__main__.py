"""Writes `ranking.txt` anew, from how the search ranks now: `python -m tests.golden`."""

import tempfile
from pathlib import Path

from tests.golden.golden import RANKING, Golden

with tempfile.TemporaryDirectory() as folder:
    golden = Golden(Path(folder))
    RANKING.write_text(golden.ranking(golden.ask()), encoding="utf-8")
    golden.close()
