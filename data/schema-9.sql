-- Step from version 8 to 9: the graph of facts.

-- Entities; named as the index of words wants it (index/corpus.h). A key is a number << 24: for the ranking
-- each is a talk of its own.
CREATE TABLE graph_entry (
    key        INTEGER PRIMARY KEY,
    name       TEXT    NOT NULL UNIQUE,
    type       TEXT    NOT NULL,
    session    TEXT,                        -- that it comes from, also when that is gone; NULL: none
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

-- How many there are, which every addition asks: counting them takes as long as there are many.
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
CREATE VIRTUAL TABLE graph_words USING fts5 (
    words, content = '', tokenize = 'tiro english'
);
INSERT INTO graph_words (graph_words, rank) VALUES ('automerge', 0);
INSERT INTO words_state VALUES ('graph', 0, NULL);
