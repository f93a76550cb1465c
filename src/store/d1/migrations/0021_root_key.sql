-- The key that everything else is sealed under and derived from, itself sealed under MASTER_KEY: to change
-- MASTER_KEY is to write this one row anew.
CREATE TABLE root_key (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  sealed TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  resealed_at INTEGER NOT NULL
);
