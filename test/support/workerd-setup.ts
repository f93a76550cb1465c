/** Creates the service's tables for the tests in workerd, and finishes the work of each file before the next. */
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
