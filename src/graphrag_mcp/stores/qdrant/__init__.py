"""The vector and keyword index on Qdrant, as a copy of the local index."""
