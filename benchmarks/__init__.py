"""Measures the program: quality, time, memory and relations; not installed with it."""
