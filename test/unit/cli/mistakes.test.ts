/** Mistakes on the command line: a message that names the mistake, exit code 1, no stack trace. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { run as runAlerts } from '../../../src/cli/alerts.ts';
import { run as runAttack } from '../../../src/cli/attack.ts';
import { runCommand } from '../../../src/cli/commands.ts';
import { run as runRules } from '../../../src/cli/rules.ts';
import type { StoreEnv } from '../../../src/store/binding.ts';

/** Fails when used: every mistake must be found before the database is called. */
const untouched = {} as StoreEnv;

test.each([
  ['account create --email nobody', 'nobody is not an email address. Use one such as owner@example.com.'],
  ['account set-owner acc_1 nobody', 'nobody is not an email address. Use one such as owner@example.com.'],
  ['account set-tier acc_1 gold', 'gold is not a tier. Use one of: free, professional, enterprise, premium.'],
  ['account set-tier', 'Missing: ACCOUNT, TIER. Usage: account set-tier ACCOUNT TIER'],
  ['account set-tier acc_1', 'Missing: TIER. Usage: account set-tier ACCOUNT TIER'],
  ['account disable', 'Missing: ACCOUNT. Usage: account disable ACCOUNT'],
  ['account set-owner acc_1', 'Missing: ADDRESS. Usage: account set-owner ACCOUNT ADDRESS'],
  ['account list all', 'Unexpected: all. Usage: account list'],
  ['account list --all', 'Unknown flag --all. Usage: account list'],
  ['account list --constructor', 'Unknown flag --constructor. Usage: account list'],
  ['key delete', 'Missing: --account, --id. Usage: key delete --account ACCOUNT --id KEY'],
  ['key delete --id', '--id is missing its value. Usage: key delete --account ACCOUNT --id KEY'],
  ['key delete --id=', '--id is missing its value. Usage: key delete --account ACCOUNT --id KEY'],
  ['key delete --id --account a', '--id is missing its value. Usage: key delete --account ACCOUNT --id KEY'],
  ['account', 'There is no command "account". Use one of these:'],
  ['nonsense', 'There is no command "nonsense". List the commands with --help.'],
  ['account frobnicate x', 'There is no command "account frobnicate". Use one of these:'],
  ['constructor', 'There is no command "constructor". List the commands with --help.'],
])('"%s" fails with: %s', async (line, message) => {
  const { exitCode, output } = await runCommand(line.split(' '), untouched);
  expect([exitCode, output.split('\n', 1)[0]]).toEqual([1, message]);
});

describe('a command over the management API', () => {
  let dir: string;
  beforeAll(() => {
    dir = mkdtempSync(join(tmpdir(), 'gatehouse-rules-'));
    // No program listens on this port.
    const stack = { serviceUrl: 'http://127.0.0.1:1', apiKey: 'key' };
    writeFileSync(join(dir, 'stack.json'), JSON.stringify(stack));
    writeFileSync(join(dir, 'list.txt'), '192.0.2.1\n');
  });
  afterAll(() => rmSync(dir, { recursive: true, force: true }));

  test.each([
    [['import', '/no/such/file'], /^\/no\/such\/file cannot be read\. .*ENOENT/],
    [['import', '/'], /^\/ cannot be read\. .*EISDIR/],
    [['import'], /^Missing: FILE\. Usage: rules import FILE/],
    [['import', 'a', 'b'], /^Unexpected: b\./],
    [['import', 'a', '--limit', '3'], /^Unknown flag --limit\./],
    [['rollback', 'x'], /^VERSION must be a whole number, not x\./],
    [['rollback'], /^Missing: VERSION\./],
    [['history', '--limit', 'x'], /^--limit must be a whole number, not x\./],
    [['frobnicate'], /^There is no command "rules frobnicate"\./],
    [['history'], /^http:\/\/127\.0\.0\.1:1 cannot be reached/],
  ])('rules %j fails with a message', async (args, message) => {
    const { exitCode, output } = await runRules(['rules', ...args], dir);
    expect(exitCode).toBe(1);
    expect(output).toMatch(message);
    expect(output).not.toContain('    at ');
  });

  test.each([
    [runAlerts, 'alerts', /^There is no command "alerts"\. Use one of these:/],
    [runAlerts, 'alerts add Ops --shape webhook', /^Missing: --url\. Usage: alerts add NAME /],
    [runAlerts, 'alerts set C --quiet 22:00 --time-zone UTC', /^--quiet is HH:MM-HH:MM, or off\.$/],
    [runAlerts, 'alerts set C --quiet 22:00-07:00', /^Quiet hours need --time-zone, such as Europe\/Berlin\.$/],
    [runAlerts, 'alerts set C --enabled yes', /^--enabled is on or off\.$/],
    [runAlerts, 'alerts list --limit x', /^--limit must be a whole number, not x\.$/],
    [runAlerts, 'alerts test', /^Missing: CHANNEL\./],
    [runAlerts, 'alerts channels', /^http:\/\/127\.0\.0\.1:1 cannot be reached/],
    [runAttack, 'attack', /^There is no command "attack"\. Use one of these:/],
    [runAttack, 'attack on --minutes soon', /^--minutes must be a whole number, not soon\.$/],
    [runAttack, 'attack trigger', /^Missing: enforce\|alert\|off\./],
    [runAttack, 'attack status', /^http:\/\/127\.0\.0\.1:1 cannot be reached/],
  ])('%# fails with a message', async (runIt, line, message) => {
    const { exitCode, output } = await runIt(line.split(' '), dir);
    expect([exitCode, output]).toEqual([1, expect.stringMatching(message)]);
  });
});

describe('a --service URL at which no service is', () => {
  const page = '<!doctype html><title>Welcome</title>'.padEnd(50_000);
  const answers: [string, number, Record<string, string>, string, string][] = [
    ['a page', 200, { 'content-type': 'text/html' }, page, 'It returned a page.'],
    ['a page without its type', 200, {}, page, 'Its response is not JSON.'],
    ['an empty response', 200, {}, '', 'Its response is not JSON.'],
    ['a page that says 404', 404, { 'content-type': 'text/html' }, page, 'It returned status 404'],
    ['a redirect', 301, { location: 'https://a.example/' }, '', 'It redirects to https://a.example/.'],
  ];
  test.each(answers)('and that returns %s is named in one sentence', async (_, status, headers, body, says) => {
    const server = createServer((__, response) => response.writeHead(status, headers).end(body));
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    vi.stubEnv('GATEHOUSE_API_KEY', 'key');
    try {
      const { exitCode, output } = await runRules(['rules', 'history', '--service', url]);
      expect([exitCode, output.startsWith(`${url} does not respond as a Gatehouse service. Check the URL. `)]).toEqual([
        1,
        true,
      ]);
      expect(output).toContain(says);
      expect(output.length).toBeLessThan(300);
    } finally {
      server.close();
    }
  });
});
