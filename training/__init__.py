"""Trains the embedding model of the package: pairs out of checkouts, a vocabulary, a table, and its files."""
