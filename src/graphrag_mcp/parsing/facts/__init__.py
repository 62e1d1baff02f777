"""Reads the facts of a file from its syntax tree: one query and one table of expressions for each language."""
