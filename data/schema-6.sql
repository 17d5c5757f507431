-- Step from version 5 to 6: the files of deleted sessions.

-- Ids of sessions that are gone, while files of theirs may still be there: written in the transaction
-- that deletes the session, taken away when the files are. One column: a record of an id and a number
-- would look like an entry of the index of sessions to who reads a damaged database.
CREATE TABLE removal (
    session TEXT PRIMARY KEY
) STRICT, WITHOUT ROWID;
CREATE TRIGGER session_gone AFTER DELETE ON session
BEGIN
    INSERT OR IGNORE INTO removal VALUES (OLD.id);
END;

-- One that comes back, as a draft may, keeps its files.
CREATE TRIGGER session_back AFTER INSERT ON session
BEGIN
    DELETE FROM removal WHERE session = NEW.id;
END;
