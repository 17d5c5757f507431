-- Step from version 13 to 14: what a person said is "prompt" in an event, as in all that is asked.

-- It is the first member: nothing behind it need be read.
UPDATE event SET payload = '{"prompt"' || substr(payload, 9)
WHERE type = 'run_started' AND substr(payload, 1, 9) = '{"input":';

DROP VIEW spoken;
CREATE VIEW spoken AS
SELECT (session << 32) | seq AS place, session, seq, at, type,
       json_extract(payload, iif(type = 'run_started', '$.prompt', '$.content')) AS text
FROM event
WHERE type IN ('run_started', 'text_complete') AND seq BETWEEN 1 AND 0xffffffff
      AND json_valid(payload);
