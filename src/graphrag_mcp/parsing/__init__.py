"""Parses the bytes of one file to a `ParsedFile`: its category, chunks, symbols and relations."""

PARSER_VERSION = 64  # Increase it when a file is parsed or resolved differently, so that it is again.
SYNTAX_LIMIT_BYTES = 1_000_000  # Larger code files are data in the form of code.
