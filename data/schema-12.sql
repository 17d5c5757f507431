-- Step from version 11 to 12: corpora, texts of documents to search.

CREATE TABLE corpus_set (
    number     INTEGER PRIMARY KEY,
    name       TEXT    NOT NULL UNIQUE,
    asked      INTEGER NOT NULL,            -- how often an ingest of its paths was asked for
    ended      INTEGER NOT NULL,            -- the last of those that has ended; less: one is undone
    created_ms INTEGER NOT NULL,
    updated_ms INTEGER NOT NULL             -- end of the last ingest; 0: there was none
) STRICT;

-- Files and folders that it is made of, absolute.
CREATE TABLE corpus_path (
    corpus INTEGER NOT NULL REFERENCES corpus_set (number),
    path   TEXT    NOT NULL,
    PRIMARY KEY (corpus, path)
) STRICT, WITHOUT ROWID;

-- A document is whole (ready) or not there (loading: its chunks come in steps; gone: they go in steps).
CREATE TABLE corpus_document (
    number      INTEGER PRIMARY KEY,
    corpus      INTEGER NOT NULL,           -- corpus_set.number, also when that is gone
    file        TEXT    NOT NULL,           -- absolute path; of a given text its name
    given       INTEGER NOT NULL,           -- 1: a text without a file
    size        INTEGER NOT NULL,           -- of the file in bytes
    modified_ns INTEGER NOT NULL,           -- its times, when it was read; 0: a given text
    changed_ns  INTEGER NOT NULL,
    digest      INTEGER NOT NULL,           -- of its bytes
    loader      TEXT    NOT NULL,           -- what read it: another one reads it again
    state       TEXT    NOT NULL CHECK (state IN ('loading', 'ready', 'failed', 'gone')),
    error       TEXT,                       -- why it failed
    chunks      INTEGER NOT NULL,
    bytes       INTEGER NOT NULL,           -- of its text
    ingested_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX corpus_file ON corpus_document (corpus, file, state);
CREATE INDEX corpus_state ON corpus_document (state, corpus, number, chunks);

-- Numbers of documents are not used again: a key names one chunk for ever.
CREATE TABLE corpus_next (document INTEGER NOT NULL) STRICT;
INSERT INTO corpus_next VALUES (1);

-- Chunks; named as the index wants it (index/corpus.h). A key is the document's number << 24 and the
-- chunk's number in it.
CREATE TABLE corpus_entry (
    key     INTEGER PRIMARY KEY,
    start   INTEGER NOT NULL,               -- bytes of the file that it has; -1: not known
    finish  INTEGER NOT NULL,
    line    INTEGER NOT NULL,               -- from 1 on; 0: the format has no lines
    page_number INTEGER NOT NULL,           -- from 1 on; 0: it has no pages
    heading TEXT    NOT NULL,               -- path of headings, "" without one
    content TEXT    NOT NULL,
    asks    INTEGER NOT NULL GENERATED ALWAYS AS (0) VIRTUAL
) STRICT;
CREATE INDEX corpus_asks ON corpus_entry (key, asks);

-- The words of file name, headings and content.
CREATE VIRTUAL TABLE corpus_words USING fts5 (
    words, content = '', tokenize = 'tiro english'
);
INSERT INTO corpus_words (corpus_words, rank) VALUES ('automerge', 0);
INSERT INTO words_state VALUES ('corpus', 0, NULL);

-- Vectors, as those of memory (schema-4.sql, schema-5.sql).
CREATE TABLE corpus_model (
    number    INTEGER PRIMARY KEY,
    name      TEXT    NOT NULL,
    dimension INTEGER NOT NULL,
    used      INTEGER NOT NULL,
    fitted    INTEGER NOT NULL,
    knots     TEXT,
    vectors   INTEGER NOT NULL DEFAULT 0,
    UNIQUE (name, dimension)
) STRICT;
CREATE TABLE corpus_vector (
    model  INTEGER NOT NULL REFERENCES corpus_model (number),
    key    INTEGER NOT NULL REFERENCES corpus_entry (key) ON DELETE CASCADE,
    stamp  INTEGER NOT NULL,
    scale  REAL    NOT NULL,
    bytes  BLOB    NOT NULL,
    PRIMARY KEY (model, key)
) STRICT, WITHOUT ROWID;
CREATE TABLE corpus_floats (
    model  INTEGER NOT NULL,
    key    INTEGER NOT NULL REFERENCES corpus_entry (key) ON DELETE CASCADE,
    floats BLOB    NOT NULL,
    PRIMARY KEY (model, key)
) STRICT, WITHOUT ROWID;
CREATE INDEX corpus_vector_key ON corpus_vector (key, stamp);
CREATE INDEX corpus_floats_key ON corpus_floats (key);
CREATE TABLE corpus_version (vectors INTEGER NOT NULL) STRICT;
INSERT INTO corpus_version VALUES (abs(random() % 1000000000000));
CREATE TRIGGER corpus_vector_new AFTER INSERT ON corpus_vector
BEGIN
    UPDATE corpus_model SET vectors = vectors + 1 WHERE number = NEW.model;
END;
CREATE TRIGGER corpus_vector_gone AFTER DELETE ON corpus_vector
BEGIN
    UPDATE corpus_version SET vectors = vectors + 1;
    UPDATE corpus_model SET vectors = vectors - 1 WHERE number = OLD.model;
END;
