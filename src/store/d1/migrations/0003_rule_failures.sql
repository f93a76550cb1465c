-- Instances whose access rules cannot be compiled or sent at the moment. A row is deleted once they can.
CREATE TABLE rule_failures (
  instance_id TEXT NOT NULL,
  step TEXT NOT NULL,
  since INTEGER NOT NULL,
  PRIMARY KEY (instance_id, step)
) STRICT, WITHOUT ROWID;
