-- Attack mode of an instance: JSON of src/attack/attack-state.ts, NULL before anything was set. Times are epoch
-- milliseconds.
ALTER TABLE protect_instances ADD COLUMN attack TEXT;

-- A change that the service makes by itself has neither a key nor a person.
CREATE TABLE management_audit_new (
  id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES accounts (id),
  at INTEGER NOT NULL,
  api_key_id TEXT,
  api_key_name TEXT,
  user_email TEXT,
  operation TEXT NOT NULL,
  request_id TEXT NOT NULL,
  ip TEXT,
  body TEXT NOT NULL,
  CHECK (api_key_id IS NULL OR user_email IS NULL)
) STRICT, WITHOUT ROWID;
INSERT INTO management_audit_new SELECT * FROM management_audit;
DROP TABLE management_audit;
ALTER TABLE management_audit_new RENAME TO management_audit;
CREATE INDEX management_audit_account ON management_audit (account_id, at, id);
CREATE INDEX management_audit_age ON management_audit (at);
