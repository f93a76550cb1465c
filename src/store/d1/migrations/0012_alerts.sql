-- Alerts: where they are sent, what happened, and what became of each delivery. Every table is described in
-- docs/storage-schema.md. Times are epoch milliseconds.
CREATE TABLE alert_channels (
  id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL REFERENCES accounts (id),
  name TEXT NOT NULL,
  shape TEXT NOT NULL,
  url_sealed TEXT NOT NULL,
  -- The host of the address, which is no secret.
  host TEXT NOT NULL,
  -- Of a webhook: what it is signed with, and the secret before the last rotation while it is valid.
  secret_sealed TEXT,
  former_secret_sealed TEXT,
  former_secret_until INTEGER NOT NULL DEFAULT 0,
  -- JSON array; empty means every kind.
  kinds TEXT NOT NULL,
  quiet_hours TEXT,
  enabled INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX alert_channels_account ON alert_channels (account_id, created_at);

CREATE TABLE alerts (
  id TEXT PRIMARY KEY,
  account_id TEXT NOT NULL,
  instance_id TEXT,
  kind TEXT NOT NULL,
  phase TEXT NOT NULL,
  subject TEXT NOT NULL,
  at INTEGER NOT NULL,
  summary TEXT NOT NULL,
  facts TEXT NOT NULL
) STRICT, WITHOUT ROWID;
CREATE INDEX alerts_account ON alerts (account_id, at, id);
CREATE INDEX alerts_age ON alerts (at);

CREATE TABLE alert_deliveries (
  alert_id TEXT NOT NULL,
  channel_id TEXT NOT NULL,
  state TEXT NOT NULL,
  -- Of all attempts. An attempt that was begun and never ended counts too.
  attempts INTEGER NOT NULL DEFAULT 0,
  first_at INTEGER NOT NULL,
  -- When it may be tried. While somebody tries, this is when they have surely ended.
  due_at INTEGER NOT NULL,
  tried_at INTEGER,
  error TEXT,
  PRIMARY KEY (alert_id, channel_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX alert_deliveries_due ON alert_deliveries (due_at) WHERE state = 'waiting';
CREATE INDEX alert_deliveries_channel ON alert_deliveries (channel_id);

-- States that were seen, and are an alert once they have lasted. `mark` is another one after every change.
CREATE TABLE alert_states (
  account_id TEXT NOT NULL,
  instance_id TEXT NOT NULL,
  kind TEXT NOT NULL,
  subject TEXT NOT NULL,
  phase TEXT NOT NULL,
  since INTEGER NOT NULL,
  begun_at INTEGER NOT NULL,
  facts TEXT NOT NULL,
  mark TEXT NOT NULL,
  PRIMARY KEY (account_id, instance_id, kind, subject)
) STRICT, WITHOUT ROWID;

-- When an instance is next looked at, and what its edges had counted the last time.
CREATE TABLE alert_checks (
  instance_id TEXT PRIMARY KEY,
  due_at INTEGER NOT NULL,
  counters TEXT
) STRICT, WITHOUT ROWID;
