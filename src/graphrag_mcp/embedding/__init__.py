"""Turns text into vectors: the texts that stand for a chunk, and the models that embed them."""
