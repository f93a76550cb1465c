-- Policies and limits of each Protect instance: every version as a whole document. 0: there never was one.
ALTER TABLE protect_instances ADD COLUMN policy_version INTEGER NOT NULL DEFAULT 0;

CREATE TABLE policy_sets (
  instance_id TEXT NOT NULL REFERENCES protect_instances (id),
  version INTEGER NOT NULL,
  document TEXT NOT NULL,
  bytes INTEGER NOT NULL,
  policies INTEGER NOT NULL,
  limits INTEGER NOT NULL,
  note TEXT,
  actor TEXT NOT NULL,
  at INTEGER NOT NULL,
  restores INTEGER,
  PRIMARY KEY (instance_id, version)
) STRICT;
