"""Follows the edits of a work tree."""
