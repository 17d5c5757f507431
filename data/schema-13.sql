-- Step from version 12 to 13: what a session is set to.

-- Its level of tools, its compaction mode: where it is not as configured.
CREATE TABLE session_setting (
    session TEXT NOT NULL,
    name    TEXT NOT NULL,                  -- tools, compaction
    value   TEXT NOT NULL,
    PRIMARY KEY (session, name)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER session_setting_end AFTER DELETE ON session BEGIN
    DELETE FROM session_setting WHERE session = old.id;
END;
