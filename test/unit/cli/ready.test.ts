/** `npm start` in a clone in which nobody has run `npm ci`, with whatever Node the machine has. */
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';

const clone = mkdtempSync(join(tmpdir(), 'gatehouse-clone-'));
beforeAll(() => {
  mkdirSync(join(clone, 'scripts'));
  for (const file of ['package.json', 'scripts/ready.mjs']) cpSync(file, join(clone, file));
});
afterAll(() => rmSync(clone, { recursive: true, force: true }));

/** `node` is the one that npm starts. */
function npmStart(node: string) {
  const env = { ...process.env, PATH: `${dirname(node)}:/usr/bin:/bin` };
  return spawnSync('npm', ['start', '--silent'], { cwd: clone, env, encoding: 'utf8' });
}

test('npm start before npm ci says in one sentence that npm ci comes first', () => {
  const { status, stdout, stderr } = npmStart(process.execPath);
  expect([status, stdout, stderr]).toEqual([
    1,
    '',
    'Gatehouse cannot start yet: run "npm ci" in this folder, which installs its packages.\n',
  ]);
});

test.runIf(existsSync('/usr/bin/node'))('npm start on a Node that is too old says which one npm ci installs', () => {
  const { status, stdout, stderr } = npmStart('/usr/bin/node');
  expect([status, stdout, stderr.match(/\n/g)]).toEqual([1, '', ['\n']]);
  expect(stderr).toMatch(/^Gatehouse cannot start yet: run "npm ci" in this folder, which installs /);
});
