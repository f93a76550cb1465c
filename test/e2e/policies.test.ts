/** Policies from the command line to the running edge, and what the command line says of mistakes. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { browse } from '../support/browse.ts';
import { gatehouse } from '../support/gatehouse.ts';
import { eventually, useStack } from '../support/stack.ts';

const stack = useStack();
const dir = mkdtempSync(join(tmpdir(), 'gatehouse-policies-'));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

/** As people see it. */
async function policies(...words: string[]): Promise<string> {
  const { exitCode, output, errors } = await gatehouse(['policies', '--text', ...words], { state: stack().stateDir });
  expect(exitCode, errors).toBe(0);
  return output;
}

async function mistake(...words: string[]): Promise<string> {
  const { exitCode, output, errors } = await gatehouse(['policies', '--text', ...words], { state: stack().stateDir });
  expect(exitCode, output).toBe(1);
  return errors + output;
}

function file(name: string, content: string | object): string {
  const path = join(dir, name);
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
}

async function visit(path: string, headers: Record<string, string> = {}): Promise<string> {
  const response = await browse(`${stack().edgeUrl}${path}`, { headers });
  await response.arrayBuffer();
  return `${response.status} ${response.headers.get('x-protect-decision')}`;
}

test('a policy is in force at the edge soon after it is added, and gone after a rollback', async () => {
  const when = 'path startsWith "/robots" and header["x-partner"] equals "red"';
  expect(await policies('add', 'red', '--when', when, '--then', 'block', '--note', 'first')).toContain(
    '+ policy red added\nThis is version 1.',
  );
  await eventually(
    () => visit('/robots.txt', { 'x-partner': 'red' }),
    (seen) => seen === '403 block',
  );
  expect(await visit('/robots.txt', { 'x-partner': 'blue' })).toBe('200 allow');
  expect(await policies('list')).toBe(`Version 1:\n1. red: block\n   ${when}`);
  expect(await policies('update', 'red', '--mode', 'monitor', '--then', 'challenge 2', '--dry-run')).toContain(
    'a dry run',
  );
  expect(await policies('update', 'red', '--mode', 'monitor', '--then', 'challenge 2')).toContain('version 2');
  expect(await policies('list')).toContain('1. red: challenge 2 (monitor)');
  expect(await policies('diff', '1')).toBe('~ policy red changed');
  await policies('rollback', '0');
  await eventually(
    () => visit('/robots.txt', { 'x-partner': 'red' }),
    (seen) => seen === '200 allow',
  );
  expect(await policies('list')).toBe('Version 3 has no policies.');
  expect(JSON.parse(await policies('history', '--json')).versions).toHaveLength(3);
});

test('a set is tried on a request and on the log before it is set', async () => {
  const set = file('set.json', {
    policies: [
      { name: 'api', when: 'path startsWith "/api" and not cookie["sid"] exists', then: { action: 'block' } },
      { name: 'posts', when: 'method equals "POST"', then: { action: 'redirect', location: '/closed' } },
    ],
  });
  const request = file('request.txt', 'POST /api/x?y=1 HTTP/1.1\r\nHost: shop.example\r\nCookie: sid=1\r\n\r\nbody');
  const { result } = JSON.parse(await policies('test', request, '--policies', set, '--json'));
  expect(result).toMatchObject({ verdict: null, redirect: { policy: 'posts', location: '/closed', status: 302 } });
  const without = JSON.parse(await policies('test', 'https://shop.example/api', '--policies', set, '--json'));
  expect(without.result.verdict).toMatchObject({ policy: 'api', action: 'block' });
  expect(JSON.parse(await policies('preview', set, '--json'))).toMatchObject({
    complete: true,
    differences: { limits: [] },
  });
  expect(await policies('set', set, '--dry-run')).toContain('+ policy api added');
  expect(await policies('set', set, '--yes')).toContain('+ policy posts added');
  expect(await policies('move', 'posts', '--before', 'api')).toContain('moved from place');
  expect(JSON.parse(await policies('show', 'posts', '--json'))).toMatchObject({
    then: { status: 302 },
    text: 'method equals "POST"',
  });
  expect(await policies('remove', 'api')).toContain('- policy api removed');
  await policies('set', file('none.json', []), '--yes');
});

test('limits are tried on the log before they are set', async () => {
  await visit('/robots.txt');
  const policy = { name: 'all', when: 'path startsWith "/"', then: { action: 'limit', limit: 'strict' } };
  const limit = { name: 'strict', key: ['user'], count: 1, windowSeconds: 60, on: 'loginFailed' };
  const set = file('limits.json', {
    policies: [policy],
    limits: [{ ...limit, loginFailed: { status: [401], usernameField: 'email' } }],
  });
  const state = stack().stateDir;
  const { output, errors } = await gatehouse(['limits', 'preview', '--policies', set, '--text'], { state });
  expect(errors).toBe('');
  expect(output).toMatch(/^All \d+ requests since .*: 0 would have been above an enforced limit\.\nstrict: 0 of \d+ /);
  expect(output).toContain('The log does not hold: user.');
  const mistaken = await gatehouse(['limits', 'previw'], { state });
  expect(mistaken).toMatchObject({ exitCode: 1, errors: expect.stringContaining('limits preview [--policies FILE]') });
});

test('an import reports on each rule, and takes them when asked', async () => {
  const rules = file('rules.txt', 'http.host eq "a.example"\nssl\nhttp.user_agent contains "Bot"\n');
  const report = await policies('import', rules, '--format', 'cloudflare');
  expect(report).toContain(
    'line 1: http.host eq "a.example"\n  line-1: challenge (monitor) where host equals "a.example"',
  );
  expect(report).toContain('line 2: ssl\n  not taken: ssl has no counterpart: a policy does not know the scheme');
  expect(report).toContain('differs: user agents are compared without regard to letter case');
  expect(report).toContain('1 taken, 1 taken with a difference, 1 not taken. Nothing was changed.');
  expect(await policies('list')).toContain('has no policies');
  expect(await policies('import', rules, '--format', 'cloudflare', '--apply')).toContain('This is version');
  const anubis = file('anubis.yaml', 'bots:\n  - name: A\n    path_regex: ^/a$\n    action: DENY\n');
  await policies('import', anubis, '--format', 'anubis', '--apply', '--place', 'replace', '--mode', 'enforce');
  expect(await policies('list')).toContain('1. a: block\n   path equals "/a"');
  await policies('set', file('none.json', []), '--yes');
});

test('a mistake is pointed at before anything is sent, or named as the service names it', async () => {
  const pointed = await mistake('add', 'x', '--when', 'path startsWith "/a" and\n  cookie exists', '--then', 'block');
  expect(pointed).toBe(
    'The condition is not valid: expected ["name"] of the cookie, found "exists"\n\nline 2\n    cookie exists\n           ^',
  );
  const set = file('bad.json', { policies: [{ name: 'one', when: 'path equals 7', then: { action: 'block' } }] });
  expect(await mistake('set', set)).toContain('The condition of the policy "one" is not valid: must be a text');
  expect(await mistake('add', 'x', '--when', 'path exists', '--then', 'drop')).toContain(
    '"drop" is no action. Use one of:',
  );
  expect(await mistake('add', 'x', '--when', 'path exists', '--then', 'block 2')).toContain('is no action');
  expect(await mistake('add', 'X Y', '--when', 'path exists', '--then', 'block')).toContain(
    'policy.name: must have 1 to 48',
  );
  expect(await mistake('remove', 'none')).toContain('There is no policy named "none"');
  expect(await mistake('set', file('none.json', []), '--yes', '--if-version', '1')).toContain('409');
  expect(await mistake('set', join(dir, 'missing.json'))).toContain('missing.json cannot be read');
  expect(await mistake('set', file('page.html', '<html>'))).toContain('is no JSON of a policy set');
  expect(await mistake('test', file('nothing.txt', 'nothing'))).toContain('begins with a line');
  expect(await mistake('import', file('empty.txt', '#\n'), '--format', 'cloudflare')).toContain('has no expression');
  expect(await mistake('import', file('ssl.txt', 'ssl'), '--format', 'cloudflare')).toContain('Nothing was changed.');
  expect(await mistake('frobnicate')).toContain('policies list');
  expect(await mistake('check', '{"and":[]}')).toContain('and must not be empty');
});
