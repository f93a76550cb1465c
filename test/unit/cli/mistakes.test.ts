/** What the command line says to a mistake: one line that names it, exit code 1, and never a stack trace. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runCommand } from '../../../src/cli/commands.ts';
import { run as runRules } from '../../../src/cli/rules.ts';
import type { StoreEnv } from '../../../src/store/binding.ts';

/** Nothing of it may be touched: every mistake is seen before the database is asked. */
const untouched = {} as StoreEnv;

test.each([
  ['account create --email nobody', 'nobody is not an email address.'],
  ['account set-owner acc_1 nobody', 'nobody is not an email address.'],
  ['account', 'There is no command "account".'],
  ['nonsense', 'There is no command "nonsense".'],
  ['account frobnicate x', 'There is no command "account frobnicate".'],
  ['constructor', 'There is no command "constructor".'],
])('"%s" is told: %s', async (line, message) => {
  const { exitCode, output } = await runCommand(line.split(' '), untouched);
  expect([exitCode, output.split('\n', 1)[0]]).toEqual([1, message]);
});

describe('rules', () => {
  let dir: string;
  beforeAll(() => {
    dir = mkdtempSync(join(tmpdir(), 'gatehouse-rules-'));
    // Nobody listens there.
    const stack = { serviceUrl: 'http://127.0.0.1:1', apiKey: 'key' };
    writeFileSync(join(dir, 'stack.json'), JSON.stringify(stack));
    writeFileSync(join(dir, 'list.txt'), '192.0.2.1\n');
  });
  afterAll(() => rmSync(dir, { recursive: true, force: true }));

  test.each([
    [['import', '/no/such/file'], /^\/no\/such\/file cannot be read: .*ENOENT/],
    [['import', '/'], /^\/ cannot be read: .*EISDIR/],
    [['import'], /^import needs a FILE\./],
    [['import', 'a', 'b'], /^Too much: b/],
    [['rollback', 'x'], /^VERSION is a whole number, not x\./],
    [['rollback'], /^rollback needs a VERSION\./],
    [['history', '--limit', 'x'], /^--limit is a whole number, not x\./],
    [['frobnicate'], /^There is no command "rules frobnicate"\./],
    [['history'], /^http:\/\/127\.0\.0\.1:1 cannot be reached/],
  ])('%j is told', async (args, message) => {
    const { exitCode, output } = await runRules(args, dir);
    expect(exitCode).toBe(1);
    expect(output).toMatch(message);
    expect(output).not.toContain('    at ');
  });
});
