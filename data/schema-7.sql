-- Step from version 6 to 7: what is under way in an index of words stands in a table of ours. It stood
-- among FTS5's own settings.
CREATE TABLE words_state (
    tables TEXT PRIMARY KEY,                -- what the names of the index's tables begin with
    purge  INTEGER NOT NULL,                -- 1: words of what was removed are still to be merged out of it
    next   INTEGER                          -- last key that is in …_words_next; NULL: there is no such table
) STRICT, WITHOUT ROWID;
INSERT INTO words_state SELECT 'memory',
    EXISTS (SELECT 1 FROM memory_words_config WHERE k = 'tiro_purge'),
    (SELECT CAST(v AS INTEGER) FROM memory_words_config WHERE k = 'tiro_next');

-- One that was replaced is dropped with its words; before, its rows went bit by bit.
DROP TABLE IF EXISTS memory_words_old;
