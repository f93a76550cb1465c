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

const call = (limit: string) =>
  `describe('a', () => {\n  test('b', async () => {\n    await c();\n  }${limit});\n});\n`;
const brokenCall = (limit: string) => `beforeAll(\n  async () => {\n    await c();\n  },\n  ${limit},\n);\n`;
const timeout = ['time', 'out'].join('');

test('a limit of its own is refused for a wait, a test and a hook, with its line', () => {
  const limits: [string, number][] = [
    [`await next.click({ ${timeout}: 20_000 });`, 1],
    [`\nawait expect.poll(ask, { interval: 5, ${timeout}: LIMIT_MS }).toBe(1);`, 2],
    [`test('a', { ${timeout}: 5 }, () => {});`, 1],
    [`await vi.${['wait', 'For'].join('')}(() => expect(1).toBe(1));`, 1],
    [`context.set${['Default', 'Timeout'].join('')}(5);`, 1],
    [call(', 20_000'), 4],
    [call(', LIMIT_MS'), 4],
    [call(', 2 * LIMIT_MS'), 4],
    [brokenCall('LIMIT_MS'), 6],
    [brokenCall('20_000'), 6],
  ];
  for (const [code, line] of limits) {
    expect(timeProblems('test/unit/some.test.ts', code), code).toEqual([
      expect.stringMatching(new RegExp(`^test/unit/some\\.test\\.ts:${line}: .*leave out the limit`)),
    ]);
  }
});

test('a test without a limit, and a number that another call ends with, are not', () => {
  const numbers = `test('b', () => {\n  check(\n    {\n      a: 1,\n    },\n    NOW_MS,\n  );\n  reduce(() => {\n  }, 2000);\n});\n`;
  for (const code of [call(''), numbers, `test('b', () => {\n  verify({ ${timeout}Ms: 20_000 });\n});\n`]) {
    expect(timeProblems('test/unit/some.test.ts', code), code).toEqual([]);
  }
});

test('dates of a given time, comments and the clock module are not', () => {
  expect(timeProblems('test/unit/some.test.ts', `new Date(0);\n// ${refused[0]}\n * ${refused[0]}`)).toEqual([]);
  expect(timeProblems('test/support/clock.ts', `${refused[0]};`)).toEqual([]);
});
