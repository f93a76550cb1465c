-- Expired keys are purged by the scheduled run, which finds them by this.
CREATE INDEX api_keys_expiry ON api_keys (expires_at);
