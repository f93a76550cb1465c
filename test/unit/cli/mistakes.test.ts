/** Mistakes on the command line: a message that names the mistake, exit code 1, no stack trace. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { runCommand } from '../../../src/cli/database/commands.ts';
import type { StoreEnv } from '../../../src/store/binding.ts';
import { gatehouse } from '../../support/gatehouse.ts';
import { expectRows } from '../../support/rows.ts';

/** Fails when used: every mistake must be found before the database is called. */
const untouched = {} as StoreEnv;

test('fails with a message that says what to do', () =>
  expectRows(
    [
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
    ],
    async ([line, message]) => {
      const { exitCode, output } = await runCommand(line.split(' '), untouched);
      expect([exitCode, output.split('\n', 1)[0]]).toEqual([1, message]);
    },
  ));

test('a misspelt command gets the nearest command as a suggestion', () =>
  expectRows(
    [
      ['polices list', 'policies list'],
      ['rules improt list.txt', 'rules import'],
      ['wyh 01a20432', 'why'],
      ['acount create', 'account create'],
    ],
    async ([line, near]) => {
      const { exitCode, errors } = await gatehouse(line.split(' '));
      expect([exitCode, errors]).toEqual([1, expect.stringContaining(`Did you mean "${near}"?`)]);
    },
  ));

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

  test('fails with a message', () =>
    expectRows(
      [
        ['rules import /no/such/file', /^\/no\/such\/file cannot be read\. .*ENOENT/],
        ['rules import /', /^\/ cannot be read\. .*EISDIR/],
        ['rules import', /^Missing: FILE\. Usage: rules import FILE/],
        ['rules import a b', /^Unexpected: b\./],
        ['rules import a --limit 3', /^Unknown flag --limit\./],
        ['rules rollback x', /^VERSION must be a whole number, not x\./],
        ['rules rollback', /^Missing: VERSION\./],
        ['rules history --limit x', /^--limit must be a whole number, not x\./],
        ['rules frobnicate', /^There is no command "rules frobnicate"\./],
        ['rules history', /^http:\/\/127\.0\.0\.1:1 cannot be reached/],
        ['alerts', /^There is no command "alerts"\. Use one of these:/],
        ['alerts add Ops --shape webhook', /^Missing: --url\. Usage: alerts add NAME /],
        ['alerts set C --quiet 22:00 --time-zone UTC', /^--quiet is HH:MM-HH:MM, or off\.$/],
        ['alerts set C --quiet 22:00-07:00', /^Quiet hours need --time-zone, such as Europe\/Berlin\.$/],
        ['alerts set C --enabled yes', /^--enabled is on or off\.$/],
        ['alerts list --limit x', /^--limit must be a whole number, not x\.$/],
        ['alerts test', /^Missing: CHANNEL\./],
        ['alerts channels', /^http:\/\/127\.0\.0\.1:1 cannot be reached/],
        ['attack', /^There is no command "attack"\. Use one of these:/],
        ['attack on --minutes soon', /^--minutes must be a whole number, not soon\.$/],
        ['attack trigger', /^Missing: enforce\|alert\|off\./],
        ['attack status', /^http:\/\/127\.0\.0\.1:1 cannot be reached/],
        ['lists replace offices /no/such/file', /^\/no\/such\/file cannot be read\. Check the path\. .*ENOENT/],
      ],
      async ([line, message]) => {
        const { exitCode, output, errors } = await gatehouse(line.split(' '), { state: dir });
        expect([exitCode, output, errors]).toEqual([1, '', expect.stringMatching(message)]);
        expect(errors).not.toContain('    at ');
      },
    ));
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
  test('is named in one sentence, whatever it returns', () =>
    expectRows(answers, async ([, status, headers, body, says]) => {
      const server = createServer((__, response) => response.writeHead(status, headers).end(body));
      await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      try {
        const { exitCode, errors } = await gatehouse(['rules', 'history', '--service', url], {
          env: { GATEHOUSE_API_KEY: 'key' },
        });
        const start = `${url} does not respond as a Gatehouse service. Check the URL. `;
        expect([exitCode, errors.startsWith(start)]).toEqual([1, true]);
        expect(errors).toContain(says);
        expect(errors.length).toBeLessThan(300);
      } finally {
        server.close();
      }
    }));
});
