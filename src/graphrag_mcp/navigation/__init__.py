"""Exact answers from the code graph and the files: where a symbol is, what it is related to, where a text occurs."""
