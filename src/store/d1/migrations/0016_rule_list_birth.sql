-- Tells a list from one of the same name that was deleted before it was created, also in the same millisecond. Lists that
-- are older than this column have none. Described in docs/storage-schema.md.
ALTER TABLE rule_lists ADD COLUMN birth TEXT;
