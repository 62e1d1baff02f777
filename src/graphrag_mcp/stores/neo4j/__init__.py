"""The graph store on Neo4j, as a copy of the local index."""
