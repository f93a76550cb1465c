-- What a write changed, in values, and what the person was called. Described in docs/storage-schema.md.
ALTER TABLE management_audit ADD COLUMN user_name TEXT;
ALTER TABLE management_audit ADD COLUMN changes TEXT;
-- Finds what a key was called that is deleted by now.
CREATE INDEX management_audit_actor ON management_audit (account_id, COALESCE(api_key_id, user_email), at);
