"""The tables of the index file.

A chunk's id is `file_id << 16 | ordinal`: a file's chunks are one run of ids, so that its rows are replaced by range
and the file of a full-text match is known without a join. File ids are never used again.
"""

SCHEMA_VERSION = 2
ORDINAL_BITS = 16  # 65,536 chunks a file: a file of 10 MB has about 7,000.
MAX_CHUNKS_PER_FILE = 1 << ORDINAL_BITS
ORDINAL_MASK = MAX_CHUNKS_PER_FILE - 1

# Columns of the full-text table with the weights that its BM25 gives them. Measured by the ranking study: having the
# fields matters (+.012), their exact weights hardly (± .003).
KEYWORD_FIELDS = {"names": 3.0, "stem": 2.0, "enclosing": 1.0, "comments": 0.5, "directory": 0.5, "body": 1.0}

SCHEMA = f"""
CREATE TABLE meta (key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;

CREATE TABLE files (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    path TEXT NOT NULL UNIQUE,
    size INTEGER NOT NULL,
    mtime_ns INTEGER NOT NULL,
    content_hash BLOB NOT NULL,
    recipe TEXT NOT NULL,           -- What the rows were made with; another one makes the file stale.
    generation INTEGER NOT NULL,    -- The commit that wrote the rows; readers catch up by it.
    language TEXT NOT NULL,
    category TEXT NOT NULL,
    mode TEXT NOT NULL,
    note TEXT NOT NULL,
    modified_at REAL,
    archive_reason TEXT,            -- NULL: not archived.
    archive_penalty REAL,
    facts TEXT NOT NULL             -- DocumentFacts as JSON, '' when the document says nothing.
);
CREATE INDEX files_archived ON files (id) WHERE archive_reason IS NOT NULL;

CREATE TABLE skipped (path TEXT PRIMARY KEY, reason TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE match_keys (key TEXT, file_id INTEGER, PRIMARY KEY (key, file_id)) WITHOUT ROWID;
CREATE INDEX match_keys_file ON match_keys (file_id);
CREATE TABLE path_words (word TEXT, file_id INTEGER, share REAL NOT NULL, PRIMARY KEY (word, file_id)) WITHOUT ROWID;
CREATE INDEX path_words_file ON path_words (file_id);
CREATE TABLE module_keys (key TEXT, file_id INTEGER, PRIMARY KEY (key, file_id)) WITHOUT ROWID;
CREATE INDEX module_keys_file ON module_keys (file_id);

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

CREATE VIRTUAL TABLE keywords USING fts5 ({", ".join(KEYWORD_FIELDS)}, tokenize = "ascii tokenchars '_'");
CREATE VIRTUAL TABLE keyword_terms USING fts5vocab (keywords, row);

-- What each server holds of the index, so that only the rest is sent.
CREATE TABLE projected (server TEXT, path TEXT, mark TEXT NOT NULL, PRIMARY KEY (server, path)) WITHOUT ROWID;

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
    signature TEXT NOT NULL
);
CREATE INDEX symbols_name ON symbols (name_key, file_id);
CREATE INDEX symbols_chunk ON symbols (chunk_id);
CREATE INDEX symbols_file ON symbols (file_id);

CREATE TABLE relations (
    id INTEGER PRIMARY KEY,
    file_id INTEGER NOT NULL,
    kind TEXT NOT NULL,
    source TEXT NOT NULL,
    target TEXT NOT NULL,
    target_key TEXT NOT NULL,
    line INTEGER NOT NULL,
    confidence REAL NOT NULL,
    resolution TEXT NOT NULL,
    target_module TEXT NOT NULL
);
CREATE INDEX relations_target ON relations (target_key, file_id);
CREATE INDEX relations_place ON relations (file_id, line);
CREATE INDEX relations_module ON relations (target_module, target_key) WHERE target_module != '';
"""
