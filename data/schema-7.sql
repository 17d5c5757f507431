-- Step from version 6 to 7: what is under way in an index of words stands in a table of ours; it stood
-- among FTS5's own settings.
CREATE TABLE words_state (
    tables TEXT PRIMARY KEY,                -- what the names of the index's tables begin with
    purge  INTEGER NOT NULL,                -- 1: words of what was removed are still to be merged out of it
    next   INTEGER                          -- last key that is in …_words_next; NULL: there is no such table
) STRICT, WITHOUT ROWID;
INSERT INTO words_state SELECT 'memory',
    EXISTS (SELECT 1 FROM memory_words_config WHERE k = 'tiro_purge'),
    (SELECT CAST(v AS INTEGER) FROM memory_words_config WHERE k = 'tiro_next');

-- The words of transcripts are an index like that of memory, with the same tokenizer, but no stems and
-- no stop words. It is made anew: a column cannot be renamed, nor a tokenizer changed.
DROP TABLE transcript;
CREATE VIRTUAL TABLE transcript_words USING fts5 (
    words, content = '', prefix = '2 3', tokenize = 'tiro none'
);
INSERT INTO transcript_words (rowid, words) SELECT place, text FROM spoken;
INSERT INTO transcript_words (transcript_words, rank) VALUES ('automerge', 0);
INSERT INTO words_state VALUES ('transcript', 0, NULL);
CREATE VIEW transcript_entry AS SELECT place AS key FROM spoken;

-- One that was replaced is dropped with its words; before, its rows went bit by bit.
DROP TABLE IF EXISTS memory_words_old;
