-- The address of a list, sealed, because it can have the key of a subscriber. Lists that are older than this column have it
-- in their settings until they are read or changed. Described in docs/storage-schema.md.
ALTER TABLE rule_lists ADD COLUMN url_sealed TEXT;
