-- The networks that operators of bots publish, one row for each address that they publish them at. `networks` is the
-- last list that was accepted, one prefix per line; empty before the first.
CREATE TABLE bot_ranges (
  url TEXT PRIMARY KEY,
  due_at INTEGER NOT NULL,
  networks TEXT NOT NULL DEFAULT '',
  network_count INTEGER NOT NULL DEFAULT 0,
  -- When the list was last found as it is, and when it last changed.
  confirmed_at INTEGER,
  changed_at INTEGER,
  etag TEXT,
  last_modified TEXT,
  failures INTEGER NOT NULL DEFAULT 0,
  error TEXT,
  -- A list that changed too much to count before somebody has accepted it.
  pending TEXT
) STRICT, WITHOUT ROWID;

-- The compiled bot table that edges load, for everybody ('') or for one account. `inputs` says what it was made of.
CREATE TABLE bot_tables (
  scope TEXT PRIMARY KEY,
  hash TEXT NOT NULL,
  previous_hash TEXT,
  inputs TEXT NOT NULL,
  built_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
