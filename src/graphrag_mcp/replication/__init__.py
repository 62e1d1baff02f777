"""Replicas of the index on Qdrant and Neo4j, and which store runs where."""
