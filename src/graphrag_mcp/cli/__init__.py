"""The command line: serve, index, search, watch, status, eval."""
