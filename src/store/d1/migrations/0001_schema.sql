-- The whole schema of the service's database. Every table is described in docs/storage-schema.md.
-- Times are epoch milliseconds.

-- The key that every other key is derived from, sealed under MASTER_KEY. Rotating MASTER_KEY rewrites this one row.
CREATE TABLE root_key (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  sealed TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  resealed_at INTEGER NOT NULL
);

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
  updated_at INTEGER NOT NULL,
  -- The secret before the last rotation. It works until `former_secret_until`, so that every backend can follow.
  former_secret_hash TEXT,
  former_secret_until INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
CREATE UNIQUE INDEX sites_secret_hash ON sites (secret_hash);
CREATE UNIQUE INDEX sites_account_name ON sites (account_id, name);
CREATE UNIQUE INDEX sites_account_default ON sites (account_id) WHERE is_default = 1;
CREATE UNIQUE INDEX sites_by_former_secret ON sites (former_secret_hash) WHERE former_secret_hash IS NOT NULL;
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
-- The scheduled run finds expired keys by this index.
CREATE INDEX api_keys_expiry ON api_keys (expires_at);

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

CREATE TABLE access_control_rules (
  account_id TEXT NOT NULL REFERENCES accounts (id),
  user_scope_hash TEXT NOT NULL,
  type TEXT NOT NULL,
  description TEXT,
  conditions TEXT NOT NULL,
  restriction TEXT,
  rule_group_id TEXT,
  expiry INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  PRIMARY KEY (account_id, user_scope_hash)
) STRICT, WITHOUT ROWID;
CREATE INDEX access_control_rules_created ON access_control_rules (account_id, created_at);
CREATE INDEX access_control_rules_description ON access_control_rules (account_id, description);
CREATE INDEX access_control_rules_expiry ON access_control_rules (account_id, expiry);
CREATE INDEX access_control_rules_purge ON access_control_rules (expiry);
CREATE INDEX access_control_rules_group ON access_control_rules (account_id, rule_group_id, updated_at);

CREATE TABLE access_control_versions (
  account_id TEXT PRIMARY KEY REFERENCES accounts (id),
  version INTEGER NOT NULL
) STRICT, WITHOUT ROWID;

CREATE TABLE rule_group_jobs (
  id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES accounts (id),
  rule_group_id TEXT NOT NULL,
  requested_at INTEGER NOT NULL,
  touched_at INTEGER NOT NULL,
  finished_at INTEGER,
  deleted_count INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
CREATE INDEX rule_group_jobs_open ON rule_group_jobs (touched_at) WHERE finished_at IS NULL;

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

-- Public parameters of the proof of work of a UTC day. The isolate that makes them drops the factors of the modulus
-- before it writes the row.
CREATE TABLE pow_keys (
  day INTEGER PRIMARY KEY,
  modulus TEXT NOT NULL,
  generator TEXT NOT NULL,
  -- JSON array of g^(2^t) mod n for each half step of difficulty, 1 to 10.
  levels TEXT NOT NULL,
  created_at INTEGER NOT NULL
);
