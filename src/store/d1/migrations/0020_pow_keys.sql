-- RSW parameters of a UTC day (design 5). All columns are public values: the factors of the modulus
-- are dropped by the isolate that made it, before this row is written.
CREATE TABLE pow_keys (
  day INTEGER PRIMARY KEY,
  modulus TEXT NOT NULL,
  generator TEXT NOT NULL,
  -- JSON array: g^(2^t) mod n for each half step of difficulty, 1 to 10.
  levels TEXT NOT NULL,
  created_at INTEGER NOT NULL
);
