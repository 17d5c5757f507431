-- Step from version 7 to 8: an index of words may note the version of its rules (tokenize = 'tiro
-- english 2'; none: 1). Nothing changes there, the indexes are made anew in the background; but a program
-- that does not know of it would change one by other rules, and so must not open the database any more.

-- Messages of compactions that are still to be indexed, some hundred in a row: what a long conversation
-- drops at once is noted in the compaction's transaction and read from the log afterwards.
CREATE TABLE memory_deferred (
    session    TEXT    NOT NULL,
    compaction INTEGER NOT NULL,            -- event that dropped them
    seq        INTEGER NOT NULL,            -- of the first
    messages   TEXT    NOT NULL,            -- [[seq, turn], …] in the order of the conversation
    PRIMARY KEY (session, compaction, seq)
) STRICT, WITHOUT ROWID;
