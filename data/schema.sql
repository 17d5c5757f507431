-- Everything that is kept. Times are milliseconds since 1970-01-01 UTC.

CREATE TABLE session (
    key           INTEGER PRIMARY KEY,
    id            TEXT    NOT NULL UNIQUE,
    title         TEXT    NOT NULL,
    title_set     INTEGER NOT NULL,         -- by hand
    directory     TEXT    NOT NULL,
    provider      TEXT    NOT NULL,
    model         TEXT    NOT NULL,
    last_line     TEXT,
    created_ms    INTEGER NOT NULL,
    updated_ms    INTEGER NOT NULL,
    messages      INTEGER NOT NULL,
    turns         INTEGER NOT NULL,
    last_seq      INTEGER NOT NULL,
    input_tokens  INTEGER,                  -- NULL: not measured
    output_tokens INTEGER,
    cached_tokens INTEGER,
    estimated     INTEGER NOT NULL,
    system        TEXT,                     -- long texts last, so that a listing need not read them
    draft         TEXT
) STRICT;

CREATE INDEX session_updated ON session (updated_ms, key);

-- The log: the canonical record, append-only.
CREATE TABLE event (
    session INTEGER NOT NULL REFERENCES session (key) ON DELETE CASCADE,
    seq     INTEGER NOT NULL,
    at      INTEGER NOT NULL,
    type    TEXT    NOT NULL,
    version INTEGER NOT NULL,
    payload TEXT    NOT NULL,
    PRIMARY KEY (session, seq)
) STRICT;

-- Deltas are many and mostly superseded by what completes them: the end of a log is read without
-- touching them.
CREATE INDEX event_whole ON event (session, seq)
    WHERE type NOT IN ('text_delta', 'reasoning_delta');
CREATE INDEX event_delta ON event (session, type, seq)
    WHERE type IN ('text_delta', 'reasoning_delta');

-- What the user sent, over all sessions.
CREATE INDEX event_input ON event (at, session, seq) WHERE type = 'run_started';

-- A shortcut that may be deleted: the history as the events up to seq make it.
CREATE TABLE snapshot (
    session INTEGER PRIMARY KEY REFERENCES session (key) ON DELETE CASCADE,
    seq     INTEGER NOT NULL,
    history TEXT    NOT NULL
) STRICT;
