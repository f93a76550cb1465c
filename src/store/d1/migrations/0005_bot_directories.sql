-- Keys of agents that sign their requests, as their directories listed them.
CREATE TABLE bot_directories (
  directory TEXT NOT NULL PRIMARY KEY,
  keys TEXT NOT NULL,
  fetched_at INTEGER NOT NULL,
  fresh_until INTEGER NOT NULL,
  -- Not fetched before, because the last attempt failed. 0 after one that did not.
  failed_until INTEGER NOT NULL DEFAULT 0
) STRICT, WITHOUT ROWID;
CREATE INDEX bot_directories_by_fetch ON bot_directories (fetched_at);
