"""Brings the index up to date: what changed, parsed in processes, embedded and written."""
