/** Test files with a stack of their own: each has a reason, and there are few. */
import { expect, test } from 'vitest';
import { problemsOfStacks } from '../../../scripts/checks/own-stacks.ts';

const START = 'const stack = useOwnStack({ serviceVars });\n';
const file = (name: string, text: string): [string, string] => [`test/e2e/${name}.test.ts`, text];

test('a file with a stack of its own needs the reason in its first line', () => {
  const files = [
    file('shared', '/** Shares. */\nconst stack = useStack();\n'),
    file('reason', `// A stack of its own: its service asks this file.\n${START}`),
    file('silent', `/** Nothing said. */\n${START}`),
    file('empty', `// A stack of its own: .\n${START}`),
  ];
  expect(problemsOfStacks(files).map((problem) => problem.split(':')[0])).toEqual([
    'test/e2e/silent.test.ts',
    'test/e2e/empty.test.ts',
  ]);
});

test('more than twenty are refused', () => {
  const of = (count: number) =>
    Array.from({ length: count }, (_, index) => file(String(index), `// A stack of its own: a reason.\n${START}`));
  expect(problemsOfStacks(of(20))).toEqual([]);
  expect(problemsOfStacks(of(21))).toEqual(['test: 21 files have a stack of their own, at most 20']);
});
