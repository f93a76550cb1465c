-- Who changed what through the management API. Times are epoch milliseconds. See docs/storage-schema.md.

CREATE TABLE management_audit (
  id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES accounts (id),
  at INTEGER NOT NULL,
  api_key_id TEXT NOT NULL,
  api_key_name TEXT NOT NULL,
  operation TEXT NOT NULL,
  request_id TEXT NOT NULL,
  ip TEXT,
  body TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX management_audit_account ON management_audit (account_id, at, id);
CREATE INDEX management_audit_age ON management_audit (at);
