"""Exact answers from the code graph."""
