/** `--version` prints the one version number of the project. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

test('--version prints the version of package.json', () => {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
  const { stdout, status } = spawnSync('node', ['src/cli/gatehouse.ts', '--version'], { encoding: 'utf8' });
  expect([stdout, status]).toEqual([`${version}\n`, 0]);
});
