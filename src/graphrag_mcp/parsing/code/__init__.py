"""Code: chunks, symbols and relations from a syntax tree."""
