-- Accounts and everything an account owns. Times are epoch milliseconds. See docs/storage-schema.md.

CREATE TABLE accounts (
  id TEXT PRIMARY KEY,
  owner_email TEXT NOT NULL,
  tier TEXT NOT NULL,
  features TEXT NOT NULL,
  disabled INTEGER NOT NULL DEFAULT 0,
  payment_owed INTEGER NOT NULL DEFAULT 0,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT;

CREATE TABLE users (
  account_id TEXT NOT NULL REFERENCES accounts (id),
  email TEXT NOT NULL,
  name TEXT NOT NULL,
  role TEXT NOT NULL,
  status TEXT NOT NULL,
  marketing_preferences TEXT,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  PRIMARY KEY (account_id, email)
) STRICT, WITHOUT ROWID;

CREATE TABLE sites (
  site_key TEXT PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES accounts (id),
  name TEXT NOT NULL,
  secret_hash TEXT NOT NULL,
  secret_sealed TEXT NOT NULL,
  settings TEXT NOT NULL,
  active INTEGER NOT NULL DEFAULT 1,
  is_default INTEGER NOT NULL DEFAULT 0,
  version INTEGER NOT NULL DEFAULT 1,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX sites_secret_hash ON sites (secret_hash);
CREATE UNIQUE INDEX sites_account_name ON sites (account_id, name);
CREATE UNIQUE INDEX sites_account_default ON sites (account_id) WHERE is_default = 1;
CREATE INDEX sites_account_created ON sites (account_id, created_at);

CREATE TABLE api_keys (
  id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES accounts (id),
  name TEXT NOT NULL,
  permissions TEXT NOT NULL,
  expires_at INTEGER NOT NULL,
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX api_keys_account_created ON api_keys (account_id, created_at);

CREATE TABLE protect_instances (
  id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES accounts (id),
  name TEXT NOT NULL,
  cname TEXT NOT NULL,
  global_site_key TEXT NOT NULL REFERENCES sites (site_key),
  policy TEXT NOT NULL,
  active INTEGER NOT NULL DEFAULT 1,
  client_jwts_revoked_before INTEGER,
  version INTEGER NOT NULL DEFAULT 1,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX protect_instances_cname ON protect_instances (cname) WHERE active = 1;
CREATE UNIQUE INDEX protect_instances_site_key ON protect_instances (global_site_key) WHERE active = 1;
CREATE INDEX protect_instances_account ON protect_instances (account_id, created_at);

CREATE TABLE client_jwts (
  jti TEXT PRIMARY KEY,
  instance_id TEXT NOT NULL REFERENCES protect_instances (id),
  issued_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  revoked_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX client_jwts_instance ON client_jwts (instance_id, issued_at);

CREATE TABLE signing_keys (
  kid TEXT PRIMARY KEY,
  purpose TEXT NOT NULL,
  public_key TEXT NOT NULL,
  private_sealed TEXT NOT NULL,
  is_current INTEGER NOT NULL,
  created_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX signing_keys_current ON signing_keys (purpose) WHERE is_current = 1;
