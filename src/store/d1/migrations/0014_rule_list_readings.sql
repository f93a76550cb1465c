-- A list is read by one run at a time: `reading` names the run and `reading_until` is when it has surely ended. A row that
-- still has them then was left by a run that was stopped. `source` rises when the list gets another source.
-- Described in docs/storage-schema.md.
ALTER TABLE rule_lists ADD COLUMN reading TEXT;
ALTER TABLE rule_lists ADD COLUMN reading_until INTEGER;
ALTER TABLE rule_lists ADD COLUMN source INTEGER NOT NULL DEFAULT 0;
CREATE INDEX rule_lists_reading ON rule_lists (reading_until) WHERE reading_until IS NOT NULL;
