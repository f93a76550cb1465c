/**
 * Five projects, by what they need: `node` pure code, `workerd` bindings and Durable Objects, `e2e` the
 * whole stack over HTTP, `browser` a Chromium before it. Each has its own folders; one that imports
 * wrangler or the stack must never fall into the workerd project, where it would hang the run.
 */
import { cloudflareTest, readD1Migrations } from '@cloudflare/vitest-plugin';
import { defineConfig } from 'vitest/config';

// Wrangler reads the configuration file here: its notes on missing secrets and its telemetry are not wanted.
process.env['WRANGLER_LOG'] ??= 'error';
process.env['WRANGLER_SEND_METRICS'] = 'false';
process.env['CLOUDFLARE_CF_FETCH_ENABLED'] = 'false';

/** The wire of a stack is slower than a function; a first request may wait for a Worker to start. */
const STACK_TEST_TIMEOUT_MS = 30_000;
const STACK_START_TIMEOUT_MS = 60_000;
const POLL_TIMEOUT_MS = 10_000;

/** Far above what any needs, so that none fails because the machine has other work. */
const PURE_TEST_TIMEOUT_MS = 60_000;

/**
 * Files of a project run one after the other in the same few processes: a process per file, with its imports, was a
 * third of the whole run. No test leaves a stub behind, and what a file stores is under accounts and names of its own.
 */
const sharedWorkers = { isolate: false, unstubGlobals: true, unstubEnvs: true };

const throughTheStack = {
  ...sharedWorkers,
  testTimeout: STACK_TEST_TIMEOUT_MS,
  hookTimeout: STACK_START_TIMEOUT_MS,
  expect: { poll: { timeout: POLL_TIMEOUT_MS } },
};

export default defineConfig({
  test: {
    // A file with a stack of its own waits half of its time: on two cores three keep them busy, and no deadline is near.
    maxWorkers: 3,
    teardownTimeout: STACK_START_TIMEOUT_MS,
    reporters: process.env['VITEST_JSON']
      ? ['default', ['json', { outputFile: process.env['VITEST_JSON'] }]]
      : ['default'],
    projects: [
      {
        test: {
          name: 'node',
          include: ['test/unit/**/*.test.ts', 'test/property/**/*.test.ts'],
          ...sharedWorkers,
          testTimeout: PURE_TEST_TIMEOUT_MS,
          hookTimeout: PURE_TEST_TIMEOUT_MS,
        },
      },
      {
        plugins: [
          cloudflareTest(async () => ({
            wrangler: { configPath: './wrangler.service.toml' },
            miniflare: {
              bindings: {
                SERVICE_URL: 'https://gatehouse.test',
                // A fixed key: what is sealed in one test file must open in the next run's snapshot.
                MASTER_KEY: 'dGVzdC1vbmx5LWtleS10aGF0LWlzLTMyLWJ5dGVzLSE',
                OPS_TOKEN: 'test-ops-token',
                TEST_MIGRATIONS: await readD1Migrations('src/store/d1/migrations'),
              },
            },
          })),
        ],
        test: {
          name: 'workerd',
          include: ['test/workerd/**/*.test.ts'],
          setupFiles: ['test/support/workerd-setup.ts'],
          ...sharedWorkers,
          testTimeout: PURE_TEST_TIMEOUT_MS,
          hookTimeout: PURE_TEST_TIMEOUT_MS,
        },
      },
      {
        test: { name: 'e2e', include: ['test/e2e/**/*.test.ts', 'test/conformance/**/*.test.ts'], ...throughTheStack },
      },
      { test: { name: 'browser', include: ['test/browser/**/*.test.ts'], ...throughTheStack } },
    ],
  },
});
