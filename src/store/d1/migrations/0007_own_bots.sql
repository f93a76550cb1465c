-- Bots that an account adds to the catalogue. `document` is JSON of `src/bots/own-bot.ts`.
CREATE TABLE own_bots (
  account_id TEXT NOT NULL,
  id TEXT NOT NULL,
  document TEXT NOT NULL,
  PRIMARY KEY (account_id, id)
) STRICT, WITHOUT ROWID;
