-- A compiled bot table in each format that this release writes. Those that are there have the first format.
CREATE TABLE bot_tables_in_formats (
  scope TEXT NOT NULL,
  format TEXT NOT NULL,
  hash TEXT NOT NULL,
  previous_hash TEXT,
  inputs TEXT NOT NULL,
  built_at INTEGER NOT NULL,
  PRIMARY KEY (scope, format)
) STRICT, WITHOUT ROWID;
INSERT INTO bot_tables_in_formats SELECT scope, 'GHBOTS02/GHRULES3', hash, previous_hash, inputs, built_at
FROM bot_tables;
DROP TABLE bot_tables;
ALTER TABLE bot_tables_in_formats RENAME TO bot_tables;
