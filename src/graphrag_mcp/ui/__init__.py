"""A local page that shows the index, and explains the rank of a result."""
