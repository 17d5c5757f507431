-- Step from version 4 to 5: what is added to semantic memory touches few pages; it is known which
-- entries ask something, and how many vectors there are.

-- By groups of sessions: what one compaction adds lies together, and equal texts of all sessions are
-- found by looking into each group (equal_sql of memory/sqlite_row.c).
DROP INDEX memory_digest;
CREATE INDEX memory_alike ON memory_entry (session >> 5, digest);

-- The parts of the index of words are merged by us: index/words_merge.c says when.
INSERT INTO memory_words (memory_words, rank) VALUES ('automerge', 0);

-- Whether a text ends with a question, perhaps in quotes or with a smile behind it; the ranking looks
-- for it in the index.
ALTER TABLE memory_entry ADD COLUMN asks INTEGER NOT NULL
    GENERATED ALWAYS AS (substr(content, -4) GLOB '*[?？؟]*') VIRTUAL;
CREATE INDEX memory_asks ON memory_entry (key, asks);

-- How many vectors a model has, which every search by vectors asks: counting them takes as long as
-- there are many.
ALTER TABLE memory_model ADD COLUMN vectors INTEGER NOT NULL DEFAULT 0;
UPDATE memory_model SET vectors = (SELECT count(*) FROM memory_vector WHERE model = number);
CREATE TRIGGER memory_vector_new AFTER INSERT ON memory_vector
BEGIN
    UPDATE memory_model SET vectors = vectors + 1 WHERE number = NEW.model;
END;
DROP TRIGGER memory_vector_gone;
CREATE TRIGGER memory_vector_gone AFTER DELETE ON memory_vector
BEGIN
    UPDATE memory_version SET vectors = vectors + 1;
    UPDATE memory_model SET vectors = vectors - 1 WHERE number = OLD.model;
END;
