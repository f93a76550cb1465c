/** Vitest as Stryker runs it: the test files of one room, in `MUTATION_TESTS`. */
import { defineConfig } from 'vitest/config';

const PURE_TEST_TIMEOUT_MS = 300_000;
/** Property tests take few inputs, the same for each change. */
const properties = { isFull: false, seed: 1 };

export default defineConfig({
  test: {
    include: (process.env['MUTATION_TESTS'] ?? '').split('\n'),
    provide: { properties },
    unstubGlobals: true,
    unstubEnvs: true,
    testTimeout: PURE_TEST_TIMEOUT_MS,
    hookTimeout: PURE_TEST_TIMEOUT_MS,
  },
});
