"""From the files on disk to the rows in the stores: what changed, what its rows are, and when to look again."""
