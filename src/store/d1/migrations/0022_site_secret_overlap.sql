-- A site's former secret, good until a moment, so that every backend can move to the new one.
ALTER TABLE sites ADD COLUMN former_secret_hash TEXT;
ALTER TABLE sites ADD COLUMN former_secret_until INTEGER NOT NULL DEFAULT 0;
CREATE UNIQUE INDEX sites_by_former_secret ON sites (former_secret_hash) WHERE former_secret_hash IS NOT NULL;
