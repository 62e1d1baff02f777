"""One index over its life: its location, its writer, and the freshness of an answer."""
