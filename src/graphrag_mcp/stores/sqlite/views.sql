-- What a connection sees of one tree; see `schema.py`.
CREATE TEMP VIEW files AS
SELECT t.file_id AS id, t.path, t.size, t.changed_ns, t.modified_at, t.archive_reason, t.archive_penalty,
       f.content_hash, f.recipe, f.language, f.category, f.mode, f.note, f.facts,
       f.chunks, f.symbols, f.embedded, f.place
FROM main.tree_files t CROSS JOIN main.files f ON f.id = t.file_id WHERE t.tree_id = {tree_id};

CREATE TEMP VIEW skipped AS SELECT path, reason FROM main.skipped WHERE tree_id = {tree_id};
CREATE TEMP VIEW meta AS SELECT key, value FROM main.meta WHERE tree_id = {tree_id};
CREATE TEMP VIEW projected AS SELECT server, path, mark FROM main.projected WHERE tree_id = {tree_id};

CREATE TEMP VIEW match_keys AS SELECT * FROM main.match_keys v
WHERE EXISTS (SELECT 1 FROM main.tree_files t WHERE t.file_id = v.file_id AND t.tree_id = {tree_id});

CREATE TEMP VIEW path_words AS SELECT * FROM main.path_words v
WHERE EXISTS (SELECT 1 FROM main.tree_files t WHERE t.file_id = v.file_id AND t.tree_id = {tree_id});

CREATE TEMP VIEW module_keys AS SELECT * FROM main.module_keys v
WHERE EXISTS (SELECT 1 FROM main.tree_files t WHERE t.file_id = v.file_id AND t.tree_id = {tree_id});

CREATE TEMP VIEW symbols AS SELECT * FROM main.symbols v
WHERE EXISTS (SELECT 1 FROM main.tree_files t WHERE t.file_id = v.file_id AND t.tree_id = {tree_id});

CREATE TEMP VIEW outlines AS SELECT * FROM main.outlines v
WHERE EXISTS (SELECT 1 FROM main.tree_files t WHERE t.file_id = v.file_id AND t.tree_id = {tree_id});

CREATE TEMP VIEW facts AS SELECT * FROM main.facts v
WHERE EXISTS (SELECT 1 FROM main.tree_files t WHERE t.file_id = v.file_id AND t.tree_id = {tree_id});

CREATE TEMP VIEW manifests AS SELECT * FROM main.manifests v
WHERE EXISTS (SELECT 1 FROM main.tree_files t WHERE t.file_id = v.file_id AND t.tree_id = {tree_id});

CREATE TEMP VIEW linked AS
SELECT id, file_id, reads, of_imports, meanings, relations, digest FROM main.linked WHERE tree_id = {tree_id};
CREATE TEMP VIEW superseded AS
SELECT path, facts, manifest, symbols, outline, is_archived FROM main.superseded WHERE tree_id = {tree_id};

CREATE TEMP VIEW links AS SELECT * FROM main.links v
WHERE EXISTS (SELECT 1 FROM main.linked l WHERE l.id = v.id >> {link_bits} AND l.tree_id = {tree_id});
