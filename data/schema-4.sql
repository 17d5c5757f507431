-- Step from version 3 to 4: semantic memory.

-- Sessions by number: those that are kept here, and those that imports brought. No number is used
-- again: keys of what was deleted never mean something else.
CREATE TABLE memory_session (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id     TEXT    NOT NULL UNIQUE,
    next   INTEGER NOT NULL                 -- first place that is free
) STRICT;

CREATE TABLE memory_entry (
    key        INTEGER PRIMARY KEY,         -- memory_session.number << 24 | place (memory/rank.h)
    id         TEXT    NOT NULL UNIQUE,
    id_number  INTEGER NOT NULL,            -- it was a number where it came from
    session    INTEGER NOT NULL REFERENCES memory_session (number),
    turn       INTEGER NOT NULL,
    seq        INTEGER,                     -- of the message's event; NULL: not known
    role       TEXT    NOT NULL,
    speaker    TEXT,
    created_ms INTEGER NOT NULL,
    pinned     INTEGER NOT NULL,
    edited     INTEGER NOT NULL,
    compaction INTEGER,                     -- event that brought it; NULL: an import
    digest     INTEGER NOT NULL,            -- of the normalised text: finds equal ones
    content    TEXT    NOT NULL
) STRICT;

CREATE INDEX memory_source ON memory_entry (session, seq) WHERE seq IS NOT NULL;
CREATE INDEX memory_digest ON memory_entry (digest);
CREATE INDEX memory_newest ON memory_entry (created_ms, key);

-- The words of speaker, date and content. The texts are not kept twice: what is to be taken out is given
-- to it again. Made anew with another tokenizer by a reindex.
CREATE VIRTUAL TABLE memory_words USING fts5 (
    words, content = '', prefix = '2 3', tokenize = 'tiro english'
);

CREATE TABLE memory_model (
    number    INTEGER PRIMARY KEY,
    name      TEXT    NOT NULL,             -- "openai/text-embedding-3-small"
    dimension INTEGER NOT NULL,
    used      INTEGER NOT NULL,             -- of those with a name the highest is in use
    fitted    INTEGER NOT NULL,             -- how many vectors there were when the knots were fitted
    knots     TEXT,                         -- calibration, JSON; NULL: not fitted
    UNIQUE (name, dimension)
) STRICT;

-- A vector as bytes to scan, each a part of the largest, and as floats to score the best again.
CREATE TABLE memory_vector (
    model  INTEGER NOT NULL REFERENCES memory_model (number),
    key    INTEGER NOT NULL REFERENCES memory_entry (key) ON DELETE CASCADE,
    stamp  INTEGER NOT NULL,                -- memory_version when it was written
    scale  REAL    NOT NULL,
    bytes  BLOB    NOT NULL,
    PRIMARY KEY (model, key)
) STRICT, WITHOUT ROWID;
CREATE TABLE memory_floats (
    model  INTEGER NOT NULL,
    key    INTEGER NOT NULL REFERENCES memory_entry (key) ON DELETE CASCADE,
    floats BLOB    NOT NULL,
    PRIMARY KEY (model, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX memory_vector_key ON memory_vector (key, stamp);
CREATE INDEX memory_floats_key ON memory_floats (key);

-- Counts what changed, so that a reader knows whether what it holds of vectors is current. It begins
-- anywhere: a graph that was made for another database does not fit this one.
CREATE TABLE memory_version (vectors INTEGER NOT NULL) STRICT;
INSERT INTO memory_version VALUES (abs(random() % 1000000000000));
CREATE TRIGGER memory_vector_gone AFTER DELETE ON memory_vector
BEGIN
    UPDATE memory_version SET vectors = vectors + 1;
END;

-- Summaries that quote a text which was forgotten.
CREATE TABLE memory_flag (
    session    INTEGER NOT NULL REFERENCES memory_session (number),
    compaction INTEGER NOT NULL,
    entry      TEXT    NOT NULL,            -- id of what was forgotten: restoring it takes the flag away
    PRIMARY KEY (session, compaction, entry)
) STRICT, WITHOUT ROWID;
