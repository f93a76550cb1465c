import { expect, test } from 'vitest';
import { timeProblems } from '../../../scripts/checks/test-time.ts';

// Each is put together, so that the check does not find it in this file.
const refused = [
  ['Date', 'now', '()'],
  ['Date', 'now'],
  ['performance', 'now', '()'],
  ['page', 'waitForTimeout', '(500)'],
  ['scheduler', 'wait', '(5)'],
  ['globalThis', 'setTimeout', '(wake, 500)'],
].map(([object, name, call = '']) => `${object}.${name}${call}`);

test('a clock of the machine and a sleep are refused in a test, with their line', () => {
  for (const code of [...refused, ['new', 'Date()'].join(' '), ['from "node:timers', 'promises"'].join('/')]) {
    expect(timeProblems('test/unit/some.test.ts', `// A line.\nawait ${code};`), code).toEqual([
      expect.stringMatching(/^test\/unit\/some\.test\.ts:2: .+: (?:take the time|wait for a condition)/),
    ]);
  }
});

test('dates of a given time, comments and the clock module are not', () => {
  expect(timeProblems('test/unit/some.test.ts', `new Date(0);\n// ${refused[0]}\n * ${refused[0]}`)).toEqual([]);
  expect(timeProblems('test/support/clock.ts', `${refused[0]};`)).toEqual([]);
});
