"""The application over one project: with its index, or over servers alone."""
