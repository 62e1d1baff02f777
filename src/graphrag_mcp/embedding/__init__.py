"""Turns chunks into vectors: the texts that represent a chunk, and the models that embed them."""
