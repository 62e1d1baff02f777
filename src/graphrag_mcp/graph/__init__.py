"""Exact questions to the code graph."""
