"""Merges the lists of candidates into one order."""
