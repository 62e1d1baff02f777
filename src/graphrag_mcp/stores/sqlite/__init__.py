"""The embedded backend: one SQLite file in WAL mode that many processes read while one writes."""
