-- When a list of networks was last asked for, whether or not that gave one.
ALTER TABLE bot_ranges ADD COLUMN tried_at INTEGER;
