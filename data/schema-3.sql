-- Step from version 2 to 3: compactions in the log.

-- What streams of a summary is a delta, too.
DROP INDEX event_whole;
DROP INDEX event_delta;
CREATE INDEX event_whole ON event (session, seq)
    WHERE type NOT IN ('text_delta', 'reasoning_delta', 'compaction_delta');
CREATE INDEX event_delta ON event (session, type, seq)
    WHERE type IN ('text_delta', 'reasoning_delta', 'compaction_delta');

-- Which compactions hold is asked before a log is read.
CREATE INDEX event_compaction ON event (session, type, seq)
    WHERE type IN ('compaction_completed', 'compaction_undone');
