/**
 * The test projects, by what they need. `npm test` runs the first four: `node` (pure code), `properties` (pure code with
 * generated input), `workerd` (bindings and Durable Objects) and `promises` (what README and interface promise, with the
 * whole stack). `npm run test:all` adds `stack`: the whole stack over HTTP and in Chromium, and the products of others.
 * The files of a project share processes, and so the stack that each process starts. A test that imports wrangler or the
 * stack must not be in the workerd project, where it would hang.
 */
import { randomInt } from 'node:crypto';
import { existsSync, statfsSync } from 'node:fs';
import { availableParallelism, totalmem } from 'node:os';
import { resolve } from 'node:path';
import { cloudflareTest, readD1Migrations } from '@cloudflare/vitest-plugin';
import { defineConfig } from 'vitest/config';
import { WAIT_MS } from './test/support/eventually.ts';
import { LongestFirst } from './test/support/sequencer.ts';

const GIB = 2 ** 30;

// Wrangler reads the configuration file. Silence its notes on missing secrets, and disable its telemetry.
process.env['WRANGLER_LOG'] ??= 'error';
process.env['WRANGLER_SEND_METRICS'] = 'false';
process.env['CLOUDFLARE_CF_FETCH_ENABLED'] = 'false';

// Tests start the commands a hundred times. Compiled once, each starts in half the time.
process.env['NODE_COMPILE_CACHE'] ??= resolve('node_modules/.cache/compiled');

// A database on a disk waits for the disk at every write. The state of all stacks of a run takes some hundred megabytes.
const MEMORY_DISK = '/dev/shm';
const MEMORY_DISK_MIN_BYTES = 4 * GIB;
if (existsSync(MEMORY_DISK)) {
  const { bavail, bsize } = statfsSync(MEMORY_DISK);
  if (bavail * bsize >= MEMORY_DISK_MIN_BYTES) process.env['TMPDIR'] ??= MEMORY_DISK;
}

/** Each worker takes up to a gigabyte with its stack and its browser. */
const WORKER_BYTES = 2 * GIB;
const WORKERS_MAX = 12;
const workers = (perCore: number): number =>
  Math.max(2, Math.floor(Math.min(WORKERS_MAX, perCore * availableParallelism(), totalmem() / WORKER_BYTES)));
/** Pure code keeps a core busy, and every further worker loads all modules once more. */
const PURE_WORKERS_PER_CORE = 1.5;
/** A file with a stack waits for most of its time. */
const STACK_WORKERS_PER_CORE = 2.5;

/** A call to a stack is slower than a function call, and a first request can wait for a Worker to start. */
const STACK_TEST_TIMEOUT_MS = 2 * WAIT_MS;
const STACK_START_TIMEOUT_MS = 300_000;

/** Far more than a test needs, so that none fails on a busy machine. */
const PURE_TEST_TIMEOUT_MS = 300_000;

/** Property tests: see `test/support/properties.ts`. */
const FIXED_SEED = 20_351;
const SEED_BELOW = 2 ** 31;
const isFull = process.env['FULL_PROPERTIES'] === '1';
const isDrawn = isFull && process.env['PROPERTY_SEED'] === undefined;
// This file is read for each project. The environment keeps what the first reading has drawn.
const seed = Number((process.env['PROPERTY_SEED'] ??= String(isFull ? randomInt(SEED_BELOW) : FIXED_SEED)));
if (isDrawn) {
  const again = `FULL_PROPERTIES=1 PROPERTY_SEED=${seed} vitest run --project properties FILE`;
  console.log(`Property tests begin at seed ${seed}. To run a file again: ${again}`);
}

/**
 * The files of a project share a few processes. A process for each file, with its imports, took a third of the whole run.
 * Tests leave no stubs behind, and each file stores data under its own accounts and names.
 */
const sharedWorkers = {
  isolate: false,
  unstubGlobals: true,
  unstubEnvs: true,
  expect: { poll: { timeout: WAIT_MS } },
};

const pure = { ...sharedWorkers, testTimeout: PURE_TEST_TIMEOUT_MS, hookTimeout: PURE_TEST_TIMEOUT_MS };

const throughTheStack = {
  ...sharedWorkers,
  globalSetup: 'test/support/prepared-state.ts',
  testTimeout: STACK_TEST_TIMEOUT_MS,
  hookTimeout: STACK_START_TIMEOUT_MS,
};

export default defineConfig({
  test: {
    maxWorkers: workers(isFull ? STACK_WORKERS_PER_CORE : PURE_WORKERS_PER_CORE),
    provide: { properties: { isFull, seed } },
    sequence: { sequencer: LongestFirst },
    teardownTimeout: STACK_START_TIMEOUT_MS,
    reporters: process.env['VITEST_JSON']
      ? ['default', ['json', { outputFile: process.env['VITEST_JSON'] }]]
      : ['default'],
    projects: [
      {
        test: {
          name: 'node',
          include: ['test/unit/**/*.test.ts'],
          setupFiles: ['test/support/test-clock-setup.ts', 'test/support/properties-setup.ts'],
          ...pure,
        },
      },
      {
        test: {
          name: 'properties',
          include: ['test/property/**/*.test.ts'],
          setupFiles: ['test/support/test-clock-setup.ts', 'test/support/properties-setup.ts'],
          ...pure,
        },
      },
      {
        plugins: [
          cloudflareTest(async () => ({
            wrangler: { configPath: './src/service/wrangler.toml' },
            miniflare: {
              bindings: {
                SERVICE_URL: 'https://gatehouse.test',
                // A fixed key, so that a later run can open what an earlier run sealed.
                MASTER_KEY: 'dGVzdC1vbmx5LWtleS10aGF0LWlzLTMyLWJ5dGVzLSE',
                TEST_MIGRATIONS: await readD1Migrations('src/store/d1/migrations'),
              },
            },
          })),
        ],
        test: {
          name: 'workerd',
          include: ['test/workerd/**/*.test.ts'],
          setupFiles: [
            'test/support/test-clock-setup.ts',
            'test/support/properties-setup.ts',
            'test/support/workerd-setup.ts',
          ],
          ...pure,
        },
      },
      {
        test: {
          name: 'promises',
          include: ['test/promises/*.test.ts', 'test/conformance/*.test.ts'],
          ...throughTheStack,
        },
      },
      {
        test: {
          name: 'stack',
          include: ['test/{e2e,attacks,browser}/**/*.test.ts', 'test/compat/*.test.ts'],
          ...throughTheStack,
        },
      },
    ],
  },
});
