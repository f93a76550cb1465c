-- Account-wide access control rules (interface document 2.4), their version, and the jobs that remove
-- a group. Times are epoch milliseconds. See docs/storage-schema.md.

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
