/** An account as one file: what is exported is what runs, and what is applied runs. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { gatehouse } from '../support/gatehouse.ts';
import { makeRich } from '../support/rich-account.ts';
import { useStack } from '../support/stack.ts';

const RULES = 12_000;
const stack = useStack();
const dir = mkdtempSync(join(tmpdir(), 'gatehouse-configuration-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));
beforeAll(() => makeRich(stack(), RULES));

const path = (name: string) => join(dir, name);

async function run(...words: string[]) {
  return gatehouse(['--text', ...words], { state: stack().stateDir });
}

test('a file that was just exported has no changes, and no secrets', async () => {
  const exported = await run('export', '--out', path('all.yaml'));

  expect(exported).toMatchObject({ exitCode: 0, output: '' });
  const text = readFileSync(path('all.yaml'), 'utf8');
  for (const secret of ['s3cr3t', 'hush-hush', stack().secretKey, stack().apiKey]) expect(text).not.toContain(secret);
  const { exitCode, output, errors } = await run('plan', path('all.yaml'));
  expect({ exitCode, output, errors }).toEqual({
    exitCode: 0,
    output: expect.stringMatching(/^No changes\. 12,\d\d\d unchanged\.$/),
    errors: '',
  });
  const json = await run('export', '--json');
  writeFileSync(path('all.json'), json.output);
  expect(await run('plan', path('all.json'))).toMatchObject({ exitCode: 0 });
});
