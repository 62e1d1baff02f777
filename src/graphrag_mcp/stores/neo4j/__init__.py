"""The graph store on Neo4j, as a replica of the local index."""
