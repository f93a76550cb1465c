/** Gives the tests in workerd the service's tables, and lets nothing of a file run on into the next one. */
import { applyD1Migrations } from 'cloudflare:test';
import { env } from 'cloudflare:workers';
import type { D1Migration } from '@cloudflare/vitest-plugin';
import { afterAll } from 'vitest';
import { background } from './background-work.ts';

const { DB, TEST_MIGRATIONS } = env as unknown as { DB: D1Database; TEST_MIGRATIONS: D1Migration[] };
await applyD1Migrations(DB, TEST_MIGRATIONS);

afterAll(async () => {
  await Promise.all(background.splice(0));
});
