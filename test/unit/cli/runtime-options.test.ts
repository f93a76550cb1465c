import { afterEach, expect, test, vi } from 'vitest';
import { runtimeOptions } from '../../../src/cli/runtime-options.ts';

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
