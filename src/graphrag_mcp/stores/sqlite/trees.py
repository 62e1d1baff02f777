"""The work trees that share an index file: finding, creating and removing them.

A root may have two trees while the model changes: the complete one of the old model, which is searched, and the one of
the new model, which is being built. When it is complete too, the old one is retired.
"""

import sqlite3
from collections.abc import Iterable
from typing import NamedTuple

from graphrag_mcp.stores.sqlite.schema import LINK_BITS, NAMED, ORDINAL_BITS, of_linked

# The links of other files may depend on these columns of the file of the row `t` of `tree_files`.
OF_FILE = f"""x.data, m.data, iif(t.file_id, (SELECT json_group_array(json_array(
        {NAMED}))
    FROM main.symbols s WHERE s.file_id = t.file_id AND s.kind != 'key'), NULL), o.data, t.archive_reason IS NOT NULL"""
JOINED_FACTS = """LEFT JOIN main.facts x ON x.file_id = t.file_id LEFT JOIN main.manifests m ON m.file_id = t.file_id
    LEFT JOIN main.outlines o ON o.file_id = t.file_id"""


REMOVE_LINKS = f"DELETE FROM main.links WHERE {of_linked('id', '?1')}"


class Tree(NamedTuple):
    """A row of `trees`; `model` is the fingerprint of its vectors, "" without any."""

    tree_id: int
    root: str
    model: str


def served_tree(connection: sqlite3.Connection, root: str) -> Tree | None:
    """Return the tree that answers searches of this root: a complete one, if there is one."""
    row = connection.execute(
        """SELECT t.id, t.root, t.model FROM main.trees t
           LEFT JOIN main.meta m ON m.tree_id = t.id AND m.key = 'indexed_at'
           WHERE t.root = ? ORDER BY m.value IS NULL, t.id DESC LIMIT 1""",
        (root,),
    ).fetchone()
    return Tree(*row) if row else None


def find_tree(connection: sqlite3.Connection, root: str, model: str | None) -> Tree | None:
    """Return the tree of a root: the one that is searched, or the one with the vectors of this model."""
    if model is None:
        return served_tree(connection, root)
    row = connection.execute(
        "SELECT id, root, model FROM main.trees WHERE root = ? AND model = ?", (root, model)
    ).fetchone()
    return Tree(*row) if row else None


def make_tree(connection: sqlite3.Connection, root: str, model: str | None) -> Tree:
    """Return the tree of a root, created if missing; an incomplete tree is reused for the new model."""
    tree = find_tree(connection, root, model)
    if tree is not None:
        return tree
    unfinished = served_tree(connection, root)
    if unfinished is not None and not _is_complete(connection, unfinished.tree_id):
        connection.execute("UPDATE main.trees SET model = ? WHERE id = ?", (model, unfinished.tree_id))
        return unfinished._replace(model=model or "")
    (tree_id,) = connection.execute(
        "INSERT INTO main.trees (root, model) VALUES (?, ?) RETURNING id", (root, model or "")
    ).fetchone()
    return Tree(tree_id, root, model or "")


def retire_others(connection: sqlite3.Connection, tree: Tree) -> None:
    """Remove the other trees of this root; their marks of replicas become this tree's, so that it replaces them."""
    others = connection.execute(
        "SELECT id FROM main.trees WHERE root = ? AND id != ?", (tree.root, tree.tree_id)
    ).fetchall()
    for (other,) in others:
        connection.execute("UPDATE OR IGNORE main.projected SET tree_id = ? WHERE tree_id = ?", (tree.tree_id, other))
        remove_tree(connection, other)


def remove_tree(connection: sqlite3.Connection, tree_id: int) -> None:
    """Remove a tree, and its files that no other tree has."""
    ids = [
        file_id
        for (file_id,) in connection.execute("SELECT file_id FROM main.tree_files WHERE tree_id = ?", (tree_id,))
    ]
    connection.execute(
        f"DELETE FROM main.links WHERE id >> {LINK_BITS} IN (SELECT id FROM main.linked WHERE tree_id = ?)", (tree_id,)
    )
    for table in ("tree_files", "meta", "skipped", "projected", "tree_history", "linked", "superseded"):
        connection.execute(f"DELETE FROM main.{table} WHERE tree_id = ?", (tree_id,))
    connection.execute("DELETE FROM main.trees WHERE id = ?", (tree_id,))
    remove_orphans(connection, ids)


def supersede(connection: sqlite3.Connection, tree_id: int, paths: Iterable[str]) -> None:
    """Keep the facts and names that the links of others depend on, and remove the links of these files.

    Call it before the files change.
    """
    for path in paths:
        row = (tree_id, path)
        connection.execute(
            f"""INSERT OR IGNORE INTO main.superseded
               SELECT ?1, ?2, {OF_FILE} FROM (SELECT 1)
               LEFT JOIN main.tree_files t ON t.tree_id = ?1 AND t.path = ?2 {JOINED_FACTS}
               WHERE EXISTS (SELECT 1 FROM main.linked WHERE tree_id = ?1)""",
            row,
        )
        linked = connection.execute(
            """SELECT l.id FROM main.tree_files t CROSS JOIN main.linked l ON l.tree_id = ?1 AND l.file_id = t.file_id
               WHERE t.tree_id = ?1 AND t.path = ?2""",
            row,
        ).fetchone()
        if linked:
            connection.execute(REMOVE_LINKS, linked)
            connection.execute("DELETE FROM main.linked WHERE id = ?", linked)


def remove_orphans(connection: sqlite3.Connection, file_ids: Iterable[int]) -> None:
    for file_id in file_ids:
        if connection.execute("SELECT 1 FROM main.tree_files WHERE file_id = ?", (file_id,)).fetchone() is None:
            remove_rows(connection, file_id)
            connection.execute("DELETE FROM main.files WHERE id = ?", (file_id,))


def remove_rows(connection: sqlite3.Connection, file_id: int) -> None:
    """Remove all rows derived from a file's content."""
    run = (file_id << ORDINAL_BITS, (file_id + 1) << ORDINAL_BITS)
    connection.execute("DELETE FROM keywords WHERE rowid >= ? AND rowid < ?", run)
    connection.execute("DELETE FROM vectors WHERE chunk_id >= ? AND chunk_id < ?", run)
    connection.execute("DELETE FROM chunks WHERE id >= ? AND id < ?", run)
    for table in ("match_keys", "path_words", "module_keys", "symbols", "outlines", "facts", "manifests"):
        connection.execute(f"DELETE FROM main.{table} WHERE file_id = ?", (file_id,))


def _is_complete(connection: sqlite3.Connection, tree_id: int) -> bool:
    cursor = connection.execute("SELECT 1 FROM main.meta WHERE tree_id = ? AND key = 'indexed_at'", (tree_id,))
    return cursor.fetchone() is not None
