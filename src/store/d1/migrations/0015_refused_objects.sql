-- Durable Objects that refuse the state that another version wrote. Health reads it.
CREATE TABLE refused_objects (
  -- Name of the class, and of the object.
  object TEXT NOT NULL,
  name TEXT NOT NULL,
  -- 'newer' or 'older' than this version can read.
  age TEXT NOT NULL,
  -- The newest refusal, epoch milliseconds.
  at INTEGER NOT NULL,
  PRIMARY KEY (object, name)
) WITHOUT ROWID;
