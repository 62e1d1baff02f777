"""Arguments in, text and JSON out: what the tools, the command line and the page share."""
