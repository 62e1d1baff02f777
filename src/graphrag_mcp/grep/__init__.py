"""Every occurrence of a text in the files."""
