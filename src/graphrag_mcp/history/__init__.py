"""What past commits say about the code: the list of a search, how lines came to be, what changes together."""
