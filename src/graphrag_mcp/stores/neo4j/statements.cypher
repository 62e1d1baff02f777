// The statements of the replica. Each has a name in a line `//: name`; `<<name>>` in one stands for another, or for a
// part that its caller gives.

//: setup
CREATE CONSTRAINT file_key IF NOT EXISTS FOR (n:File) REQUIRE n.key IS UNIQUE;
CREATE CONSTRAINT chunk_key IF NOT EXISTS FOR (n:Chunk) REQUIRE n.key IS UNIQUE;
CREATE CONSTRAINT symbol_key IF NOT EXISTS FOR (n:Symbol) REQUIRE n.key IS UNIQUE;
CREATE INDEX file_project IF NOT EXISTS FOR (n:File) ON (n.project);
CREATE INDEX symbol_name IF NOT EXISTS FOR (n:Symbol) ON (n.project, n.name_key);
// For queries that users write; searches of this program do not use it, so a commit does not wait for it.
CREATE FULLTEXT INDEX symbol_names IF NOT EXISTS FOR (n:Symbol) ON EACH [n.name, n.qualified_name]
OPTIONS {indexConfig: {`fulltext.eventually_consistent`: true}}

//: in_scope
// The scope, on the chunk `c`: applied before any LIMIT.
(NOT $hide_archived OR NOT c.is_archived OR c.path IN $lifted)
    AND (size($excluded) = 0 OR none(key IN c.match_keys WHERE key IN $excluded))
    AND (size($categories) = 0 OR c.category IN $categories)
    AND (size($languages) = 0 OR c.language IN $languages)
    AND ($every_path
         OR $inside = (c.path IN $files OR any(folder IN $folders WHERE c.path STARTS WITH folder)))

//: point
c.key AS key, c.path AS path, c.version AS version, c.ordinal AS ordinal

// ---------------------------------------------------------------- writing

//: remove_symbols
UNWIND $files AS file
MATCH (:File {key: file.key})-[:HAS_CHUNK]->(:Chunk)-[:DEFINES]->(s:Symbol) WHERE NOT s.key IN file.symbols
WITH DISTINCT s DETACH DELETE s

//: remove_chunks
UNWIND $files AS file
MATCH (:File {key: file.key})-[:HAS_CHUNK]->(c:Chunk)
DETACH DELETE c

//: remove_files
UNWIND $files AS file MATCH (f:File {key: file.key}) DETACH DELETE f

//: write
// One statement for a batch, so that no chunk is looked up again for its symbols and edges.
UNWIND $files AS file
MERGE (f:File {key: file.key}) SET f += file.properties
WITH f, file UNWIND file.chunks AS row
CREATE (f)-[:HAS_CHUNK]->(c:Chunk) SET c = row.properties
WITH c, row
CALL (c, row) {
    UNWIND row.symbols AS symbol
    MERGE (s:Symbol {key: symbol.key}) SET s += symbol.properties
    CREATE (c)-[:DEFINES]->(s)
}
<<edges>>

//: write_edges
// The target may be in a file that is not written yet: until then it is a node with only a key, which no search returns.
CALL (c, row) {
    UNWIND row.<<field>> AS edge
    MERGE (t:<<label>> {key: edge.target}) ON CREATE SET t.project = $project
    CREATE (c)-[r:<<type>>]->(t) SET r = edge.properties
}

//: mark_sections
UNWIND $keys AS key MATCH (s:Symbol {key: key}) SET s:Section

//: clear
// Nodes that are only a key are removed with the last chunk that points at them.
MATCH (:File {project: $project})-[:HAS_CHUNK]->(c:Chunk)
CALL (c) { OPTIONAL MATCH (c)-->(t:Symbol) DETACH DELETE t, c } IN TRANSACTIONS OF 2000 ROWS;
MATCH (f:File {project: $project}) CALL (f) { DETACH DELETE f } IN TRANSACTIONS OF 2000 ROWS

// ---------------------------------------------------------------- what is there

//: stored_definitions
MATCH (f:File)-[:HAS_CHUNK]->(c:Chunk)-[:DEFINES]->(s:Symbol) WHERE f.key IN $keys
RETURN DISTINCT f.path AS path, s.key AS key, s.name_key AS name, c.is_archived AS archived

//: stored_files
MATCH (f:File) WHERE f.key IN $keys AND f.version IS NOT NULL RETURN f.path AS path, f.is_archived AS archived

//: dependents
// The files that point at a removed symbol, and those with a relation resolved by a name that may now have too many
// definitions. A new symbol may be a relation's target before it is written, and has no name until then.
MATCH (f:File)<-[]-(c:Chunk) WHERE f.key IN $files RETURN c.path AS path
UNION
MATCH (s:Symbol)<-[]-(c:Chunk) WHERE s.key IN $going RETURN c.path AS path
UNION
MATCH (s:Symbol)<-[r]-(c:Chunk) WHERE s.key IN $coming AND r.resolution IN ['name', 'candidates', 'unknown']
RETURN c.path AS path
UNION
MATCH (s:Symbol)<-[r]-(c:Chunk)
WHERE s.project = $project AND s.name_key IN $names AND r.resolution IN ['name', 'candidates', 'unknown']
RETURN c.path AS path

//: count_chunks
MATCH (f:File {project: $project}) RETURN sum(COUNT { (f)-[:HAS_CHUNK]->() }) AS chunks

//: versions
MATCH (f:File {project: $project}) WHERE f.version IS NOT NULL
RETURN f.path AS path, f.version AS version, COUNT { (f)-[:HAS_CHUNK]->() } AS chunks

// ---------------------------------------------------------------- searching

//: find
MATCH (s:Symbol) WHERE s.project = $project AND s.name_key IN $names
MATCH (s)<-[:DEFINES]-(c:Chunk) WHERE <<in_scope>>
RETURN <<point>>, s.name AS name, s.qualified_name AS qualified_name, s.kind AS kind, s.start_line AS start_line,
       s.end_line AS end_line, s.signature AS signature
ORDER BY path, start_line LIMIT $limit

//: is_from
(size($symbols) = 0 OR any(one IN $symbols WHERE r.source = one OR r.source STARTS WITH one + '.'))

//: neighbours
// At most 400 edges of one seed are read, and 40 mentions of one chunk's definitions.
UNWIND range(0, size($seeds) - 1) AS rank
MATCH (seed:Chunk {key: $seeds[rank]})
CALL (seed) {
    MATCH (seed)-[r:<<types>>]->(:Symbol)<-[:DEFINES]-(c:Chunk) WHERE c <> seed AND <<is_from>> AND <<in_scope>>
    RETURN r, c, 'out' AS direction LIMIT 400
  UNION ALL
    MATCH (seed)-[r:<<types>>]->(:File)-[:HAS_CHUNK]->(c:Chunk {ordinal: 0})
    WHERE c <> seed AND <<is_from>> AND <<in_scope>>
    RETURN r, c, 'out' AS direction LIMIT 400
  UNION ALL
    MATCH (seed)-[:DEFINES]->(s:Symbol)<-[r:<<types>>]-(c:Chunk)
    WHERE c <> seed AND (size($symbols) = 0 OR s.qualified_name IN $symbols) AND <<in_scope>>
    RETURN r, c, 'in' AS direction ORDER BY r.confidence DESC LIMIT 40
}
RETURN rank, direction, <<point>>, type(r) AS kind, r.source AS source, r.target AS target, r.confidence AS confidence,
       r.resolution AS resolution
ORDER BY confidence DESC, rank, path, ordinal LIMIT $edges

//: mentions
MATCH (said:Chunk)-[r:<<types>>]->(s:Symbol)
WHERE said.key IN $chunks AND s.kind <> 'field'
MATCH (s)<-[:DEFINES]-(c:Chunk) WHERE c.path <> said.path AND <<in_scope>>
    AND size(COLLECT {
        MATCH (other:Symbol)<-[:DEFINES]-(where:Chunk)
        WHERE other.project = s.project AND other.name_key = s.name_key AND other.kind <> 'key'
        RETURN DISTINCT where.path LIMIT 3
    }) < 3
RETURN DISTINCT said.key AS said, <<point>>, COUNT { (s)<-[:CALLS|IMPORTS|INHERITS|TESTS]-() } AS occurrences

//: backlinks
MATCH (f:File)-[:HAS_CHUNK]->(asked:Chunk) WHERE asked.key IN $chunks
WITH f, collect(asked.key) AS keys
CALL (f) {
    MATCH (f)-[:HAS_CHUNK]->(:Chunk)-[:DEFINES]->(:Symbol)<-[r:<<types>>]-(c:Chunk)
    WHERE c.path <> f.path AND NOT c.is_archived AND NOT r.resolution IN ['candidates', 'unknown'] RETURN c.path AS path
  UNION
    MATCH (f)<-[:<<types>>]-(c:Chunk) WHERE c.path <> f.path AND NOT c.is_archived RETURN c.path AS path
}
WITH keys, count(DISTINCT path) AS files
UNWIND keys AS key RETURN key, files
