/**
 * `now` is a parameter in the pure modules (design 2): lint sees imports and globals, not a call of
 * `Date.now()`, so the source is searched for one.
 */
import { readFileSync } from 'node:fs';
import { sourceFiles } from './source-files.ts';

const clock = /\bDate\.now\(|\bnew Date\(\)|\bperformance\.now\(/;

export async function checkPureModules(): Promise<string[]> {
  return sourceFiles()
    .filter((path) => /^src\/(contract|rules|captcha|bytes|address|risk)\//.test(path))
    .flatMap((path) =>
      readFileSync(path, 'utf8')
        .split('\n')
        .flatMap((line, at) => (clock.test(line) ? [`${path}:${at + 1} reads a clock: ${line.trim()}`] : [])),
    );
}
