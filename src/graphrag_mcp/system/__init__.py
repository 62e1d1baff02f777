"""Reads files, file names and git without trusting what is there."""
