import { afterEach, expect, test, vi } from 'vitest';
import { runtimeOptions, SHARED_PROMISE, sharedPromises } from '../../../src/cli/runtime-options.ts';

afterEach(() => vi.restoreAllMocks());

test.each([
  [true, ['service error: broken\n']],
  [false, ['service error: broken\n', 'service warn: odd\n', 'service log: well\n']],
])('what a Worker logs is printed, with quiet = %s', (quiet, expected) => {
  const written = vi.spyOn(process.stderr, 'write').mockReturnValue(true);
  const { handleStructuredLogs } = runtimeOptions('service', '/nowhere', quiet);
  for (const [level, message] of [
    ['error', 'broken'],
    ['warn', 'odd'],
    ['log', 'well'],
  ] as const)
    handleStructuredLogs?.({ level, message, timestamp: 0 });
  expect(written.mock.calls.map(([line]) => line)).toEqual(expected);
});

test('what the runtime says of a promise that another request settled is kept, also with quiet', () => {
  const { handleStructuredLogs } = runtimeOptions('edge', '/nowhere', true);
  const warning = `Warning: A promise was ${SHARED_PROMISE} than the one it was created in.`;
  for (const message of [warning, 'another']) handleStructuredLogs?.({ level: 'log', message, timestamp: 0 });
  expect(sharedPromises.splice(0)).toEqual([`edge: ${warning}`]);
});
