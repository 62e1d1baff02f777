"""Brings the index up to date: finds what changed, parses it in processes, embeds and writes it."""
