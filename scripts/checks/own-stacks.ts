/** The test files of a process share one stack. Each file with a stack of its own says why in its first line. */
import { readFileSync } from 'node:fs';
import { sourceFiles } from './source-files.ts';

const OWN_STACKS_MAX = 20;
const startsStack = /\b(?:useOwnStack|startTestStack|startStack|npmStart)\(|'src\/cli\/start\.ts'/;
const reason = /^\/\/ A stack of its own: \w.*\.$/;

export async function checkOwnStacks(): Promise<string[]> {
  const files = sourceFiles().filter((path) => /^test\/(?!unit\/).*\.test\.ts$/.test(path));
  return problemsOfStacks(files.map((path) => [path, readFileSync(path, 'utf8')]));
}

export function problemsOfStacks(files: readonly [path: string, text: string][]): string[] {
  const own = files.filter(([, text]) => startsStack.test(text));
  const silent = own.filter(([, text]) => !reason.test(text.split('\n')[0] ?? ''));
  const problems = silent.map(([path]) => `${path}: the first line must be "// A stack of its own: ", and why`);
  if (own.length > OWN_STACKS_MAX)
    problems.push(`test: ${own.length} files have a stack of their own, at most ${OWN_STACKS_MAX}`);
  return problems;
}
