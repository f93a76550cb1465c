-- When the widget was first solved on a page of the site, and when a server of the site first verified a token. Described
-- in docs/storage-schema.md.
ALTER TABLE sites ADD COLUMN widget_solved_at INTEGER;
ALTER TABLE sites ADD COLUMN backend_verified_at INTEGER;
