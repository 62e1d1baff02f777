"""From the bytes of one file to a frozen `ParsedFile`: its category, chunks, symbols and relations."""
