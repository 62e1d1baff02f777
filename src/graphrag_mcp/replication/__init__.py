"""Copies of the index on servers, and which store runs where."""
