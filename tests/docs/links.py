"""Reads the links of a page, and the anchors that its headings have on GitHub."""

import re
from collections import Counter
from pathlib import Path

_FENCED = re.compile(r"^(`{3,}).*?^\1$", re.DOTALL | re.MULTILINE)
_LINK = re.compile(r"\]\((?!https?:|mailto:)([^)\s]+)\)")
_HEADING = re.compile(r"^#{1,6} (.+?)$", re.MULTILINE)


def links_of(page: Path) -> list[str]:
    """Return the relative links of a page, as they are written."""
    return _LINK.findall(_prose(page))


def anchors_of(page: Path) -> set[str]:
    """Return what can stand after "#" in a link to a page."""
    seen: Counter[str] = Counter()
    anchors = set()
    for heading in _HEADING.findall(_prose(page)):
        words = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading).lower()
        anchor = re.sub(r"[^\w\- ]", "", words).replace(" ", "-")
        anchors.add(f"{anchor}-{seen[anchor]}" if seen[anchor] else anchor)
        seen[anchor] += 1
    return anchors


def _prose(page: Path) -> str:
    return _FENCED.sub("", page.read_text(encoding="utf-8"))
