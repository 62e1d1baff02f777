"""Reads the keys of configuration files, with the line of each value."""
