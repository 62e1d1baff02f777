"""Parses the bytes of one file to a `ParsedFile`: its category, chunks, symbols and relations."""
