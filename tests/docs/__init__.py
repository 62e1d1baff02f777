"""README.md and docs/: what they show is run, and what they say of the code is what the code says."""

from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
