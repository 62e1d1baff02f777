"""How the lists of candidates become one order."""
