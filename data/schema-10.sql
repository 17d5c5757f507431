-- Step from version 9 to 10: learned memory.

-- What was learned and is to influence later sessions.
CREATE TABLE learned_item (
    number      INTEGER PRIMARY KEY,
    id          TEXT    NOT NULL UNIQUE,
    scope       TEXT    NOT NULL,           -- project, user
    kind        TEXT    NOT NULL,
    state       TEXT    NOT NULL,           -- candidate, active, superseded, rejected
    origin      TEXT    NOT NULL,           -- typed, added, extracted
    project     TEXT,                       -- resolved path; NULL: it is the user's
    session     TEXT,                       -- id; it may be deleted
    seq         INTEGER,                    -- of the event of its message
    replaced_by TEXT,                       -- id of the item in its place
    created_ms  INTEGER NOT NULL,
    changed_ms  INTEGER NOT NULL,
    uses        INTEGER NOT NULL,           -- sessions whose model was told of it
    used_ms     INTEGER,
    text        TEXT    NOT NULL
) STRICT;
CREATE INDEX learned_item_state ON learned_item (state, project);

-- Folds of the logs of sessions up to an event; they are made again of the log where they lack.
CREATE TABLE learned_session (
    session    TEXT    NOT NULL PRIMARY KEY,
    project    TEXT    NOT NULL,
    seq        INTEGER NOT NULL,            -- last event that is in it
    turns      INTEGER NOT NULL,
    updated_ms INTEGER NOT NULL,
    request    TEXT,                        -- the first, cut
    response   TEXT,                        -- the last, cut
    tools      TEXT                         -- their names
) STRICT, WITHOUT ROWID;
CREATE INDEX learned_session_project ON learned_session (project, updated_ms);

CREATE TABLE learned_tool (
    session   TEXT    NOT NULL,
    tool      TEXT    NOT NULL,
    shape     TEXT    NOT NULL,             -- names of the parameters that were given
    calls     INTEGER NOT NULL,
    succeeded INTEGER NOT NULL,
    last_ms   INTEGER NOT NULL,
    PRIMARY KEY (session, tool, shape)
) STRICT, WITHOUT ROWID;

-- When sessions were switched to less than writing memory.
CREATE TABLE learned_access (
    session TEXT    NOT NULL,
    since   INTEGER NOT NULL,               -- the last event before it; 0: there was none
    access  TEXT    NOT NULL,               -- off, read
    until   INTEGER,                        -- the last event of it; NULL: it is so now
    PRIMARY KEY (session, since)
) STRICT, WITHOUT ROWID;

-- A session that ended, out of whose messages a model is to propose items.
CREATE TABLE learned_extract (
    session TEXT    NOT NULL PRIMARY KEY,
    seq     INTEGER NOT NULL,               -- last event that was looked at
    waits   INTEGER NOT NULL,               -- it is to be looked at
    tries   INTEGER NOT NULL                -- that failed since
) STRICT, WITHOUT ROWID;
