"""A local page that shows the index, and why a result is where it is."""
