"""The vector and keyword index on Qdrant, as a replica of the local index."""
