CREATE TABLE trees (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    root TEXT NOT NULL,
    model TEXT NOT NULL,            -- Fingerprint: while a new model's tree is built, the old one's is searched.
    UNIQUE (root, model)
);
CREATE TABLE meta (tree_id INTEGER, key TEXT, value TEXT NOT NULL, PRIMARY KEY (tree_id, key)) WITHOUT ROWID;

CREATE TABLE files (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    path TEXT NOT NULL,
    content_hash BLOB NOT NULL,
    recipe TEXT NOT NULL,           -- What the rows were made with; another one makes the file stale.
    language TEXT NOT NULL,
    category TEXT NOT NULL,
    mode TEXT NOT NULL,
    note TEXT NOT NULL,
    facts TEXT NOT NULL,            -- DocumentFacts as JSON, '' when the document says nothing.
    chunks INTEGER NOT NULL,        -- How many there are of each.
    symbols INTEGER NOT NULL,
    embedded INTEGER NOT NULL,
    place INTEGER NOT NULL,         -- The number by which links name it; the same in all its versions.
    UNIQUE (path, content_hash, recipe)
);
CREATE INDEX files_place ON files (place);

CREATE TABLE tree_files (
    tree_id INTEGER,
    path TEXT,
    file_id INTEGER NOT NULL,
    size INTEGER NOT NULL,
    changed_ns INTEGER NOT NULL,
    modified_at REAL,
    archive_reason TEXT,            -- NULL: not archived.
    archive_penalty REAL,
    PRIMARY KEY (tree_id, path)
) WITHOUT ROWID;
CREATE INDEX tree_files_file ON tree_files (file_id, tree_id);
CREATE INDEX tree_files_archived ON tree_files (tree_id, file_id) WHERE archive_reason IS NOT NULL;

CREATE TABLE skipped (tree_id INTEGER, path TEXT, reason TEXT NOT NULL, PRIMARY KEY (tree_id, path)) WITHOUT ROWID;
CREATE TABLE match_keys (key TEXT, file_id INTEGER, PRIMARY KEY (key, file_id)) WITHOUT ROWID;
CREATE INDEX match_keys_file ON match_keys (file_id);
CREATE TABLE path_words (word TEXT, file_id INTEGER, share REAL NOT NULL, PRIMARY KEY (word, file_id)) WITHOUT ROWID;
CREATE INDEX path_words_file ON path_words (file_id);
CREATE TABLE module_keys (key TEXT, file_id INTEGER, PRIMARY KEY (key, file_id)) WITHOUT ROWID;
CREATE INDEX module_keys_file ON module_keys (file_id);

-- What files say of the names in them (model/facts.py), packed; the manifests as JSON.
CREATE TABLE facts (file_id INTEGER PRIMARY KEY, unit TEXT NOT NULL, has_errors INTEGER NOT NULL, data BLOB NOT NULL);
CREATE INDEX facts_unit ON facts (unit);
CREATE TABLE manifests (file_id INTEGER PRIMARY KEY, data TEXT NOT NULL);

-- Past commits, which all trees share. Ids grow from parents to children. A commit that is kept for its renames only
-- has no files. Paths are those of that time, from the top of the work tree.
CREATE TABLE commits (
    id INTEGER PRIMARY KEY,
    name BLOB NOT NULL UNIQUE,
    seconds INTEGER NOT NULL,
    files INTEGER NOT NULL,         -- How many files of the tree, with code, it changed when it was read.
    subject TEXT NOT NULL
);
CREATE TABLE commit_paths (id INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE);
CREATE TABLE commit_changes (commit_id INTEGER, path_id INTEGER, PRIMARY KEY (commit_id, path_id)) WITHOUT ROWID;
CREATE INDEX commit_changes_path ON commit_changes (path_id, commit_id);
CREATE TABLE commit_renames (
    commit_id INTEGER,
    before_id INTEGER,
    path_id INTEGER NOT NULL,
    PRIMARY KEY (commit_id, before_id)
) WITHOUT ROWID;
CREATE VIRTUAL TABLE messages USING fts5 (words, content = '', tokenize = "ascii tokenchars '_'");
CREATE VIRTUAL TABLE message_terms USING fts5vocab (messages, row);
CREATE TABLE tree_history (
    tree_id INTEGER PRIMARY KEY,
    tip TEXT NOT NULL,              -- The commit whose ancestors the tree has, "" for none.
    note TEXT NOT NULL,             -- Why it has none.
    folder TEXT NOT NULL,           -- That of the tree's root in the work tree, "" or ending with "/".
    members BLOB NOT NULL           -- One byte a commit by id: whether it is an ancestor.
);

CREATE TABLE chunks (
    id INTEGER PRIMARY KEY,
    file_id INTEGER NOT NULL,
    start_line INTEGER NOT NULL,
    end_line INTEGER NOT NULL,
    kind TEXT NOT NULL,
    symbol TEXT NOT NULL,
    names TEXT NOT NULL,            -- Tab-separated.
    enclosing TEXT NOT NULL,        -- Tab-separated.
    signature TEXT NOT NULL,
    text TEXT NOT NULL
);

CREATE TABLE models (id INTEGER PRIMARY KEY, fingerprint TEXT NOT NULL UNIQUE, dimensions INTEGER NOT NULL);
CREATE TABLE vectors (
    chunk_id INTEGER PRIMARY KEY,
    model_id INTEGER NOT NULL,
    text_hash BLOB NOT NULL,        -- Of the embedded text: an unchanged chunk keeps its vector.
    vector BLOB NOT NULL            -- float16, little-endian.
);
CREATE TABLE second_vectors (       -- Of the model of the second look, in all trees.
    model_id INTEGER NOT NULL,
    text_hash BLOB NOT NULL,        -- That of `vectors`.
    vector BLOB NOT NULL,           -- float16, little-endian.
    PRIMARY KEY (model_id, text_hash)
);

CREATE VIRTUAL TABLE keywords USING fts5 ({keyword_fields}, tokenize = "ascii tokenchars '_'");
CREATE VIRTUAL TABLE keyword_terms USING fts5vocab (keywords, row);

-- What each server holds of the index, so that only the rest is sent.
CREATE TABLE projected (
    tree_id INTEGER,
    server TEXT,
    path TEXT,
    mark TEXT NOT NULL,
    PRIMARY KEY (tree_id, server, path)
) WITHOUT ROWID;

CREATE TABLE symbols (
    id INTEGER PRIMARY KEY,
    chunk_id INTEGER NOT NULL,
    file_id INTEGER NOT NULL,
    name TEXT NOT NULL,
    name_key TEXT NOT NULL,         -- Lower case.
    qualified_name TEXT NOT NULL,
    kind TEXT NOT NULL,
    start_line INTEGER NOT NULL,
    end_line INTEGER NOT NULL,
    signature TEXT NOT NULL,
    place INTEGER NOT NULL,         -- The number by which links name it; the same in all versions of the file.
    least INTEGER NOT NULL,         -- The arguments that it takes (`Count`).
    most INTEGER NOT NULL
);
CREATE INDEX symbols_place ON symbols (place);
CREATE INDEX symbols_name ON symbols (name_key, file_id);
CREATE INDEX symbols_chunk ON symbols (chunk_id);
CREATE INDEX symbols_file ON symbols (file_id);

-- What a file without facts says of the names in it (`Relation`), packed.
CREATE TABLE outlines (file_id INTEGER PRIMARY KEY, data BLOB NOT NULL);

-- What the mentions and declarations of the files of a tree mean (model/links.py). A file of a tree with facts or an
-- outline, and no row here, is not resolved yet. reads, of_imports: what of other files it follows from, as sorted 24-bit
-- hashes; meanings: 32 bits for what each import means. relations: how many lead to declarations. digest: of all.
CREATE TABLE linked (
    id INTEGER PRIMARY KEY,
    tree_id INTEGER NOT NULL,
    file_id INTEGER NOT NULL,
    reads BLOB NOT NULL,
    of_imports BLOB NOT NULL,
    meanings BLOB NOT NULL,
    relations INTEGER NOT NULL,
    digest INTEGER NOT NULL,
    UNIQUE (tree_id, file_id)
);
CREATE TABLE links (
    id INTEGER PRIMARY KEY,         -- linked.id << 20, with which of the file's it is: they are one run of ids.
    target INTEGER NOT NULL,        -- The place of a declaration, or the number of a name, which is negative.
    position INTEGER NOT NULL,      -- The line << 8, with which link of the line it is.
    source INTEGER NOT NULL,        -- The place of the declaration around it, 0 for the file.
    kind INTEGER NOT NULL,
    use INTEGER NOT NULL,
    how INTEGER NOT NULL,
    given INTEGER NOT NULL,
    receiver INTEGER NOT NULL       -- Of a type; 0: not known, or none.
);
CREATE INDEX links_target ON links (target);
-- Files as they were when the links that read them were found, until it is found out which of these have to go.
CREATE TABLE superseded (
    tree_id INTEGER,
    path TEXT,
    facts BLOB,                     -- NULL: it had none.
    manifest TEXT,
    symbols TEXT,                   -- What it defined, as JSON; NULL: there was no such file.
    outline BLOB,
    is_archived INTEGER,
    PRIMARY KEY (tree_id, path)
) WITHOUT ROWID;
