-- Lists that an instance subscribes to, or that are files: where they come from and what became of the last attempt. Their
-- entries are in the instance's RuleBook. Described in docs/storage-schema.md. Times are epoch milliseconds.
CREATE TABLE rule_lists (
  instance_id TEXT NOT NULL,
  name TEXT NOT NULL,
  -- JSON of `ListSettings` in src/contract/management/lists.ts.
  settings TEXT NOT NULL,
  -- Of the settings, for the scheduled run.
  expiry_seconds INTEGER,
  authorization_sealed TEXT,
  created_at INTEGER NOT NULL,
  -- When it is fetched next; null for a file.
  due_at INTEGER,
  tried_at INTEGER,
  -- When it was last read well, and when that changed something.
  confirmed_at INTEGER,
  changed_at INTEGER,
  -- CrowdSec: when everything was last read, not only what changed.
  synced_at INTEGER,
  etag TEXT,
  last_modified TEXT,
  failures INTEGER NOT NULL DEFAULT 0,
  error TEXT,
  entries INTEGER NOT NULL DEFAULT 0,
  added INTEGER,
  removed INTEGER,
  report TEXT,
  is_expired INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (instance_id, name)
) STRICT, WITHOUT ROWID;
CREATE INDEX rule_lists_due ON rule_lists (due_at) WHERE due_at IS NOT NULL;
