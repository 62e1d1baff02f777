"""Writes the files of a small project."""

from pathlib import Path


def write_files(root: Path, **texts: str) -> Path:
    """Write `.gitignore` and `.graphragignore` in the root by keyword, and return the root."""
    for name, text in texts.items():
        (root / f".{name}").write_text(text)
    return root


def touch_files(root: Path, *paths: str) -> Path:
    """Create small files, and the folders they are in, and return the root."""
    for path in paths:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(f"the content of {path}\n")
    return root
