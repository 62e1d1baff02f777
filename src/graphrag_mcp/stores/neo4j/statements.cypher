// The statements of the replica. Each has a name in a line `//: name`; `<<name>>` in one stands for another, or for a
// part that its caller gives.

//: setup
CREATE CONSTRAINT file_key IF NOT EXISTS FOR (n:File) REQUIRE n.key IS UNIQUE;
CREATE CONSTRAINT chunk_key IF NOT EXISTS FOR (n:Chunk) REQUIRE n.key IS UNIQUE;
CREATE CONSTRAINT symbol_key IF NOT EXISTS FOR (n:Symbol) REQUIRE n.key IS UNIQUE;
CREATE CONSTRAINT project_key IF NOT EXISTS FOR (n:Project) REQUIRE n.key IS UNIQUE;
CREATE CONSTRAINT folder_key IF NOT EXISTS FOR (n:Folder) REQUIRE n.key IS UNIQUE;
CREATE CONSTRAINT external_key IF NOT EXISTS FOR (n:External) REQUIRE n.key IS UNIQUE;
CREATE INDEX external_name_in IF NOT EXISTS FOR (n:External) ON (n.name);
CREATE INDEX external_project IF NOT EXISTS FOR (n:External) ON (n.project);
CREATE INDEX folder_project IF NOT EXISTS FOR (n:Folder) ON (n.project);
CREATE INDEX file_project IF NOT EXISTS FOR (n:File) ON (n.project);
CREATE INDEX symbol_name IF NOT EXISTS FOR (n:Symbol) ON (n.project, n.name_key);
// For queries that users write; searches of this program do not use it, so a commit does not wait for it.
CREATE FULLTEXT INDEX symbol_names IF NOT EXISTS FOR (n:Symbol) ON EACH [n.name, n.qualified_name]
OPTIONS {indexConfig: {`fulltext.eventually_consistent`: true}}

//: upgrade
// Once, packages from outside were shared by projects.
DROP CONSTRAINT external_name IF EXISTS

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

//: remove_folders
MATCH (d:Folder {project: $project}) WHERE NOT (d)-[:CONTAINS]->() DETACH DELETE d

//: write_folders
UNWIND $folders AS row
MERGE (d:Folder {key: row.key}) SET d.project = $project, d.path = row.path
WITH d, row WHERE row.key <> row.parent
MATCH (outer:Folder {key: row.parent})
MERGE (outer)-[:CONTAINS]->(d)

//: write
UNWIND $files AS file
MERGE (f:File {key: file.key}) SET f += file.properties
WITH f, file
CALL (f, file) { MATCH (d:Folder {key: file.folder}) MERGE (d)-[:CONTAINS]->(f) }
WITH f, file UNWIND file.chunks AS row
CREATE (f)-[:HAS_CHUNK]->(c:Chunk) SET c = row.properties
WITH c, row
CALL (c, row) {
    UNWIND row.symbols AS symbol
    MERGE (s:Symbol {key: symbol.key})
    REMOVE s:Function:Method:Class:Interface:Field:Constant:Module:Section:Key:Test
    SET s += symbol.properties, s:$(symbol.labels)
    CREATE (c)-[:DEFINES]->(s)
}

//: write_contents
UNWIND $files AS file UNWIND file.contains AS pair
MATCH (inner:Symbol {key: pair.inner})
CALL (inner) { MATCH ()-[r:CONTAINS]->(inner) DELETE r }
CALL (pair) {
    MATCH (outer:Symbol {key: pair.outer}) RETURN outer
  UNION ALL
    MATCH (outer:File {key: pair.outer}) RETURN outer
}
CREATE (outer)-[:CONTAINS {chunk: pair.chunk, certainty: 'certain'}]->(inner)

//: remove_relations
UNWIND $files AS file
MATCH (f:File {key: file.key})
CALL (f) {
    MATCH (f)-[r]->() WHERE r.line IS NOT NULL DELETE r
}
CALL (f) {
    MATCH (f)-[:HAS_CHUNK]->(:Chunk)-[:DEFINES]->(:Symbol)-[r]->() WHERE r.line IS NOT NULL DELETE r
}

//: describe_relations
UNWIND $files AS file
MATCH (f:File {key: file.key}) SET f += file.properties
WITH f, file
CALL (f) { MATCH (f)-[:HAS_CHUNK]->(:Chunk)-[:DEFINES]->(s:Interface) REMOVE s:Interface SET s:Class }
CALL (file) { UNWIND file.interfaces AS key MATCH (s:Symbol {key: key}) REMOVE s:Class SET s:Interface }
CALL (f, file) {
    UNWIND file.outside AS row
    MERGE (x:External {key: row.key}) SET x.name = row.name, x.project = f.project
    CREATE (f)-[:IMPORTS {line: row.line, certainty: 'certain'}]->(x)
}

//: write_edges
UNWIND $edges AS edge
MATCH (s:<<source>> {key: edge.source})
MATCH (t:<<target>> {key: edge.target})
CREATE (s)-[r:<<type>>]->(t) SET r = edge.properties

//: state
MERGE (p:Project {key: $project})
SET p += {project: $project, name: $project, commit: $commit, files: $files, chunks: $chunks, is_whole: $is_whole,
          written_at: datetime()}
WITH p MATCH (d:Folder {key: $root}) MERGE (p)-[:CONTAINS]->(d)

//: declare
MERGE (p:Project {key: $project}) SET p.project = $project, p.packages = $packages

//: remove_packages
MATCH (x:External {project: $project}) WHERE NOT (x)<--() DELETE x

//: forget_imports
MATCH (:Project {key: $project})-[r:IMPORTS]-(:Project) DELETE r

//: write_imports
// Which projects import a package that another one declares: those of this project, and those that import it.
MATCH (importer:Project), (declarer:Project)
WHERE importer <> declarer AND $project IN [importer.key, declarer.key]
UNWIND declarer.packages AS package
CALL (package) {
    MATCH (x:External) WHERE x.name = package RETURN x
  UNION
    MATCH (x:External) WHERE x.name STARTS WITH package + '/' RETURN x
}
WITH importer, declarer, x WHERE x.project = importer.key
MATCH (f:File)-[:IMPORTS]->(x)
WITH importer, declarer, count(DISTINCT f) AS files
MERGE (importer)-[r:IMPORTS]->(declarer) SET r.files = files

//: clear
MATCH (p:Project {key: $project}) DETACH DELETE p;
MATCH (:File {project: $project})-[:HAS_CHUNK]->(c:Chunk)
CALL (c) { OPTIONAL MATCH (c)-[:DEFINES]->(t:Symbol) DETACH DELETE t, c } IN TRANSACTIONS OF 2000 ROWS;
MATCH (s:Symbol {project: $project}) CALL (s) { DETACH DELETE s } IN TRANSACTIONS OF 2000 ROWS;
MATCH (f:File {project: $project}) CALL (f) { DETACH DELETE f } IN TRANSACTIONS OF 2000 ROWS;
MATCH (d:Folder {project: $project}) CALL (d) { DETACH DELETE d } IN TRANSACTIONS OF 2000 ROWS;
MATCH (x:External {project: $project}) CALL (x) { DETACH DELETE x } IN TRANSACTIONS OF 2000 ROWS

// ---------------------------------------------------------------- what is there

//: count_chunks
MATCH (f:File {project: $project}) RETURN sum(COUNT { (f)-[:HAS_CHUNK]->() }) AS chunks

//: projects
MATCH (f:File) WHERE f.project IS NOT NULL
WITH f.project AS name, sum(COUNT { (f)-[:HAS_CHUNK]->() }) AS chunks
OPTIONAL MATCH (p:Project {key: name})
RETURN name, chunks, p.commit AS commit, p.written_at.epochSeconds AS written_at ORDER BY name

//: versions
MATCH (f:File {project: $project}) WHERE f.version IS NOT NULL
WITH f, COUNT { (f)-[r]->() WHERE r.line IS NOT NULL }
        + COUNT { (f)-[:HAS_CHUNK]->(:Chunk)-[:DEFINES]->(:Symbol)-[r]->() WHERE r.line IS NOT NULL } AS relations
RETURN f.path AS path, COUNT { (f)-[:HAS_CHUNK]->() } AS chunks,
       CASE WHEN relations = f.relations THEN f.version ELSE '' END AS version

// ---------------------------------------------------------------- searching

//: find
MATCH (s:Symbol) WHERE s.project = $project AND s.name_key IN $names
MATCH (s)<-[:DEFINES]-(c:Chunk) WHERE <<in_scope>>
RETURN <<point>>, s.name AS name, s.qualified_name AS qualified_name, s.kind AS kind, s.start_line AS start_line,
       s.end_line AS end_line, s.signature AS signature
ORDER BY path, start_line LIMIT $limit

//: is_from
(size($symbols) = 0 OR any(one IN $symbols WHERE a.qualified_name = one OR a.qualified_name STARTS WITH one + '.'))

//: neighbours
// At most 400 edges of one seed are read, and 40 mentions of one chunk's definitions.
UNWIND range(0, size($seeds) - 1) AS rank
MATCH (seed:Chunk {key: $seeds[rank]})
CALL (seed) {
    MATCH (f:File)-[:HAS_CHUNK]->(seed)
    MATCH (f)-[:HAS_CHUNK]->(:Chunk)-[:DEFINES]->(a:Symbol)-[r:<<types>>]->(t:Symbol)<-[:DEFINES]-(c:Chunk)
    WHERE r.chunk = seed.key AND c <> seed AND <<is_from>> AND <<in_scope>>
    RETURN r, c, a, t, 'out' AS direction LIMIT 400
  UNION ALL
    MATCH (f:File)-[:HAS_CHUNK]->(seed)
    MATCH (f)-[:HAS_CHUNK]->(:Chunk)-[:DEFINES]->(a:Symbol)-[r:<<types>>]->(t:File)-[:HAS_CHUNK]->(c:Chunk {ordinal: 0})
    WHERE r.chunk = seed.key AND c <> seed AND <<is_from>> AND <<in_scope>>
    RETURN r, c, a, t, 'out' AS direction LIMIT 400
  UNION ALL
    MATCH (a:File)-[:HAS_CHUNK]->(seed)
    MATCH (a)-[r:<<types>>]->(t) WHERE r.chunk = seed.key AND size($symbols) = 0
    MATCH (t)-[:HAS_CHUNK|DEFINES]-(c:Chunk) WHERE c <> seed AND (t:Symbol OR c.ordinal = 0) AND <<in_scope>>
    RETURN r, c, a, t, 'out' AS direction LIMIT 400
  UNION ALL
    MATCH (seed)-[:DEFINES]->(t:Symbol)<-[r:<<types>>]-(a)
    WHERE size($symbols) = 0 OR t.qualified_name IN $symbols
    MATCH (c:Chunk {key: r.chunk}) WHERE c <> seed AND <<in_scope>>
    RETURN r, c, a, t, 'in' AS direction ORDER BY r.certainty = 'one of several', r.certainty = 'by name' LIMIT 40
}
WITH rank, direction, c, r, a, t,
     CASE r.certainty WHEN 'certain' THEN 1.0 WHEN 'may call' THEN 0.7 WHEN 'by name' THEN 0.5 ELSE 0.25 END AS confidence
RETURN rank, direction, <<point>>, type(r) AS kind, coalesce(a.qualified_name, '') AS source,
       coalesce(t.qualified_name, '') AS target, r.certainty AS certainty
ORDER BY confidence DESC, rank, path, ordinal LIMIT $edges

//: mentions
UNWIND $chunks AS key
MATCH (f:File)-[:HAS_CHUNK]->(said:Chunk {key: key})
CALL (f, said) {
    MATCH (f)-[:HAS_CHUNK]->(:Chunk)-[:DEFINES]->(:Symbol)-[r:<<types>>]->(s:Symbol)
    WHERE r.chunk = said.key AND r.certainty <> 'one of several' AND s.kind <> 'field' RETURN s
  UNION
    MATCH (f)-[r:<<types>>]->(s:Symbol)
    WHERE r.chunk = said.key AND r.certainty <> 'one of several' AND s.kind <> 'field' RETURN s
}
MATCH (s)<-[:DEFINES]-(c:Chunk) WHERE c.path <> said.path AND <<in_scope>>
RETURN DISTINCT said.key AS said, <<point>>, COUNT { (s)<-[r]-() WHERE r.line IS NOT NULL } AS occurrences

//: backlinks
MATCH (f:File)-[:HAS_CHUNK]->(asked:Chunk) WHERE asked.key IN $chunks
WITH f, collect(asked.key) AS keys
CALL (f) {
    MATCH (f)-[:HAS_CHUNK]->(:Chunk)-[:DEFINES]->(:Symbol)<-[r:<<types>>]-()
    WHERE r.certainty <> 'one of several'
    MATCH (c:Chunk {key: r.chunk}) WHERE c.path <> f.path AND NOT c.is_archived RETURN c.path AS path
  UNION
    MATCH (f)<-[r:<<types>>]-() MATCH (c:Chunk {key: r.chunk})
    WHERE c.path <> f.path AND NOT c.is_archived RETURN c.path AS path
}
WITH keys, count(DISTINCT path) AS files
UNWIND keys AS key RETURN key, files

// ---------------------------------------------------------------- exact questions

//: as_node
// A definition or a file `n` as a row.
n.key AS key, n.path AS path, n.category AS category, coalesce(n.name, n.path) AS name,
    coalesce(n.qualified_name, n.path) AS qualified_name, coalesce(n.kind, 'file') AS kind,
    coalesce(n.start_line, 1) AS start_line, coalesce(n.end_line, n.lines, 1) AS end_line,
    coalesce(n.signature, '') AS signature, coalesce(n.is_archived, false) AS is_archived

//: definitions
MATCH (n:Symbol) WHERE n.project = $project AND n.name_key IN $names
MATCH (n)<-[:DEFINES]-(c:Chunk) WHERE <<in_scope>>
RETURN DISTINCT <<as_node>> ORDER BY path, start_line, key

//: names
MATCH (n:Symbol {project: $project})
RETURN DISTINCT CASE WHEN $qualified THEN n.qualified_name ELSE n.name END AS name ORDER BY name LIMIT $limit

//: file
MATCH (n:File {key: $key}) RETURN <<as_node>>

//: in_file
MATCH (:File {key: $key})-[:HAS_CHUNK]->(:Chunk)-[:DEFINES]->(n:Symbol)
RETURN DISTINCT <<as_node>> ORDER BY start_line, end_line DESC, key

//: visible
MATCH (c:File) WHERE c.key IN $keys AND <<in_scope>> RETURN c.path AS path

//: incoming
MATCH (t:Symbol|File {key: $key})<-[r:<<types>>]-(n) WHERE r.line IS NOT NULL
MATCH (c:Chunk {key: r.chunk}) WHERE <<in_scope>>
RETURN <<as_node>>, type(r) AS type, c.path AS at, r.line AS line, r.certainty AS certainty
ORDER BY at, line, key

//: outgoing
MATCH (a:Symbol|File {key: $key})-[:CONTAINS*0..]->(s)-[r:<<types>>]->(n:Symbol|File)
WHERE r.line IS NOT NULL AND (a:File OR a.start_line <= s.start_line AND s.end_line <= a.end_line)
RETURN DISTINCT <<as_node>>, type(r) AS type, s.path AS at, r.line AS line, r.certainty AS certainty
ORDER BY at, line, key

//: outside
MATCH (:File {key: $key})-[r:IMPORTS]->(x:External) RETURN x.name AS name, r.line AS line ORDER BY line, name

//: undecided
MATCH (c:File {project: $project}) WHERE $undecided IN c.undecided_names AND <<in_scope>>
RETURN c.path AS path, [place IN c.undecided WHERE place STARTS WITH $undecided + ':'] AS places
