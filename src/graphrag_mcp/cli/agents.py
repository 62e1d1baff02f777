"""The section for coding agents in AGENTS.md and CLAUDE.md: which question goes to which tool."""

import re
from pathlib import Path

from graphrag_mcp.errors import GraphragError

BEGIN = "<!-- graphrag-mcp: begin (written by `graphrag-mcp init --agents`) -->"
END = "<!-- graphrag-mcp: end -->"
SECTION = """\
## Finding things in this repository

The MCP server `graphrag` has an index of it. Choose its tool by the question:

| you want to know | tool |
| --- | --- |
| where something is, how it works, which code; an error text; a name you are not sure of | `graphrag_hybrid_search` |
| where a name you know is defined and used; with `body` its code, callers and tests | `find_symbol` |
| callers (of a type: its users), callees, tests; `from` and `to`: how one reaches another | `trace_relations` |
| what an edit, or your diff, may break, and which tests to run first | `impact` |
| every line with a text or a pattern: for renames, and to be sure that nothing is missed | `find_occurrences` |
| why code is as it is, when it changed, whether something was tried before | `find_history` |
| which files deal with a topic, before you read any | `query_unique_documents` |
| passages of documents, decisions or configuration | `query_documents` |
| why an answer is thin: what is indexed, what was left out | `index_status` |

Use `rg` for an exact string in files you know, and for files that are not indexed. `paths`, or words such as "only in
src/http: ..." and "in the tests: ...", limit a search. If the first answer is not it, ask again with `queries`: the
symptom, its key words, names that you guess.
"""

_FILES = ("AGENTS.md", "CLAUDE.md")
_IMPORT = re.compile(r"^\s*@(?:\./)?AGENTS\.md\s*$", re.MULTILINE)  # How CLAUDE.md includes another file.
_BLOCK = re.compile(f"{re.escape(BEGIN)}.*?{re.escape(END)}", re.DOTALL)


def agent_files(root: Path) -> list[Path]:
    """Return the files that get the section: those that exist, else AGENTS.md; no text twice."""
    found = [root / name for name in _FILES if (root / name).is_file()] or [root / _FILES[0]]
    if len(found) == 2 and (found[0].samefile(found[1]) or _IMPORT.search(found[1].read_text(errors="replace"))):
        return found[:1]
    return found


def with_section(text: str, file: Path) -> str:
    """Return the text with the section as it is now, the rest byte for byte. Raises GraphragError."""
    line_end = "\r\n" if "\r\n" in text else "\n"
    block = f"{BEGIN}\n{SECTION}{END}".replace("\n", line_end)
    if _find(text, file):
        return _BLOCK.sub(lambda _: block, text, count=1)
    if not text:
        return block + line_end
    # The end of the text stays its end, so that `without_section` can restore it.
    return f"{text}{line_end}{block}{line_end}" if text.endswith("\n") else f"{text}{line_end * 2}{block}"


def without_section(text: str, file: Path) -> str:
    """Return the text as it was before `with_section`. Raises GraphragError."""
    found = _find(text, file)
    if found is None:
        return text
    before, after = text[: found.start()], text[found.end() :]
    line_end = "\r\n" if before.endswith("\r\n") else "\n"
    above = before.removesuffix(line_end)
    if not after:
        return above.removesuffix(line_end)
    return (above if above.endswith("\n") else before) + after.removeprefix(line_end)


def _find(text: str, file: Path) -> re.Match[str] | None:
    found = _BLOCK.search(text)
    if text.count(BEGIN) > 1 or (found is None and (BEGIN in text or END in text)):
        raise GraphragError(
            f"{file} has a part of the section of graphrag-mcp; remove {BEGIN} to {END}, then run again"
        )
    return found
