/** `--version` prints the one version number of the project. */
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { GATEHOUSE_VERSION } from '../../../src/contract/version.ts';
import { gatehouse } from '../../support/gatehouse.ts';
import { expectRows } from '../../support/rows.ts';

test('--version prints the version of package.json', () => {
  const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };
  const { stdout, status } = spawnSync('node', ['src/cli/gatehouse.ts', '--version'], { encoding: 'utf8' });
  expect([stdout, status]).toEqual([`${version}\n`, 0]);
});

test('--version after a command prints it too', () =>
  expectRows(
    [
      ['tail', '--version'],
      ['rules', 'import', '--version'],
      ['rules', '--version'],
      ['account', 'list', '--version'],
    ],
    async ([...words]) => {
      expect(await gatehouse(words)).toEqual({ exitCode: 0, output: GATEHOUSE_VERSION, errors: '' });
    },
  ));

test('a flag --version of a command itself is left to the command', async () => {
  const { exitCode, errors } = await gatehouse(['policies', 'list', '--version', 'x'], { state: '/no/such/folder' });
  expect([exitCode, errors]).toEqual([1, '--version must be a whole number, not x.']);
});
