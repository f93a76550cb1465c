-- The robots.txt of origins, as edges last read it: one row for each host name of an instance.
CREATE TABLE robots_files (
  instance_id TEXT NOT NULL,
  host TEXT NOT NULL,
  -- The last answer of the origin that was no failure; empty where it has no file.
  text TEXT NOT NULL,
  hash TEXT NOT NULL,
  state TEXT NOT NULL,
  -- When the origin last gave an answer, null while it never did; and when an edge last asked it.
  read_at INTEGER,
  seen_at INTEGER NOT NULL,
  PRIMARY KEY (instance_id, host)
) STRICT;
