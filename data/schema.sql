-- The whole database. Times are milliseconds since 1970-01-01 UTC. A table of a long text has it in
-- its last columns, so that reading the others does not read the text.

-- ---- sessions and their logs ----

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
    labels        TEXT,                     -- separated by blanks
    parent        TEXT,                     -- id of the session that it was forked from
    parent_seq    INTEGER,
    archived_ms   INTEGER,                  -- NULL: not archived
    tool_calls    INTEGER NOT NULL DEFAULT 0,
    run_ms        INTEGER NOT NULL DEFAULT 0,
    cost          REAL,                     -- USD; NULL: not known
    imported      TEXT,                     -- source (import/source.h); NULL: begun here
    system        TEXT,
    draft         TEXT
) STRICT;

CREATE INDEX session_updated ON session (updated_ms, key);

-- The log of each session, append-only. All other tables of a session can be made from it.
CREATE TABLE event (
    session INTEGER NOT NULL REFERENCES session (key) ON DELETE CASCADE,
    seq     INTEGER NOT NULL,
    at      INTEGER NOT NULL,
    type    TEXT    NOT NULL,
    version INTEGER NOT NULL,
    payload TEXT    NOT NULL,
    PRIMARY KEY (session, seq)
) STRICT;

-- Most events are deltas, which a later event repeats whole: the end of a log is read without them.
CREATE INDEX event_whole ON event (session, seq)
    WHERE type NOT IN ('text_delta', 'reasoning_delta', 'compaction_delta');
CREATE INDEX event_delta ON event (session, type, seq)
    WHERE type IN ('text_delta', 'reasoning_delta', 'compaction_delta');

-- Compactions, and rewinds that were undone, are looked up before a log is read.
CREATE INDEX event_compaction ON event (session, type, seq)
    WHERE type IN ('compaction_completed', 'compaction_undone', 'rewind_undone');

-- Input of users, over all sessions.
CREATE INDEX event_input ON event (at, session, seq) WHERE type = 'run_started';

-- A cache of the history as the events up to seq make it, one row a message, so that a turn writes
-- only the messages that it added.
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

-- How much of the log is in the files that are derived from it.
CREATE TABLE projected (
    session          INTEGER PRIMARY KEY REFERENCES session (key) ON DELETE CASCADE,
    seq              INTEGER NOT NULL,
    transcript_bytes INTEGER NOT NULL,
    events_bytes     INTEGER NOT NULL
) STRICT;

-- Settings of a session that differ from the configuration.
CREATE TABLE session_setting (
    session TEXT NOT NULL,
    name    TEXT NOT NULL,                  -- tools, compaction, effort
    value   TEXT NOT NULL,
    PRIMARY KEY (session, name)
) STRICT, WITHOUT ROWID;

CREATE TRIGGER session_setting_end AFTER DELETE ON session BEGIN
    DELETE FROM session_setting WHERE session = old.id;
END;

-- Deleting a session relates its forks to its own parent, which has their first messages, too.
CREATE TRIGGER session_between_went AFTER DELETE ON session WHEN OLD.parent IS NOT NULL
BEGIN
    UPDATE session SET parent = OLD.parent, parent_seq = min(parent_seq, OLD.parent_seq)
    WHERE parent = OLD.id;
END;

-- Ids of deleted sessions whose files may still exist: the transaction that deletes a session
-- writes the id, and removing the files deletes it. One column only: a record of an id and a number
-- would look like an entry of the index of sessions to the recovery of a damaged database.
CREATE TABLE removal (
    session TEXT PRIMARY KEY
) STRICT, WITHOUT ROWID;
CREATE TRIGGER session_gone AFTER DELETE ON session
BEGIN
    INSERT OR IGNORE INTO removal VALUES (OLD.id);
END;

-- A session that is stored again, as a draft may be, keeps its files.
CREATE TRIGGER session_back AFTER INSERT ON session
BEGIN
    DELETE FROM removal WHERE session = NEW.id;
END;

-- Texts of users and models. A damaged payload gives no text.
CREATE VIEW spoken AS
SELECT (session << 32) | seq AS place, session, seq, at, type,
       json_extract(payload, iif(type = 'run_started', '$.prompt', '$.content')) AS text
FROM event
WHERE type IN ('run_started', 'text_complete') AND seq BETWEEN 1 AND 0xffffffff
      AND json_valid(payload);

-- ---- indexes of words (index/words.h) ----

-- One row for each index of words.
CREATE TABLE words_state (
    tables TEXT PRIMARY KEY,                -- prefix of the names of its tables
    purge  INTEGER NOT NULL,                -- 1: words of removed texts are still to be merged away
    next   INTEGER                          -- last key in …_words_next; NULL: there is no such table
) STRICT, WITHOUT ROWID;
INSERT INTO words_state VALUES
    ('transcript', 0, NULL), ('memory', 0, NULL), ('graph', 0, NULL), ('corpus', 0, NULL);

-- The words of transcripts. An index keeps no texts: to remove a text it is given that text again,
-- here from "spoken", whose rows never change.
CREATE VIRTUAL TABLE transcript_words USING fts5 (words, content = '', tokenize = 'tiro none 2');
CREATE VIEW transcript_entry AS SELECT place AS key FROM spoken;

-- ---- histories of other agents (src/import) ----

-- Files as they were when they were read last.
CREATE TABLE import_file (
    path        TEXT    PRIMARY KEY,
    source      TEXT    NOT NULL,
    device      INTEGER NOT NULL,
    inode       INTEGER NOT NULL,
    size        INTEGER NOT NULL,           -- -1: it was not read to its end
    modified_ns INTEGER NOT NULL,
    done        INTEGER NOT NULL,           -- bytes that need not be read again
    head        INTEGER NOT NULL,           -- hash of the first bytes,
    head_bytes  INTEGER NOT NULL,           -- of so many
    mark        INTEGER NOT NULL,           -- the source's own
    tip         INTEGER NOT NULL,           -- of its newest conversation then
    unknown     TEXT,                       -- {"KIND": number, …}: was not understood
    error       TEXT                        -- why it could not be read
) STRICT;

-- Conversations, for ever: a deleted one must not come back.
CREATE TABLE import_conversation (
    number   INTEGER PRIMARY KEY,
    source   TEXT    NOT NULL,
    id       TEXT    NOT NULL,              -- there
    session  TEXT    NOT NULL,              -- its id here; '': it has no messages of its own
    stamp    INTEGER NOT NULL,              -- changes with it; 0: not known
    tip      INTEGER NOT NULL,              -- event of its newest message
    messages INTEGER NOT NULL,              -- that the last reading gave
    response INTEGER NOT NULL,              -- hash of the newest response's id
    open     INTEGER NOT NULL,              -- when its last turn was left open; 0: it ended
    deleted  INTEGER NOT NULL,              -- 1: its session was deleted
    UNIQUE (source, id)
) STRICT;
CREATE INDEX import_open ON import_conversation (source, id) WHERE open;
-- Three columns: a record of an id and a number would look like an entry of the index of sessions.
CREATE INDEX import_of ON import_conversation (session, deleted);
CREATE TRIGGER import_session_went AFTER DELETE ON session WHEN OLD.imported IS NOT NULL
BEGIN
    UPDATE import_conversation SET deleted = 1, open = 0 WHERE session = OLD.id;
END;

-- Messages, by a hash of source, conversation and id.
CREATE TABLE import_message (
    key          INTEGER PRIMARY KEY,
    conversation INTEGER NOT NULL,          -- import_conversation.number
    seq          INTEGER NOT NULL,          -- event that it begins with
    digest       INTEGER NOT NULL           -- of its text: a message may be edited
) STRICT;

-- ---- memory ----

-- Numbers of sessions, of this database and of imports. AUTOINCREMENT: a deleted number is not used
-- again, so the key of a deleted entry never means another one.
CREATE TABLE memory_session (
    number INTEGER PRIMARY KEY AUTOINCREMENT,
    id     TEXT    NOT NULL UNIQUE,
    next   INTEGER NOT NULL                 -- first free place
) STRICT;

CREATE TABLE memory_entry (
    key        INTEGER PRIMARY KEY,         -- memory_session.number << 24 | place (memory/rank.h)
    id         TEXT    NOT NULL UNIQUE,
    id_number  INTEGER NOT NULL,            -- its id was a number in the import
    session    INTEGER NOT NULL REFERENCES memory_session (number),
    turn       INTEGER NOT NULL,
    seq        INTEGER,                     -- of the message's event; NULL: not known
    role       TEXT    NOT NULL,
    speaker    TEXT,
    created_ms INTEGER NOT NULL,
    pinned     INTEGER NOT NULL,
    edited     INTEGER NOT NULL,
    compaction INTEGER,                     -- event that brought it; -1: none did; NULL: an import
    digest     INTEGER NOT NULL,            -- of the normalised text: finds equal ones
    content    TEXT    NOT NULL,
    -- Whether a text ends with a question mark, perhaps inside quotes or before a smiley.
    asks       INTEGER NOT NULL GENERATED ALWAYS AS (substr(content, -4) GLOB '*[?？؟]*') VIRTUAL
) STRICT;

CREATE INDEX memory_source ON memory_entry (session, seq) WHERE seq IS NOT NULL;
CREATE INDEX memory_asks ON memory_entry (key, asks);
-- In groups of 32 sessions, so that a compaction adds neighbouring entries. Equal texts of all
-- sessions are found with one search in each group.
CREATE INDEX memory_alike ON memory_entry (session >> 5, digest);
CREATE INDEX memory_newest ON memory_entry (created_ms, key);

-- The words of speaker, date and content.
CREATE VIRTUAL TABLE memory_words USING fts5 (words, content = '', tokenize = 'tiro auto 2');

CREATE TABLE memory_model (
    number    INTEGER PRIMARY KEY,
    name      TEXT    NOT NULL,             -- "openai/text-embedding-3-small"
    dimension INTEGER NOT NULL,
    used      INTEGER NOT NULL,             -- the highest of the models with this name is in use
    fitted    INTEGER NOT NULL,             -- number of vectors when the knots were fitted
    knots     TEXT,                         -- calibration, JSON; NULL: not fitted
    vectors   INTEGER NOT NULL DEFAULT 0,   -- number of vectors, which every search needs
    UNIQUE (name, dimension)
) STRICT;

-- A vector as bytes, scaled by its largest component, which are scanned, and as floats, with which
-- the best are scored again.
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

-- Counts changes, so that a reader knows whether its vectors in memory are current. It starts at a
-- random number: a graph file of another database never fits.
CREATE TABLE memory_version (vectors INTEGER NOT NULL) STRICT;
INSERT INTO memory_version VALUES (abs(random() % 1000000000000));
CREATE TRIGGER memory_vector_new AFTER INSERT ON memory_vector
BEGIN
    UPDATE memory_model SET vectors = vectors + 1 WHERE number = NEW.model;
END;
CREATE TRIGGER memory_vector_gone AFTER DELETE ON memory_vector
BEGIN
    UPDATE memory_version SET vectors = vectors + 1;
    UPDATE memory_model SET vectors = vectors - 1 WHERE number = OLD.model;
END;

-- Summaries that quote a forgotten text.
CREATE TABLE memory_flag (
    session    INTEGER NOT NULL REFERENCES memory_session (number),
    compaction INTEGER NOT NULL,
    entry      TEXT    NOT NULL,            -- id of the forgotten entry; restoring it removes the row
    PRIMARY KEY (session, compaction, entry)
) STRICT, WITHOUT ROWID;

-- Messages of compactions that are still to be indexed, some hundred in a row: the compaction's
-- transaction only notes them.
CREATE TABLE memory_deferred (
    session    TEXT    NOT NULL,
    compaction INTEGER NOT NULL,            -- event that dropped them; -1: none
    seq        INTEGER NOT NULL,            -- of the first
    messages   TEXT    NOT NULL,            -- [[seq, turn], …] in the order of the conversation
    PRIMARY KEY (session, compaction, seq)
) STRICT, WITHOUT ROWID;

-- How far the messages of a session are in memory or deferred.
CREATE TABLE memory_followed (
    session TEXT    PRIMARY KEY,
    seq     INTEGER NOT NULL,               -- last event that was read
    due     INTEGER NOT NULL,               -- 1: the session has grown since
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

-- Messages that must not be indexed again: their entries were forgotten or replaced by a copy. Four
-- columns: a row of three numbers would look like an entry of the index of events to the recovery
-- of a damaged database.
CREATE TABLE memory_gone (
    session   INTEGER NOT NULL REFERENCES memory_session (number),
    seq       INTEGER NOT NULL,
    forgotten INTEGER NOT NULL,             -- 0: replaced by a copy
    at        INTEGER NOT NULL,             -- when
    PRIMARY KEY (session, seq)
) STRICT, WITHOUT ROWID;

-- ---- shared spaces (src/space) ----

CREATE TABLE space (
    number     INTEGER PRIMARY KEY,
    name       TEXT    NOT NULL UNIQUE,     -- on this machine
    id         TEXT    NOT NULL UNIQUE,     -- in its log
    url        TEXT    NOT NULL,            -- of its carrier, without a password
    person     TEXT    NOT NULL,            -- who uses it here,
    writer     TEXT    NOT NULL,            -- with this replica
    role       TEXT    NOT NULL,            -- of the person: reader, writer, owner
    sealed     INTEGER NOT NULL,            -- only its members can read its log (space/keys.h)
    locked     INTEGER NOT NULL,            -- epoch of the keys when they did not open a line that
                                            -- was read; -1: they opened all
    form       INTEGER NOT NULL,            -- schema of the log (space/carrier.h)
    kinds      INTEGER NOT NULL,            -- kinds of lines that were known when they were read
    lease_days INTEGER NOT NULL,
    read_ms    INTEGER NOT NULL,            -- when it was last read to its end; 0: never
    command    TEXT,                        -- that prints the password; NULL: none
    cursor     TEXT    NOT NULL
) STRICT;

-- Objects of this memory that are to be compared with what the spaces know of them.
CREATE TABLE space_changed (
    number INTEGER PRIMARY KEY,
    kind   INTEGER NOT NULL,                -- enum space_kind
    id     TEXT    NOT NULL,
    UNIQUE (kind, id)
) STRICT;
CREATE TRIGGER space_entry_new AFTER INSERT ON memory_entry WHEN EXISTS (SELECT 1 FROM space)
BEGIN
    INSERT OR IGNORE INTO space_changed (kind, id) VALUES (0, NEW.id);
END;
CREATE TRIGGER space_entry_edited AFTER UPDATE OF pinned, content ON memory_entry
    WHEN EXISTS (SELECT 1 FROM space)
BEGIN
    INSERT OR IGNORE INTO space_changed (kind, id) VALUES (0, NEW.id);
END;
-- An entry that only stands at another place now has such an id (memory/sqlite_entries.c).
CREATE TRIGGER space_entry_gone AFTER DELETE ON memory_entry
    WHEN EXISTS (SELECT 1 FROM space) AND OLD.id NOT GLOB 'key *'
BEGIN
    INSERT OR IGNORE INTO space_changed (kind, id) VALUES (0, OLD.id);
    INSERT OR IGNORE INTO space_changed (kind, id)
        SELECT 2, id FROM memory_session WHERE number = OLD.session;
END;

-- The objects of a space: the highest version, by number and owner, that was written or read.
CREATE TABLE space_object (
    space   INTEGER NOT NULL REFERENCES space (number) ON DELETE CASCADE,
    kind    INTEGER NOT NULL,
    id      TEXT    NOT NULL,
    version INTEGER NOT NULL,
    digest  INTEGER NOT NULL,               -- of its body
    state   INTEGER NOT NULL,               -- enum space_state (space/replica.c)
    owner   TEXT    NOT NULL,               -- who wrote the version
    author  TEXT    NOT NULL,               -- who wrote the first one
    session TEXT    NOT NULL,               -- of an entry; of a learned item: its id here
    PRIMARY KEY (space, kind, id)
) STRICT, WITHOUT ROWID;
CREATE INDEX space_object_session ON space_object (session);
CREATE INDEX space_object_id ON space_object (id);

-- Lines on their way to the log.
CREATE TABLE space_outbox (
    number  INTEGER PRIMARY KEY,
    space   INTEGER NOT NULL REFERENCES space (number) ON DELETE CASCADE,
    version INTEGER NOT NULL,
    kind    INTEGER NOT NULL,
    at      INTEGER NOT NULL,
    id      TEXT    NOT NULL,
    project TEXT,
    body    TEXT
) STRICT;
CREATE INDEX space_outbox_id ON space_outbox (id);

-- A person's decisions to share: "session:ID", "project:HOST/PATH".
CREATE TABLE space_share (
    space  INTEGER NOT NULL REFERENCES space (number) ON DELETE CASCADE,
    what   TEXT    NOT NULL,
    shared INTEGER NOT NULL,
    at     INTEGER NOT NULL,
    PRIMARY KEY (space, what)
) STRICT, WITHOUT ROWID;

-- Identities of the projects of directories here.
CREATE TABLE space_directory (
    directory TEXT NOT NULL PRIMARY KEY,
    project   TEXT NOT NULL
) STRICT, WITHOUT ROWID;

-- Sessions of others.
CREATE TABLE space_session (
    space   INTEGER NOT NULL REFERENCES space (number) ON DELETE CASCADE,
    session TEXT    NOT NULL,
    owner   TEXT    NOT NULL,
    project TEXT,
    title   TEXT,
    PRIMARY KEY (space, session)
) STRICT, WITHOUT ROWID;

CREATE TABLE space_member (
    space  INTEGER NOT NULL REFERENCES space (number) ON DELETE CASCADE,
    person TEXT    NOT NULL,
    role   TEXT    NOT NULL,
    PRIMARY KEY (space, person)
) STRICT, WITHOUT ROWID;

-- ---- the graph of facts ----

-- Entities, with the names that index/corpus.h asks for. A key is a number << 24: the ranking
-- treats each as a session of its own.
CREATE TABLE graph_entry (
    key        INTEGER PRIMARY KEY,
    name       TEXT    NOT NULL UNIQUE,
    type       TEXT    NOT NULL,
    session    TEXT,                        -- its source, perhaps deleted; NULL: none
    seq        INTEGER NOT NULL,            -- of the message's event there; 0: not known
    created_ms INTEGER NOT NULL,
    asks       INTEGER NOT NULL GENERATED ALWAYS AS (0) VIRTUAL
) STRICT;
CREATE INDEX graph_asks ON graph_entry (key, asks);

CREATE TABLE graph_observation (
    number     INTEGER PRIMARY KEY,
    entity     INTEGER NOT NULL REFERENCES graph_entry (key) ON DELETE CASCADE,
    digest     INTEGER NOT NULL,            -- of the normalised text: finds equal ones
    session    TEXT,
    seq        INTEGER NOT NULL,
    created_ms INTEGER NOT NULL,
    content    TEXT    NOT NULL
) STRICT;
CREATE INDEX graph_observed ON graph_observation (entity, digest);

CREATE TABLE graph_relation (
    number     INTEGER PRIMARY KEY,
    type       TEXT    NOT NULL,
    source     INTEGER NOT NULL REFERENCES graph_entry (key) ON DELETE CASCADE,
    target     INTEGER NOT NULL REFERENCES graph_entry (key) ON DELETE CASCADE,
    session    TEXT,
    seq        INTEGER NOT NULL,
    created_ms INTEGER NOT NULL,
    UNIQUE (source, target, type)
) STRICT;
CREATE INDEX graph_target ON graph_relation (target);

-- Numbers of rows, which every addition needs.
CREATE TABLE graph_size (
    entities     INTEGER NOT NULL,
    observations INTEGER NOT NULL,
    relations    INTEGER NOT NULL
) STRICT;
INSERT INTO graph_size VALUES (0, 0, 0);
CREATE TRIGGER graph_entry_new AFTER INSERT ON graph_entry
BEGIN
    UPDATE graph_size SET entities = entities + 1;
END;
CREATE TRIGGER graph_entry_gone AFTER DELETE ON graph_entry
BEGIN
    UPDATE graph_size SET entities = entities - 1;
END;
CREATE TRIGGER graph_observation_new AFTER INSERT ON graph_observation
BEGIN
    UPDATE graph_size SET observations = observations + 1;
END;
CREATE TRIGGER graph_observation_gone AFTER DELETE ON graph_observation
BEGIN
    UPDATE graph_size SET observations = observations - 1;
END;
CREATE TRIGGER graph_relation_new AFTER INSERT ON graph_relation
BEGIN
    UPDATE graph_size SET relations = relations + 1;
END;
CREATE TRIGGER graph_relation_gone AFTER DELETE ON graph_relation
BEGIN
    UPDATE graph_size SET relations = relations - 1;
END;

-- The words of name, type and observations.
CREATE VIRTUAL TABLE graph_words USING fts5 (words, content = '', tokenize = 'tiro auto 2');

-- ---- learned memory ----

-- Statements that later sessions are told.
CREATE TABLE learned_item (
    number      INTEGER PRIMARY KEY,
    id          TEXT    NOT NULL UNIQUE,
    scope       TEXT    NOT NULL,           -- project, user
    kind        TEXT    NOT NULL,
    state       TEXT    NOT NULL,           -- candidate, active, superseded, rejected
    origin      TEXT    NOT NULL,           -- typed, added, extracted, shared
    project     TEXT,                       -- resolved path; NULL: of all projects
    session     TEXT,                       -- id; perhaps deleted
    seq         INTEGER,                    -- event of its message
    replaced_by TEXT,                       -- id of the item in its place
    created_ms  INTEGER NOT NULL,
    changed_ms  INTEGER NOT NULL,
    uses        INTEGER NOT NULL,           -- sessions whose model was told
    used_ms     INTEGER,
    text        TEXT    NOT NULL
) STRICT;
CREATE INDEX learned_item_state ON learned_item (state, project);

CREATE TRIGGER space_item_new AFTER INSERT ON learned_item WHEN EXISTS (SELECT 1 FROM space)
BEGIN
    INSERT OR IGNORE INTO space_changed (kind, id) VALUES (1, NEW.id);
END;
CREATE TRIGGER space_item_changed AFTER UPDATE OF state, text ON learned_item
    WHEN EXISTS (SELECT 1 FROM space)
BEGIN
    INSERT OR IGNORE INTO space_changed (kind, id) VALUES (1, NEW.id);
END;
CREATE TRIGGER space_item_gone AFTER DELETE ON learned_item WHEN EXISTS (SELECT 1 FROM space)
BEGIN
    INSERT OR IGNORE INTO space_changed (kind, id) VALUES (1, OLD.id);
END;

-- Folds of the logs of sessions up to an event; a missing one is made again from the log.
CREATE TABLE learned_session (
    session    TEXT    NOT NULL PRIMARY KEY,
    project    TEXT    NOT NULL,
    seq        INTEGER NOT NULL,            -- last event in the fold
    turns      INTEGER NOT NULL,
    updated_ms INTEGER NOT NULL,
    request    TEXT,                        -- the first one, shortened
    response   TEXT,                        -- the last one, shortened
    tools      TEXT                         -- their names
) STRICT, WITHOUT ROWID;
CREATE INDEX learned_session_project ON learned_session (project, updated_ms);

CREATE TABLE learned_tool (
    session   TEXT    NOT NULL,
    tool      TEXT    NOT NULL,
    shape     TEXT    NOT NULL,             -- names of the parameters of the call
    calls     INTEGER NOT NULL,
    succeeded INTEGER NOT NULL,
    last_ms   INTEGER NOT NULL,
    PRIMARY KEY (session, tool, shape)
) STRICT, WITHOUT ROWID;

-- Ranges of events in which a session may not write learned memory.
CREATE TABLE learned_access (
    session TEXT    NOT NULL,
    since   INTEGER NOT NULL,               -- last event before the range; 0: none
    access  TEXT    NOT NULL,               -- off, read
    until   INTEGER,                        -- last event of the range; NULL: it is open
    PRIMARY KEY (session, since)
) STRICT, WITHOUT ROWID;

-- Ended sessions from whose messages a model is to propose items.
CREATE TABLE learned_extract (
    session TEXT    NOT NULL PRIMARY KEY,
    seq     INTEGER NOT NULL,               -- last event that was read
    waits   INTEGER NOT NULL,               -- 1: to be read
    tries   INTEGER NOT NULL                -- failures since
) STRICT, WITHOUT ROWID;

-- ---- corpora: documents to search ----

CREATE TABLE corpus_set (
    number     INTEGER PRIMARY KEY,
    name       TEXT    NOT NULL UNIQUE,
    asked      INTEGER NOT NULL,            -- number of requested ingests of its paths
    ended      INTEGER NOT NULL,            -- the last of them that has ended
    created_ms INTEGER NOT NULL,
    updated_ms INTEGER NOT NULL             -- end of the last ingest; 0: none
) STRICT;

-- Absolute paths of the files and directories of a corpus.
CREATE TABLE corpus_path (
    corpus INTEGER NOT NULL REFERENCES corpus_set (number),
    path   TEXT    NOT NULL,
    PRIMARY KEY (corpus, path)
) STRICT, WITHOUT ROWID;

-- A document is found only while it is ready. loading: its chunks are added in steps; gone: they
-- are deleted in steps.
CREATE TABLE corpus_document (
    number      INTEGER PRIMARY KEY,
    corpus      INTEGER NOT NULL,           -- corpus_set.number, perhaps deleted
    file        TEXT    NOT NULL,           -- absolute path; the name of a given text
    given       INTEGER NOT NULL,           -- 1: a text without a file
    size        INTEGER NOT NULL,           -- of the file in bytes
    modified_ns INTEGER NOT NULL,           -- times of the file when it was read; 0: a given text
    changed_ns  INTEGER NOT NULL,
    digest      INTEGER NOT NULL,           -- of its bytes
    loader      TEXT    NOT NULL,           -- a file of another loader is read again
    state       TEXT    NOT NULL CHECK (state IN ('loading', 'ready', 'failed', 'gone')),
    error       TEXT,                       -- of state failed
    chunks      INTEGER NOT NULL,
    bytes       INTEGER NOT NULL,           -- of its text
    ingested_ms INTEGER NOT NULL
) STRICT;
CREATE INDEX corpus_file ON corpus_document (corpus, file, state);
CREATE INDEX corpus_state ON corpus_document (state, corpus, number, chunks);

-- The next number of a document; none is used twice, so a key means one chunk for ever.
CREATE TABLE corpus_next (document INTEGER NOT NULL) STRICT;
INSERT INTO corpus_next VALUES (1);

-- Chunks, with the names that index/corpus.h asks for. A key is the document's number << 24 | the
-- chunk's number.
CREATE TABLE corpus_entry (
    key     INTEGER PRIMARY KEY,
    start   INTEGER NOT NULL,               -- range of bytes of the file; -1: not known
    finish  INTEGER NOT NULL,
    line    INTEGER NOT NULL,               -- from 1; 0: a format without lines
    page_number INTEGER NOT NULL,           -- from 1; 0: a format without pages
    heading TEXT    NOT NULL,               -- path of headings; "": none
    content TEXT    NOT NULL,
    asks    INTEGER NOT NULL GENERATED ALWAYS AS (0) VIRTUAL
) STRICT;
CREATE INDEX corpus_asks ON corpus_entry (key, asks);

-- The words of file name, headings and content.
CREATE VIRTUAL TABLE corpus_words USING fts5 (words, content = '', tokenize = 'tiro auto 2');

-- Vectors, as those of memory.
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

-- FTS5 must not merge by itself: index/words.c says when. hashsize: bytes that a transaction
-- adds in memory before they become a part of the index (PART_BYTES of index/words.c).
INSERT INTO transcript_words (transcript_words, rank) VALUES ('automerge', 0), ('hashsize', 4194304);
INSERT INTO memory_words (memory_words, rank) VALUES ('automerge', 0), ('hashsize', 4194304);
INSERT INTO graph_words (graph_words, rank) VALUES ('automerge', 0), ('hashsize', 4194304);
INSERT INTO corpus_words (corpus_words, rank) VALUES ('automerge', 0), ('hashsize', 4194304);
