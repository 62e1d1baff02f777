"""One index over its life: where it is, who writes it, and how fresh an answer is."""
