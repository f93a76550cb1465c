/**
 * `npm run test:all`: every test, with the full number of generated inputs and a new seed.
 * `npm run test:all -- --rest` leaves out what `npm test` has run just before: unit tests, workerd and promises.
 */
import { spawnSync } from 'node:child_process';

/** What `npm test` does not run, or runs with fewer inputs. */
const REST = ['properties', 'stack'];

const projects = process.argv.includes('--rest') ? REST.flatMap((name) => ['--project', name]) : [];
const { status } = spawnSync('vitest', ['run', ...projects], {
  stdio: 'inherit',
  env: { ...process.env, FULL_PROPERTIES: '1' },
});
process.exitCode = status ?? 1;
