/** Files that are no configuration: each is rejected with one sentence before a service is called. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { gatehouse } from '../../../support/gatehouse.ts';

const dir = mkdtempSync(join(tmpdir(), 'gatehouse-files-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));
beforeAll(() => {
  // No program listens on this port.
  writeFileSync(join(dir, 'stack.json'), JSON.stringify({ serviceUrl: 'http://127.0.0.1:1', apiKey: 'key' }));
});

function file(name: string, content: string | Uint8Array): string {
  const path = join(dir, name);
  writeFileSync(path, content);
  return path;
}

async function mistake(...words: string[]): Promise<string> {
  const { exitCode, output, errors } = await gatehouse(words, { state: dir });
  expect({ exitCode, output }).toEqual({ exitCode: 1, output: '' });
  return errors;
}

describe.each(['plan', 'apply --yes'])('%s', (command) => {
  const words = command.split(' ');

  test('a file that is missing, a folder, or not UTF-8 is named', async () => {
    expect(await mistake(...words, join(dir, 'missing.yaml'))).toMatch(
      /missing\.yaml cannot be read\. Check the path\. ENOENT/,
    );
    expect(await mistake(...words, dir)).toMatch(/cannot be read\. Check the path\. EISDIR/);
    expect(await mistake(...words, file('latin.yaml', Buffer.from('a: \xE9', 'latin1')))).toMatch(/is not UTF-8\./);
  });

  test('a file that is too large is not read', async () => {
    const path = file('large.yaml', '');
    truncateSync(path, 16 * 1024 * 1024 + 1);
    expect(await mistake(...words, path)).toMatch(/large\.yaml has more than 16777216 bytes\. Import the rules with/);
  });

  test('a file without sections calls no service, and one with a section does', async () => {
    const { exitCode, output } = await gatehouse([...words, '--text', file('none.yaml', 'version: 1')], { state: dir });
    expect({ exitCode, output }).toEqual({ exitCode: 0, output: 'No changes. 0 unchanged.' });
    expect(await mistake(...words, file('one.yaml', 'version: 1\nbots: []'))).toContain(
      '127.0.0.1:1 cannot be reached',
    );
  });
});

test('a file comes from standard input too', () => {
  const args = ['src/cli/gatehouse.ts', 'plan', '-', '--state', dir];
  const { status, stderr } = spawnSync(process.execPath, args, { input: 'version: 1\nbots: x\n', encoding: 'utf8' });
  expect({ status, stderr }).toEqual({
    status: 1,
    stderr: 'standard input has a problem. Nothing was changed.\n  standard input:2:7  bots must be a list\n',
  });
});

test('an export has known sections only', async () => {
  expect(await mistake('export', '--only', 'sites,rules')).toBe(
    'There is no section "rules". Use some of these: sites, instances, accessControl, bots, users, alertChannels',
  );
});
