/**
 * Pure rooms take the time as the parameter `nowMs`. The linter can forbid imports and globals but not a call such as
 * `Date.now()`, so this check searches the source for one.
 */
import { readFileSync } from 'node:fs';
import { sourceFiles } from './source-files.ts';

const clock = /\bDate\.now\(|\bnew Date\(\)|\bperformance\.now\(/;

export async function checkPureModules(): Promise<string[]> {
  return sourceFiles()
    .filter((path) =>
      /^src\/(contract|rules|captcha|bytes|address|risk|bots|limits|lists|policies|alerts|attack)\//.test(path),
    )
    .flatMap((path) =>
      readFileSync(path, 'utf8')
        .split('\n')
        .flatMap((line, at) =>
          clock.test(line) ? [`${path}:${at + 1} reads a clock; take nowMs as a parameter: ${line.trim()}`] : [],
        ),
    );
}
