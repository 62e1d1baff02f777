"""Decides which files of a project are indexed, which of them count as archived, and which a search leaves out."""
