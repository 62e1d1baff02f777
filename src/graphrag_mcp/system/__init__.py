"""Reads files, file names and git without trusting what is there; what concerns the process and its threads."""
