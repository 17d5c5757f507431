-- Step from version 1 to 2: what a session's listing tells, snapshots by message, full-text search.

-- Long texts stay the last columns of a row, behind the new ones.
ALTER TABLE session RENAME COLUMN system TO old_system;
ALTER TABLE session RENAME COLUMN draft TO old_draft;
ALTER TABLE session ADD COLUMN labels TEXT;                            -- parted by blanks
ALTER TABLE session ADD COLUMN parent TEXT;                            -- forked from this id
ALTER TABLE session ADD COLUMN parent_seq INTEGER;
ALTER TABLE session ADD COLUMN archived_ms INTEGER;                    -- NULL: it is not
ALTER TABLE session ADD COLUMN tool_calls INTEGER NOT NULL DEFAULT 0;
ALTER TABLE session ADD COLUMN run_ms INTEGER NOT NULL DEFAULT 0;
ALTER TABLE session ADD COLUMN cost REAL;                              -- USD; NULL: not known
ALTER TABLE session ADD COLUMN system TEXT;
ALTER TABLE session ADD COLUMN draft TEXT;
UPDATE session SET system = old_system, draft = old_draft;
ALTER TABLE session DROP COLUMN old_system;
ALTER TABLE session DROP COLUMN old_draft;

-- A shortcut that may be deleted: the history as the events up to seq make it, one row a message, so
-- that a turn writes what it added and not what came before. The old ones are not taken over: the
-- log has it all.
DROP TABLE snapshot;
CREATE TABLE snapshot (
    session  INTEGER PRIMARY KEY REFERENCES session (key) ON DELETE CASCADE,
    seq      INTEGER NOT NULL,
    counters TEXT    NOT NULL
) STRICT;
CREATE TABLE snapshot_message (
    session  INTEGER NOT NULL REFERENCES session (key) ON DELETE CASCADE,
    position INTEGER NOT NULL,              -- from 0
    message  TEXT    NOT NULL,
    PRIMARY KEY (session, position)
) STRICT;

-- How far the files that are derived from the log have been written.
CREATE TABLE projected (
    session          INTEGER PRIMARY KEY REFERENCES session (key) ON DELETE CASCADE,
    seq              INTEGER NOT NULL,
    transcript_bytes INTEGER NOT NULL,
    events_bytes     INTEGER NOT NULL
) STRICT;

-- What users and models said. A damaged payload says nothing.
CREATE VIEW spoken AS
SELECT (session << 32) | seq AS place, session, seq, at, type,
       json_extract(payload, iif(type = 'run_started', '$.input', '$.content')) AS text
FROM event
WHERE type IN ('run_started', 'text_complete') AND seq BETWEEN 1 AND 0xffffffff
      AND json_valid(payload);

-- Its words. The texts are not kept twice: what is to be taken out of the index is given to it again
-- out of "spoken", whose rows never change.
CREATE VIRTUAL TABLE transcript USING fts5 (
    text, content = '', columnsize = 0, prefix = '2 3', tokenize = 'unicode61 remove_diacritics 2'
);
INSERT INTO transcript (rowid, text) SELECT place, text FROM spoken;
