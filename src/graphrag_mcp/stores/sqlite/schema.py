"""The tables of the index file, which all work trees of a repository share.

A row of `files` is one content of one path, and all that is derived from it is stored once, however many trees have it.
`tree_files` maps trees to contents. Readers see one tree: each connection creates views with the names of the tables
that hide the contents of other trees, so that no query can show a line of another tree. Only the writer, and the
full-text table, which cannot have a view, use all of them (`main.files`).

A chunk's id is `file_id << 16 | ordinal`: a file's chunks are one run of ids, so that its rows are replaced by range
and the file of a full-text match is known without a join. File ids are never reused.
"""

import re

from graphrag_mcp.text.expressions import folder_of_package

SCHEMA_VERSION = 11  # Increase it when older versions could not read or write the file; each format has its own file.
ORDINAL_BITS = 16  # A file has at most 65,536 chunks; one of 10 MB has about 7,000.
MAX_CHUNKS_PER_FILE = 1 << ORDINAL_BITS
ORDINAL_MASK = MAX_CHUNKS_PER_FILE - 1


LINK_BITS = 20  # A file has less than a million links.
NAMED = """s.name, s.qualified_name, s.kind, s.place, s.signature LIKE 'macro_rules!%', s.signature LIKE 'static %',
    s.kind = 'field' AND (s.signature = s.name OR s.signature LIKE s.name || ' %'),
    s.signature LIKE 'private %' AND s.signature NOT LIKE 'private protected %' OR s.signature LIKE 'fileprivate %',
    s.signature LIKE '%(this %' OR s.qualified_name LIKE '%.extension.%',
    s.start_line, s.end_line, s.least, s.most, s.signature"""


def of_linked(link_id: str, linked_id: str) -> str:
    """Return in SQL whether a link is of a resolved file, by their ids."""
    return f"{link_id} BETWEEN {linked_id} << {LINK_BITS} AND ({linked_id} + 1 << {LINK_BITS}) - 1"


def of_file(chunk_id: str, file_id: str) -> str:
    """Return in SQL whether a chunk is of a file, by their ids."""
    return f"{chunk_id} BETWEEN {file_id} << {ORDINAL_BITS} AND ({file_id} + 1 << {ORDINAL_BITS}) - 1"


# These are the columns of the full-text table with their weights in BM25. In the ranking study, having the fields
# matters (+.012), their exact weights hardly (± .003).
KEYWORD_FIELDS = {"names": 3.0, "stem": 2.0, "enclosing": 1.0, "comments": 0.5, "directory": 0.5, "body": 1.0}

_FOLDER = folder_of_package(__package__)
SCHEMA = (_FOLDER / "schema.sql").read_text("utf-8").format(keyword_fields=", ".join(KEYWORD_FIELDS))

# An index file that lacks one of these tables and indexes is damaged.
SCHEMA_OBJECTS = frozenset(re.findall(r"^CREATE (?:VIRTUAL )?(?:TABLE|INDEX) (\w+)", SCHEMA, re.MULTILINE))

_VIEWS = (_FOLDER / "views.sql").read_text("utf-8")


def tree_views(tree_id: int) -> list[str]:
    """Return the statements after which a connection sees the files of one tree only."""
    return [view for view in _VIEWS.format(tree_id=tree_id, link_bits=LINK_BITS).split(";\n") if view]
