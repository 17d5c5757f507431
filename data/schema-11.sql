-- Step from version 10 to 11: sessions come into semantic memory also without a compaction
-- (memory_entry.compaction and memory_deferred.compaction are -1 then).

-- How far the messages of a session are in memory, or deferred. What is written to it makes it due.
CREATE TABLE memory_followed (
    session TEXT    PRIMARY KEY,
    seq     INTEGER NOT NULL,               -- of the last event that was looked at
    due     INTEGER NOT NULL,
    backlog INTEGER NOT NULL                -- enum memory_backlog (memory/memory.h)
) STRICT, WITHOUT ROWID;
CREATE INDEX memory_due ON memory_followed (session) WHERE due;
CREATE INDEX memory_backlog ON memory_followed (backlog) WHERE backlog;
CREATE TRIGGER memory_session_came AFTER INSERT ON session WHEN NEW.last_seq > 0
BEGIN
    INSERT INTO memory_followed VALUES (NEW.id, 0, 1, 0)
    ON CONFLICT (session) DO UPDATE SET due = 1 WHERE NOT due;
END;
CREATE TRIGGER memory_session_grew AFTER UPDATE OF last_seq ON session
    WHEN NEW.last_seq > OLD.last_seq
BEGIN
    INSERT INTO memory_followed VALUES (NEW.id, 0, 1, 0)
    ON CONFLICT (session) DO UPDATE SET due = 1 WHERE NOT due;
END;
CREATE TRIGGER memory_session_went AFTER DELETE ON session
BEGIN
    DELETE FROM memory_followed WHERE session = OLD.id;
END;

-- What was forked from a session that is deleted stays related to what that was forked from, which has its
-- first messages, too.
CREATE TRIGGER session_between_went AFTER DELETE ON session WHEN OLD.parent IS NOT NULL
BEGIN
    UPDATE session SET parent = OLD.parent, parent_seq = min(parent_seq, OLD.parent_seq)
    WHERE parent = OLD.id;
END;

-- Those that are there now wait for the person's word.
INSERT INTO memory_followed SELECT id, last_seq, 0, 1 FROM session WHERE last_seq > 0;

-- Messages that are not to come in again: their entries were forgotten, or gave way to a copy. A row of
-- three numbers would look like an entry of the index of events to who reads a damaged database.
CREATE TABLE memory_gone (
    session   INTEGER NOT NULL REFERENCES memory_session (number),
    seq       INTEGER NOT NULL,
    forgotten INTEGER NOT NULL,
    at        INTEGER NOT NULL,             -- when
    PRIMARY KEY (session, seq)
) STRICT, WITHOUT ROWID;
