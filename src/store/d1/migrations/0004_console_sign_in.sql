-- Sign-in of the console. Every table is described in docs/storage-schema.md. Times are epoch milliseconds.

CREATE TABLE console_sessions (
  secret_hash TEXT PRIMARY KEY,
  id TEXT NOT NULL,
  account_id TEXT NOT NULL REFERENCES accounts (id),
  email TEXT NOT NULL,
  method TEXT NOT NULL,
  signed_in_at INTEGER NOT NULL,
  last_seen_at INTEGER NOT NULL,
  ends_at INTEGER NOT NULL,
  address TEXT,
  user_agent TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX console_sessions_email ON console_sessions (email, signed_in_at);
CREATE INDEX console_sessions_seen ON console_sessions (last_seen_at);

CREATE TABLE sign_in_links (
  token_hash TEXT PRIMARY KEY,
  email TEXT NOT NULL,
  account_id TEXT,
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX sign_in_links_expiry ON sign_in_links (expires_at);

CREATE TABLE spent_tickets (
  ticket_hash TEXT PRIMARY KEY,
  expires_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX spent_tickets_expiry ON spent_tickets (expires_at);

CREATE TABLE passkeys (
  credential_id TEXT PRIMARY KEY,
  email TEXT NOT NULL,
  name TEXT NOT NULL,
  public_key TEXT NOT NULL,
  counter INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  last_used_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX passkeys_email ON passkeys (email, created_at);

-- Sign-in finds the accounts of an address.
CREATE INDEX users_email ON users (email);

-- A write is made with an API key or by a person who is signed in to the console.
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
  CHECK ((api_key_id IS NULL) <> (user_email IS NULL))
) STRICT, WITHOUT ROWID;
INSERT INTO management_audit_new (id, account_id, at, api_key_id, api_key_name, operation, request_id, ip, body)
  SELECT id, account_id, at, api_key_id, api_key_name, operation, request_id, ip, body FROM management_audit;
DROP TABLE management_audit;
ALTER TABLE management_audit_new RENAME TO management_audit;
CREATE INDEX management_audit_account ON management_audit (account_id, at, id);
CREATE INDEX management_audit_age ON management_audit (at);
