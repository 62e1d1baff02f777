"""Decides what names in code mean, from the facts of files: one resolver, and one policy for each language."""
